package zed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// FuzzUsage makes a thread from bytes: each is a request of some tokens, or begins the next prompt. The sum includes the requests from one of
// them on, and in a thread that began early those up to another. Whatever counts must include the sum, and never be more than what was spent.
func FuzzUsage(f *testing.F) {
	f.Add([]byte{10, 20, 0, 30, 0, 5, 6, 7}, 3, -1)
	f.Add([]byte{10, 0, 10, 0, 10}, 0, -1)
	f.Add([]byte{45, 0, 10, 0, 30, 0, 60}, 100, 1)
	f.Add([]byte{45, 0, 10, 0, 30, 0, 60}, 6, 1)
	f.Fuzz(func(t *testing.T, requests []byte, from, to int) {
		started := "2026-07-01"
		if to > 0 {
			started = "2025-07-01"
		}
		var spent, sum int64
		last := map[string]int64{}
		var messages, stated []string
		prompt := "p0"
		for i, n := range requests {
			if n == 0 || len(messages) == 0 {
				prompt = fmt.Sprint("p", i)
				messages = append(messages, fmt.Sprintf(`{"User":{"id":%q,"content":[]}}`, prompt))
			}
			if n == 0 {
				continue
			}
			spent += int64(n)
			if i >= from || i < to {
				sum += int64(n)
			}
			last[prompt] = int64(n)
		}
		for prompt, n := range last {
			stated = append(stated, fmt.Sprintf(`%q:{"output_tokens":%d}`, prompt, n))
		}
		line := fmt.Sprintf(`{"table":"zed thread","id":"x","data":{"initial_project_snapshot":{"timestamp":"%sT09:00:00Z"},"messages":[%s],"cumulative_token_usage":{"output_tokens":%d},"request_token_usage":{%s}}}`,
			started, strings.Join(messages, ","), sum, strings.Join(stated, ","))
		var counted int64
		for record, err := range New().Parse(format.Input{Role: roleRows, Reader: strings.NewReader(line)}) {
			if err != nil {
				t.Fatal(err)
			}
			if u, ok := record.(*transcript.Usage); ok && u.Verdict == "" {
				counted += u.Output.N
			}
		}
		if counted < sum || counted > spent {
			t.Errorf("%s: %d count, of %d and a sum of %d", line, counted, spent, sum)
		}
	})
}
