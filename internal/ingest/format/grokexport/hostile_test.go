package grokexport

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestManySteps reads an answer of very many steps, none of which stands in its long reasoning, and one with very many cards that do not end.
// Neither takes longer than its size justifies.
func TestManySteps(t *testing.T) {
	const n = 20000
	steps := make([]string, n)
	for i := range steps {
		steps[i] = fmt.Sprintf(`{"tagged_text":{"summary":"step %d"}}`, i)
	}
	for name, c := range map[string]struct {
		trace string
		steps []string
		want  int
	}{
		"steps": {strings.Repeat("all work and no play ", 1<<18), steps, n + 2},
		"cards": {strings.Repeat(cardOpen, 1<<17), nil, 2},
		"read":  {strings.Join(strings.Fields(strings.Repeat("thought ", n)), " "), []string{`{"tagged_text":{"header":"thought thought"}}`}, 2},
	} {
		content := fmt.Sprintf(`{"conversations":[{"conversation":{"id":"c"},"responses":[{"response":{"_id":"r","sender":"assistant","message":"done","thinking_trace":%q,"steps":[%s]}}]}]}`,
			c.trace, strings.Join(c.steps, ","))
		events := 0
		for r, err := range New().Parse(format.Input{Path: "prod-grok-backend.json", Role: roleConversations, Reader: strings.NewReader(content)}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := r.(*transcript.Event); ok {
				events++
			}
		}
		if events != c.want {
			t.Errorf("%s: %d events, want %d", name, events, c.want)
		}
	}
}
