package openai

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/transcript"
)

// conversation returns a view of events of one piece each.
func conversation(pieces ...search.Piece) *search.View {
	return &search.View{Turns: func(yield func(search.Turn, error) bool) {
		for _, p := range pieces {
			if !yield(search.Turn{Pieces: []search.Piece{p}}, nil) {
				return
			}
		}
	}}
}

func said(kind transcript.Kind, role, text string) search.Piece {
	return search.Piece{Event: index.Event{ID: "c1:1", Kind: kind, Role: role}, Text: text}
}

func TestWrite(t *testing.T) {
	call := said(transcript.KindToolCall, "", "bash\nls")
	call.Tool, call.Call = "bash", "call_1"
	call.Result = &search.Piece{Text: "bash\na.txt"}
	view := conversation(said(transcript.KindSystem, "", "be brief"), said(transcript.KindMessage, "user", "list\x1b[31m"), said(transcript.KindReasoning, "", "hm"),
		said(transcript.KindMessage, "model", "one"), said(transcript.KindMessage, "assistant", "two"), call, said(transcript.KindMessage, "assistant", "done"))
	var b strings.Builder
	w := &Writer{W: &b, LeftOut: map[transcript.Kind]int64{}, Raw: func(context.Context, index.Place) ([]byte, error) {
		return []byte(`{"function":{"name":"bash","arguments":"{ \"cmd\": \"ls\" }"}}`), nil
	}}
	want := `{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"list\u001b[31m"},` +
		`{"role":"assistant","content":"one\n\ntwo","tool_calls":[{"id":"call_1","type":"function","function":{"name":"bash","arguments":"{\"cmd\":\"ls\"}"}}]},` +
		`{"role":"tool","content":"a.txt","tool_call_id":"call_1"},{"role":"assistant","content":"done"}]}` + "\n"
	for range 2 { // the second conversation begins anew
		b.Reset()
		if err := w.Write(t.Context(), view); err != nil || b.String() != want {
			t.Errorf("%v, got\n%s\nwant\n%s", err, b.String(), want)
		}
	}
	if w.LeftOut[transcript.KindReasoning] != 2 || len(w.LeftOut) != 1 {
		t.Errorf("left out %v", w.LeftOut)
	}
	bad := said(transcript.KindMessage, "user", "")
	bad.Err = errors.New("damaged")
	if err := w.Write(t.Context(), conversation(bad)); !errors.Is(err, bad.Err) {
		t.Errorf("a text that cannot be read gives %v", err)
	}
}

func TestCallArguments(t *testing.T) {
	for _, c := range []struct{ raw, text, want string }{
		{`{"input":{"a": 1}}`, "bash\n1", `{"a":1}`},
		{`{"message":{"tool_call":{"args":{"b":2}}}}`, "2", `{"b":2}`},
		{`{"input":{"sure": true}}`, "bash", `{"sure":true}`},
		{`{"input":{}}`, "bash", `{}`},
		{`{"input":"no object"}`, "bash\nls -l", `{"input":"ls -l"}`},
		{`not JSON`, "bash\n{\"c\":3}", `{"c":3}`},
	} {
		p := &search.Piece{Event: index.Event{Tool: "bash"}, Text: c.text}
		if got := callArguments([]byte(c.raw), p); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.raw, c.text, got, c.want)
		}
	}
}
