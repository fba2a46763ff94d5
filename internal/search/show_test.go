package search

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// worker is a run whose tool calls run beside each other and end in another order.
func worker() indextest.Original {
	o := talk("worker")
	n := 0
	add := func(kind transcript.Kind, parts ...transcript.Part) {
		o.Records = append(o.Records, &transcript.Event{Run: "worker", Kind: kind, Role: "assistant", Time: indextest.At(int64(n)),
			Origin: indextest.Place(n), Parts: parts})
		n++
	}
	call := func(id, name, text string) transcript.Part {
		return transcript.Part{Kind: transcript.KindToolCall, Text: text, Call: &transcript.Call{ID: id, Name: name}}
	}
	result := func(id, name, text string) transcript.Part {
		return transcript.Part{Kind: transcript.KindToolResult, Text: text, Result: &transcript.Result{Call: id, Name: name}}
	}
	add(transcript.KindMessage, transcript.Part{Text: "go"})
	add(transcript.KindMessage, transcript.Part{Text: "two at once"}, call("a", "Bash", "ls"), call("b", "Read", "x.go"))
	add(transcript.KindToolResult, result("b", "Read", "package x"))
	add(transcript.KindToolResult, result("a", "Bash", "file list"), transcript.Part{Text: "note"})
	add(transcript.KindToolCall, call("c", "Bash", "sleep"))
	add(transcript.KindMessage, transcript.Part{Text: "the end"})
	o.Size = 2000
	return o
}

func shown(t *testing.T, v *View) string {
	t.Helper()
	var b strings.Builder
	for turn, err := range v.Turns {
		if err != nil {
			t.Fatal(err)
		}
		if turn.Marked {
			b.WriteString("*")
		}
		for i, p := range turn.Pieces {
			if i > 0 {
				b.WriteString(" + ")
			}
			b.WriteString(p.Text)
			if p.Marked && !turn.Marked {
				b.WriteString("!")
			}
			if p.Result != nil {
				fmt.Fprintf(&b, "(%s)", p.Result.Text)
			}
		}
		b.WriteString("|")
	}
	return b.String()
}

