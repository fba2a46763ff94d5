package chatgpt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestLongChain reads a conversation in which each message follows the previous one, written from its end, and one whose
// nodes all have the same parent. Neither takes longer than its size justifies.
func TestLongChain(t *testing.T) {
	const n = 20000
	for name, parent := range map[string]func(int) string{
		"chain": func(i int) string { return fmt.Sprint(i - 1) }, "star": func(int) string { return "0" }, "ring": func(i int) string { return fmt.Sprint((i + 1) % n) },
	} {
		var b strings.Builder
		b.WriteString(`[{"id":"c","mapping":{`)
		for i := n - 1; i >= 0; i-- {
			fmt.Fprintf(&b, `"%d":{"parent":%q,"message":{"id":"m%d","create_time":%d,"author":{"role":"user"},"content":{"parts":["x"]},"metadata":{"branching_from_conversation_id":"d"}}}`,
				i, parent(i), i, 1772000000+i)
			if i > 0 {
				b.WriteByte(',')
			}
		}
		b.WriteString(`},"current_node":"` + fmt.Sprint(n-1) + `"}]`)
		events, last := 0, ""
		for r, err := range New().Parse(format.Input{Path: "conversations.json", Role: roleConversations, Reader: strings.NewReader(b.String())}) {
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := r.(*transcript.Event); ok {
				events++
				last = e.ID
			}
		}
		if want := fmt.Sprintf("m%d", n-1); events != n || name != "ring" && last != want {
			t.Errorf("%s: %d events, the last is %s; want %d and %s", name, events, last, n, want)
		}
	}
}
