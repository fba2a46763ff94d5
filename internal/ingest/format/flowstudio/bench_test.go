package flowstudio

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// BenchmarkTranscript reads calls with short and with long outputs.
func BenchmarkTranscript(b *testing.B) {
	for _, size := range []int{100, 10_000} {
		var text bytes.Buffer
		for i := range 2_000_000 / (size + 300) {
			fmt.Fprintf(&text, `{"type": "tool_use", "tool": "Grep", "id": "t%d", "input": {"pattern": "TODO", "path": "src"}, "timestamp": "2026-11-20T10:00:00.5+00:00Z"}`+"\n", i)
			fmt.Fprintf(&text, `{"type": "tool_result", "tool": "Grep", "tool_use_id": "t%d", "success": true, "output": "%s", "timestamp": "2026-11-20T10:00:00.5+00:00Z"}`+"\n",
				i, strings.Repeat(`line of\n`, size/9))
		}
		in := format.Input{Path: "swarm/runs/r/build/llm/a-b-c.jsonl", Root: "swarm/runs/r", Role: roleTranscript}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				in.Reader = bytes.NewReader(text.Bytes())
				for _, err := range New().Parse(in) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