func TestConversation(t *testing.T) {
	w := newWorld(t)
	w.take(worker())
	s := w.searcher()
	id := w.rows[0].id[:strings.IndexByte(w.rows[0].id, ':')]
	v, err := s.Conversation(t.Context(), id, ShowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shown(t, v), "go|two at once + ls(file list) + x.go(package x)|note|sleep|the end|"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if v, err = s.Conversation(t.Context(), id, ShowOptions{Limit: 1}); err != nil || shown(t, v) != "go|" {
		t.Errorf("one event: %v", err)
	}
	for _, c := range []struct {
		id   string
		o    ShowOptions
		want string
	}{
		{id + ":6", ShowOptions{Before: 1}, "sleep|*the end|"},
		{id + ":2", ShowOptions{Before: 5, After: 1}, "go|*two at once + ls + x.go(package x)|"},
		{id + ":2.3", ShowOptions{After: 2}, "two at once + ls(file list) + x.go!(package x)|note|"},
		{id + ":1", ShowOptions{After: 1}, "*go|two at once + ls + x.go|"},
	} {
		v, err := s.Event(t.Context(), c.id, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(t, v); got != c.want {
			t.Errorf("%s: got  %s\nwant %s", c.id, got, c.want)
		}
	}
	if _, err := s.Event(t.Context(), id+":99", ShowOptions{}); !errors.Is(err, index.ErrNotFound) {
		t.Errorf("an event that there is not: %v", err)
	}
}

func TestLongConversation(t *testing.T) {
	w := newWorld(t)
	o := talk("long")
	for i := range 3 * pairWindow {
		part := transcript.Part{Text: fmt.Sprint(i)}
		if i == 0 { // a call that nothing answers
			part.Kind, part.Call = transcript.KindToolCall, &transcript.Call{ID: "x", Name: "Bash"}
		}
		o.Records = append(o.Records, &transcript.Event{Run: "long", Kind: transcript.KindMessage, Time: indextest.At(int64(i)),
			Origin: indextest.Place(i), Parts: []transcript.Part{part}})
	}
	o.Size = 100_000
	w.take(o)
	v, err := w.searcher().Conversation(t.Context(), w.rows[0].id[:8], ShowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for turn, err := range v.Turns {
		if err != nil || turn.Pieces[0].Text != fmt.Sprint(n) {
			t.Fatalf("%d: %+v %v", n, turn, err)
		}
		n++
	}
	if n != 3*pairWindow {
		t.Errorf("%d turns", n)
	}
}

func TestTimeline(t *testing.T) {
	w := newWorld(t)
	var originals []indextest.Original
	for i := range 3 {
		o := talk(fmt.Sprint("part", i))
		o.Records = []transcript.Record{&transcript.Run{ID: "run"}, &transcript.Conversation{Run: "run", ID: fmt.Sprint("c", i)}}
		for n := range 100 {
			o.Records = append(o.Records, &transcript.Event{Run: "run", Conversation: fmt.Sprint("c", i), Kind: transcript.KindMessage,
				Time: indextest.At(int64(n*3 + i)), Origin: indextest.Place(n), Parts: []transcript.Part{{Text: fmt.Sprint(n*3 + i)}}})
		}
		o.Size = 20_000
		originals = append(originals, o)
	}
	w.take(originals...)
	line, err := w.searcher().Timeline(t.Context(), "run", ShowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for p, err := range line.Rows {
		if err != nil || p.Text != fmt.Sprint(n) {
			t.Fatalf("%d: %+v %v", n, p, err)
		}
		n++
	}
	if n != 300 || len(line.Conversations) != 3 {
		t.Errorf("%d rows of %d conversations", n, len(line.Conversations))
	}
	var ids []string
	rows := func(o ShowOptions) string {
		line, err := w.searcher().Timeline(t.Context(), "run", o)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		ids = nil
		for p, err := range line.Rows {
			if err != nil {
				return err.Error()
			}
			if p.Marked {
				p.Text = ">" + p.Text
			}
			texts, ids = append(texts, p.Text), append(ids, p.ID)
		}
		return strings.Join(texts, " ")
	}
	if got := rows(ShowOptions{Limit: 3}); got != "0 1 2" {
		t.Errorf("first 3: %s", got)
	}
	if got := rows(ShowOptions{Limit: 3, Last: true}); got != "297 298 299" {
		t.Errorf("last 3: %s", got)
	}
	mark := ids[1]
	for _, c := range []struct {
		o    ShowOptions
		want string
	}{
		{ShowOptions{Before: 2, After: 1}, "296 297 >298 299"},
		{ShowOptions{}, ">298"},
		{ShowOptions{After: 9}, ">298 299"},
	} {
		c.o.Around = mark
		if got := rows(c.o); got != c.want {
			t.Errorf("around %+v: %s, want %s", c.o, got, c.want)
		}
	}
	if got := rows(ShowOptions{Around: "cnothere:1"}); got != index.ErrNotFound.Error() {
		t.Errorf("around nothing: %s", got)
	}
}

// family is runs that lead to each other: a to b and c, both to d, d back to a, and b to one that never came.
func family() []indextest.Original {
	var out []indextest.Original
	for _, run := range []string{"a", "b", "c", "d"} {
		o := talk(run, "hello from "+run)
		o.Records = append(o.Records, &transcript.Usage{Run: run, Origin: indextest.Place(50), Time: indextest.At(1), Input: transcript.Known(10), Output: transcript.Known(1)})
		for i, to := range map[string][]string{"a": {"b", "c"}, "b": {"d", "never"}, "c": {"d"}, "d": {"a"}}[run] {
			o.Records = append(o.Records, &transcript.Link{Kind: "parent", From: transcript.End{Type: "run", ID: run}, To: transcript.End{Type: "run", ID: to},
				Time: indextest.At(int64(i)), Origin: indextest.Place(60 + i)})
		}
		// A sub-agent's conversation in the same run makes no run.
		o.Records = append(o.Records, &transcript.Conversation{ID: "sub", Run: run}, &transcript.Link{
			Kind: "parent", From: transcript.End{Type: "conversation", ID: run}, To: transcript.End{Type: "conversation", ID: run, Conversation: "sub"}, Origin: indextest.Place(70),
		})
		o.Size = 10_000
		out = append(out, o)
	}
	return out
}

func TestTree(t *testing.T) {
	w := newWorld(t)
	w.take(family()...)
	root, err := w.searcher().Tree(t.Context(), "a", TreeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var print func(n *Node)
	print = func(n *Node) {
		fmt.Fprintf(&b, "%s[%d %d", n.NativeID, n.Own.Input.N, n.All.Input.N)
		if n.Seen {
			b.WriteString(" seen")
		}
		if !n.Found {
			b.WriteString(" missing")
		}
		for _, c := range n.Children {
			b.WriteString(" ")
			print(c)
		}
		b.WriteString("]")
	}
	print(root)
	if got, want := b.String(), "a[10 40 b[10 20 d[10 10 a[0 0 seen]] never[0 0 missing]] c[10 20 d[0 0 seen]]]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if root.All.Runs != 4 || root.All.Cost.Known {
		t.Errorf("%+v", root.All)
	}
	if top, err := w.searcher().Tree(t.Context(), "c", TreeOptions{Up: true}); err != nil || top.NativeID == "c" {
		t.Errorf("%v %v", top, err)
	}
}
