package show

import (
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
)

// TestEventHead expects who speaks to be named on a narrow terminal, rather than when.
func TestEventHead(t *testing.T) {
	for width, want := range map[int]string{
		0:  "c1:2  2026-11-20 23:51:14  assistant message",
		44: "c1:2  2026-11-20 23:51:14  assistant message",
		38: "c1:2  assistant message",
		12: "c1:2  assis…",
	} {
		if got := eventHead(width, "c1:2", "2026-11-20 23:51:14", "assistant message"); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// TestCutMarks expects the marks of a cut snippet beside its text: a line of Chinese has no space at which it could be broken.
func TestCutMarks(t *testing.T) {
	for text, want := range map[string]string{"one two": "… one two …", "数据竞争": "…数据竞争…", "数 b": "…数 b …"} {
		if got := marked(terminal.Style{}, search.Snippet{Text: text, Start: 9, Rest: 9}); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestHeadingWithoutTitle expects hits in a flow to say which flow and step it is, and others to have the name that lists give them.
func TestHeadingWithoutTitle(t *testing.T) {
	r := search.Result{Hit: index.Hit{Event: index.Event{Conversation: "c1"}}, Run: index.Run{Flow: "build"}}
	r.Place.Format = "flow-studio"
	h := hitPrinter{}
	if got, want := h.heading(&r), "c1  flow-studio  build"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Conversation.Step = "test"
	if got, want := h.heading(&r), "c1  flow-studio  build / test"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Run.Flow, r.Conversation.Step, r.Run.NativeID = "", "", "api-gateway"
	if got, want := h.heading(&r), "c1  flow-studio  api-gateway"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Run.Title = "Mend it"
	if got, want := h.heading(&r), "c1  flow-studio  Mend it"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
