package indextest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
)

// smallIndex returns an index of Small, in one pack.
func smallIndex(t *testing.T, open func(*testing.T) Index) Index {
	t.Helper()
	x := open(t)
	commit(t, x, Batch("p1", Small()...))
	return x
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func testRuns(t *testing.T, open func(*testing.T) Index) {
	x := smallIndex(t, open)
	names := func(of index.Selection, page index.Page) (ids []string) {
		for _, r := range all(t, x.Runs(t.Context(), of, page)) {
			ids = append(ids, r.NativeID)
		}
		return ids
	}
	where := func(n query.Node) index.Selection { return index.Selection{Query: &query.Tree{Root: n}} }
	for _, c := range []struct {
		of   index.Selection
		want string
	}{
		{index.Selection{}, "[child parent]"},
		{index.Selection{Named: true}, "[child parent lost]"},
		{index.Selection{Format: "awf", Group: "nightly"}, "[child parent]"},
		{index.Selection{Format: "leslie"}, "[]"},
		{where(query.Word{Text: "denied"}), "[parent]"},
		{where(query.Word{Text: "forgotten"}), "[]"},
		{where(field("outcome", "failed")), "[child]"},
		{where(field("project", "/SRV/shop")), "[parent]"},
		{where(field("path", "child.jsonl")), "[child]"},
		{where(field("source", "runs")), "[child parent]"},
		{where(field("role", "tool")), "[parent]"},
		{where(field("format", "awf")), "[child parent]"},
		{where(query.Field{Name: "attr", Key: "queue", Values: []query.Value{{Text: "fast"}}}), "[parent]"},
		{where(query.Field{Name: "attr", Key: "stop_reason", Values: []query.Value{{Text: "max_tokens"}}}), "[parent]"}, // of an event
		{where(field("agent", "planner")), "[parent]"},
		{where(field("agent", "coder")), "[parent]"},   // of an event
		{where(field("model", "m-large")), "[parent]"}, // of a conversation
		{where(query.Not{Of: field("model", "m-large")}), "[child]"},
		{where(field("model", "")), "[child]"},
		{where(field("model", "", "m-large")), "[child parent]"},
		{where(field("model", "", "")), "[child]"},
		{where(field("has", "cost")), "[parent]"},
		{where(query.Not{Of: field("has", "cost")}), "[child]"},
		{where(field("has", "cost", "problem")), "[child parent]"},
		{where(query.And{Of: []query.Node{query.Word{Text: "denied"}, field("role", "tool")}}), "[parent]"},
		{where(query.And{Of: []query.Node{query.Word{Text: "denied"}, field("role", "user")}}), "[]"}, // of another event
		{where(query.And{Of: []query.Node{query.Word{Text: "shop"}, field("touches", "src/health.py")}}), "[]"},
		{where(query.And{Of: []query.Node{query.Word{Text: "health"}, field("touches", "src/health.py"), query.Not{Of: field("tool", "Read")}}}), "[parent]"},
		{where(query.And{Of: []query.Node{query.Word{Text: "health"}, field("touches", "src/health.py"), query.Not{Of: field("tool", "Bash")}}}), "[]"},
		{where(query.And{Of: []query.Node{field("role", "user"), field("outcome", "failed")}}), "[child]"},
		{where(query.And{Of: []query.Node{field("outcome", "failed"), query.Not{Of: query.Word{Text: "denied"}}}}), "[child]"},
		{where(query.Range{From: Epoch.Add(1e10)}), "[child]"},
		{where(query.Not{Of: query.Word{Text: "denied"}}), "[child]"},
		{where(query.Or{Of: []query.Node{query.Word{Text: "bug"}, field("flow", "build")}}), "[child parent]"},
	} {
		equal(t, fmt.Sprint("runs ", c.of.Query.String(), c.of.Format, c.of.Group), names(c.of, index.Page{}), c.want)
	}
	elsewhere := &transcript.Usage{Run: "child", Key: "req-3", Model: "m-large", Input: transcript.Known(9), Cost: transcript.Known(5), Origin: Place(1)}
	commit(t, x, Batch("p2", Original{Source: "runs", Path: "receipts.json", Number: 1, Format: "awf", Role: "receipt", Claim: ".", Size: 300, Records: []transcript.Record{elsewhere}}))
	for _, has := range []string{"cost", "usage"} {
		equal(t, "has:"+has+", also where no event states it", names(where(field("has", has)), index.Page{}), "[child parent]")
	}
	equal(t, "the newest run", names(index.Selection{}, index.Page{Limit: 1}), "[child]")
}

func testRun(t *testing.T, open func(*testing.T) Index) {
	x := smallIndex(t, open)
	p, err := x.Run(t.Context(), "parent")
	if err != nil {
		t.Fatal(err)
	}
	n := p.Counts
	equal(t, "counts", []int64{n.Conversations, n.Events, n.Messages, n.Calls, n.Results, n.Input.N, n.Output.N, n.CacheRead.N, n.CacheCreation.N, n.ReportedCost.N},
		[]int64{1, 6, 4, 1, 1, 150, 30, 5, 8, 1235})
	equal(t, "fields", []any{p.Title, p.Group, p.Agent, p.Status, p.Outcome, p.Attributes}, []any{"Build the shop", "nightly", "planner", "success", "succeeded", `{"queue":"fast"}`})
	if r, err := x.Run(t.Context(), p.ID[:8]); err != nil || r.ID != p.ID {
		t.Errorf("by prefix: %v %v", r.ID, err)
	}
	for prefix, want := range map[string]error{"": index.ErrNotFound, "zz": index.ErrNotFound, "r": index.ErrAmbiguous} {
		if _, err := x.Run(t.Context(), prefix); !errors.Is(err, want) {
			t.Errorf("run %q: %v", prefix, err)
		}
	}
}

// seqs formats rows as seq.part.
func seqs(rows []index.Event) string {
	var s []string
	for _, e := range rows {
		s = append(s, fmt.Sprintf("%d.%d", e.Seq, e.Part))
	}
	return strings.Join(s, " ")
}

func testShow(t *testing.T, open func(*testing.T) Index) {
	x := smallIndex(t, open)
	p, err := x.Run(t.Context(), "parent")
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []string
	for _, c := range all(t, x.Conversations(t.Context(), p.ID)) {
		verdicts = append(verdicts, string(c.Verdict))
	}
	slices.Sort(verdicts)
	equal(t, "verdicts", verdicts, []string{"counted", "earlier version", "uncounted"})
	c := all(t, x.Conversations(t.Context(), p.ID))[0]
	equal(t, "versions of the conversation", c.Versions, 2)
	for _, s := range []struct {
		span index.Span
		want string
	}{
		{index.Span{}, "1.0 2.0 3.0 3.1 4.0 5.0 6.0"},
		{index.Span{From: 2, To: 3}, "2.0 3.0 3.1"},
		{index.Span{Limit: 3}, "1.0 2.0 3.0 3.1"},
		{index.Span{Limit: 4, Last: true}, "3.0 3.1 4.0 5.0 6.0"},
		{index.Span{To: 4, Limit: 2, Last: true}, "3.0 3.1 4.0"},
		{index.Span{Limit: 99, Last: true}, "1.0 2.0 3.0 3.1 4.0 5.0 6.0"},
	} {
		equal(t, fmt.Sprintf("%+v", s.span), seqs(all(t, x.Events(t.Context(), c.ID, s.span))), s.want)
	}
	if err := firstError(x.Events(t.Context(), "none", index.Span{})); !errors.Is(err, index.ErrNotFound) {
		t.Errorf("events of nothing: %v", err)
	}
	rows, err := x.Event(t.Context(), c.ID[:9]+":3.2")
	if err != nil || len(rows) != 1 {
		t.Fatalf("one part: %v %v", rows, err)
	}
	e := rows[0]
	equal(t, "the part", []any{e.ID, e.Run, e.Part, e.Parts, e.Counted, e.Verdict, e.Kind, e.Tool, e.Call, e.Time.UnixMicro, e.Place.Path, e.Place.Number, e.Place.Offset, e.Place.Role},
		[]any{c.ID + ":3.2", p.ID, 1, 2, false, transcript.Counted, "tool_call", "Bash", "t1", At(2).UnixMicro, e.Place.Path, e.Place.Number, 200, "transcript"})
	if rows, err := x.Event(t.Context(), c.ID+":3"); err != nil || len(rows) != 2 {
		t.Errorf("an event of two parts: %v %v", rows, err)
	}
	for _, id := range []string{"", c.ID, c.ID + ":99", c.ID + ":3.9", c.ID + ":x", c.ID + ":0", c.ID + ":0.1", c.ID + ":-1", "zz:1", ":1"} {
		if _, err := x.Event(t.Context(), id); !errors.Is(err, index.ErrNotFound) {
			t.Errorf("event %q: %v", id, err)
		}
	}
	testVisible(t, x, c.ID)
	for _, call := range []string{c.ID + ":3", c.ID + ":3.2"} {
		if r, err := x.Result(t.Context(), call); err != nil || r.ID != c.ID+":4" || r.Failed != transcript.Yes {
			t.Errorf("result of %s: %+v %v", call, r, err)
		}
	}
	if _, err := x.Result(t.Context(), c.ID+":1"); !errors.Is(err, index.ErrNotFound) {
		t.Errorf("result of a message: %v", err)
	}
	if place, err := x.Receipt(t.Context(), p.ID+"/build"); err != nil || place.Offset != 1100 || place.Format != "awf" {
		t.Errorf("receipt: %+v %v", place, err)
	}
	if _, err := x.Receipt(t.Context(), p.ID+"/none"); !errors.Is(err, index.ErrNotFound) {
		t.Errorf("no receipt: %v", err)
	}
}

// testVisible expects hits in uncounted rows, and in earlier versions only with AllVersions.
func testVisible(t *testing.T, x Index, conversation string) {
	for _, c := range []struct {
		node query.Node
		page index.Page
		want int
	}{
		{query.Word{Text: "input"}, index.Page{}, 1},
		{query.Word{Text: "forgotten"}, index.Page{}, 0},
		{query.Word{Text: "forgotten"}, index.Page{AllVersions: true}, 1},
		{query.Phrase{Text: "the shop"}, index.Page{}, 2},
		{query.Word{Text: "src/health.py"}, index.Page{}, 1},
		{query.Word{Text: "src"}, index.Page{}, 2},
		{query.Word{Text: "--"}, index.Page{Limit: 1}, 1},
		{field("is", "error"), index.Page{}, 1},
		{field("touches", "src/health.py"), index.Page{}, 1},
		{field("agent", "coder"), index.Page{}, 1},
		{field("id", conversation), index.Page{}, 7},
		{field("id", conversation+":3"), index.Page{}, 2},
		{field("id", strings.ToUpper(conversation)+":3"), index.Page{}, 2},
		{field("conversation", strings.ToUpper(conversation)), index.Page{}, 7},
		{field("has", "usage"), index.Page{}, 2},
		{query.Field{Name: "attr", Key: "stop_reason"}, index.Page{}, 1},
		{query.Field{Name: "attr", Key: `od"d'`, Values: []query.Value{{Text: "x"}}}, index.Page{}, 0},
	} {
		if hits := all(t, x.Find(t.Context(), &query.Tree{Root: c.node}, c.page)); len(hits) != c.want {
			t.Errorf("%v %+v: %d hits, want %d", c.node, c.page, len(hits), c.want)
		}
	}
	var unsupported *index.UnsupportedError
	if err := firstError(x.Find(t.Context(), &query.Tree{Root: query.Regex{Expr: "x"}}, index.Page{})); !errors.As(err, &unsupported) {
		t.Errorf("a regular expression: %v", err)
	}
}
