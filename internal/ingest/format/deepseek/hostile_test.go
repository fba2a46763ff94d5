package deepseek

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestLongNames reads messages with very long keys and models: they still follow each other, and no event has a copy of such a name.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("k", 300)
	content := `[{"id":"c","mapping":{"` + long + `":{"message":{"fragments":[{"type":"REQUEST","content":"a"}]}},` +
		`"2":{"parent":"` + long + `","message":{"model":"` + long + `","fragments":[{"type":"RESPONSE","content":"b"}]}},` +
		`"3":{"parent":"` + long + `","message":{"fragments":[{"type":"RESPONSE","content":"c"}]}}}}]`
	var parents []any
	for r, err := range New().Parse(format.Input{Path: "conversations.json", Role: roleConversations, Reader: strings.NewReader(content)}) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.(*transcript.Event); ok {
			parents = append(parents, e.Attributes["parent"])
			if len(e.ID)+len(e.Model) >= len(long) {
				t.Errorf("an id of %d bytes, a model of %d", len(e.ID), len(e.Model))
			}
		}
	}
	if len(parents) != 3 || parents[0] != nil || parents[1] != nil || parents[2] != format.ShortID(long) {
		t.Errorf("parents %.99v", parents)
	}
}
