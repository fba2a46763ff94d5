package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// order returns the ids of the rows that a question holds, as Find yields them.
func (w *world) order(holds func(*row) truth, sort Sort) []string {
	var rows []index.Event
	for i := range w.rows {
		if r := &w.rows[i]; !r.hidden && holds(r) == yes {
			conversation, _, _ := strings.Cut(r.id, ":")
			rows = append(rows, index.Event{ID: r.id, Near: r.at, Conversation: conversation, Seq: r.seq, Part: r.part})
		}
	}
	slices.SortFunc(rows, func(a, b index.Event) int { return index.Compare(&a, &b) })
	if sort == Oldest {
		slices.Reverse(rows)
	}
	out := []string{}
	for _, r := range rows {
		out = append(out, r.ID)
	}
	return out
}

func TestOrdersAndPages(t *testing.T) {
	s := scribe{seedtest.Rand(t)}
	w := newWorld(t)
	for i := range 4 {
		w.take(s.original(fmt.Sprintf("run-%d", i), 50))
	}
	for range 4 {
		q := s.definite(w.rows)
		for _, sort := range []Sort{Newest, Oldest} {
			want := w.order(q.holds, sort)
			got, c := find(t, w.searcher(), q.text, Options{Sort: sort, NoSnippets: true})
			if !slices.Equal(ids(got), want) {
				t.Fatalf("%s %s: %d hits, want %d\n%v\n%v", q.text, sort, len(got), len(want), ids(got), want)
			}
			if !c.Complete || c.More || c.Next != nil || c.Partial != nil || c.Shown != len(want) {
				t.Fatalf("%s %s: %+v", q.text, sort, c)
			}
			for _, limit := range []int{0, 1, 3} {
				if files, want := w.files(q.text, Options{Sort: sort, Limit: limit}), filesOf(got); !slices.Equal(files, want) {
					t.Fatalf("%s %s is in the files %v, want %v, %d a page", q.text, sort, files, want, limit)
				}
			}
			if paged := w.pages(q.text, Options{Sort: sort, NoSnippets: true, Limit: 1 + s.IntN(40)}, nil); !slices.Equal(paged, want) {
				t.Fatalf("%s %s by pages: %d hits, want %d", q.text, sort, len(paged), len(want))
			}
		}
		all, _ := find(t, w.searcher(), q.text, Options{Sort: Relevance, NoSnippets: true, Window: 10_000})
		paged := w.pages(q.text, Options{Sort: Relevance, NoSnippets: true, Limit: 1 + s.IntN(40), Window: 10_000}, nil)
		if !slices.Equal(ids(all), paged) || len(all) != len(w.order(q.holds, Newest)) {
			t.Fatalf("%s by relevance: %d hits, %d by pages", q.text, len(all), len(paged))
		}
	}
}

// files are the originals that have hits, in the order of their first ones, page by page.
func (w *world) files(text string, o Options) (all []File) {
	w.t.Helper()
	for more := true; more; {
		a, err := w.searcher().Find(w.t.Context(), text, o)
		if err != nil {
			w.t.Fatal(err)
		}
		page := 0
		for f, err := range a.Files() {
			if err != nil {
				w.t.Fatal(err)
			}
			if page++; !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
		c, err := a.Coverage(w.t.Context())
		if err != nil || c.More && page != o.Limit || o.Limit > 0 && page > o.Limit || c.More && *c.Next == o.After {
			w.t.Fatalf("%s: %d files of %d, %+v, %v", text, page, o.Limit, c, err)
		}
		if more = c.More; more {
			o.After = *c.Next
		}
	}
	return all
}

func filesOf(results []Result) (all []File) {
	for _, r := range results {
		if f := (File{r.Place.Source, r.Place.Path, r.Place.Number}); !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}

// pages walks through an answer page by page, and calls between after each.
func (w *world) pages(text string, o Options, between func()) []string {
	w.t.Helper()
	out := []string{}
	for {
		results, c := find(w.t, w.searcher(), text, o)
		out = append(out, ids(results)...)
		if !c.More {
			return out
		}
		if c.Next == nil || *c.Next == o.After {
			w.t.Fatalf("%s: no way on: %+v", text, c)
		}
		o.After = *c.Next
		if between != nil {
			between()
		}
	}
}

// TestPagesWhileIngesting adds rows of all times between pages: what was there is neither repeated nor skipped.
func TestPagesWhileIngesting(t *testing.T) {
	s := scribe{rand.New(rand.NewPCG(5, 5))}
	for _, sort := range []Sort{Newest, Oldest, Relevance} {
		for _, text := range []string{"error", "*rro*", `error OR *ime*`} {
			w := newWorld(t)
			for i := range 3 {
				w.take(s.original(fmt.Sprintf("run-%d", i), 50))
			}
			was, _ := find(t, w.searcher(), text, Options{Sort: sort, NoSnippets: true})
			n := 0
			got := w.pages(text, Options{Sort: sort, NoSnippets: true, Limit: 7}, func() {
				if n++; n < 6 {
					w.take(s.original(fmt.Sprintf("late-%d", n), 20))
				}
			})
			seen := map[string]int{}
			for _, id := range got {
				if seen[id]++; seen[id] > 1 {
					t.Errorf("%s %s: %s twice", text, sort, id)
				}
			}
			for _, r := range was {
				if seen[r.ID] == 0 {
					t.Errorf("%s %s: %s is skipped", text, sort, r.ID)
				}
			}
		}
	}
}

func TestBudget(t *testing.T) {
	w := newWorld(t)
	var texts []string
	for i := range 200 {
		texts = append(texts, fmt.Sprintf("-- %s line %d ++", strings.Repeat("padding ", 20), i))
	}
	w.take(talk("many", texts...))
	s := w.searcher()
	results, c := find(t, s, `/\d[78]\s/`, Options{Budget: 3000, NoSnippets: true})
	if c.Partial == nil || c.Complete || !c.More || c.Next == nil || c.Checked > 20 {
		t.Fatalf("%d results, %+v", len(results), c)
	}
	got := w.pages(`/\d[78]\s/`, Options{Budget: 3000, NoSnippets: true}, nil)
	all, c := find(t, s, `/\d[78]\s/`, Options{NoSnippets: true})
	if !slices.Equal(got, ids(all)) || len(all) != 38 || !c.Complete {
		t.Errorf("%d by pages, %d at once, %+v", len(got), len(all), c)
	}
}

func TestStops(t *testing.T) {
	w := newWorld(t)
	w.take(talk("one", "some text", "other text"))
	slow := w.searcher()
	slow.Texts = textsFunc(func(ctx context.Context, p index.Place, part int) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	results, c := find(t, slow, "text", Options{Timeout: 20 * time.Millisecond})
	if len(results) != 0 || c.Partial == nil || !c.More || c.Complete {
		t.Errorf("%d results, %+v", len(results), c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	a, err := slow.Find(ctx, "text", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range a.Results() {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a context that ended gives %v", err)
		}
	}
}

type textsFunc func(context.Context, index.Place, int) (string, error)

func (f textsFunc) Text(ctx context.Context, p index.Place, part int) (string, error) {
	return f(ctx, p, part)
}

func (f textsFunc) Placed(context.Context, []index.Place) func(context.Context, index.Place, int) (string, error) {
	return f
}

func TestErrors(t *testing.T) {
	w := newWorld(t)
	s := w.searcher()
	_, err := s.Find(t.Context(), "rol:user", Options{})
	if _, ok := errors.AsType[*query.SyntaxError](err); !ok {
		t.Errorf("a slip gives %v", err)
	}
	many := strings.Repeat("(*ab* OR *cd* OR *ef*) ", 5)
	for _, c := range []struct {
		text string
		o    Options
	}{{many, Options{}}, {"x", Options{Sort: "best"}}, {"x", Options{Sort: Oldest, After: "12/3/x"}}, {"x", Options{After: "oldest:1:c:1"}},
		{"x", Options{Sort: Relevance, After: "relevance:1:zz:1:c:1"}}, {"x", Options{Sort: Oldest, After: "oldest:1:c:x"}}} {
		_, err := s.Find(t.Context(), c.text, c.o)
		if _, ok := errors.AsType[*index.UnsupportedError](err); !ok {
			t.Errorf("%.20q %+v: %v", c.text, c.o, err)
		}
	}
}

// TestCommonSubstring has more terms with a substring than the index is asked for.
func TestCommonSubstring(t *testing.T) {
	for _, n := range []int{maxTerms - 10, maxTerms + 100} {
		w := newWorld(t)
		var texts []string
		for i := range n {
			texts = append(texts, fmt.Sprintf("q%dneedle%d", i*7919, i))
		}
		w.take(talk("many", texts...))
		got, c := find(t, w.searcher(), "*needle*", Options{NoSnippets: true})
		if len(got) != n || !c.Complete {
			t.Errorf("%d hits, want %d: %+v", len(got), n, c)
		}
		got, _ = find(t, w.searcher(), "/needle1/", Options{NoSnippets: true, Limit: 5})
		if len(got) != 5 {
			t.Errorf("%d hits of a page of 5", len(got))
		}
	}
}

func TestResult(t *testing.T) {
	w := newWorld(t)
	w.take(talk("one", "zero", "before", "the needle is here", "after", "more", "unreadable needle"))
	w.fail[textKey("one.jsonl", 1, 500, 0)] = errors.New("pack is damaged")
	results, c := find(t, w.searcher(), "needle", Options{Context: 1})
	if len(results) != 2 || c.Unreadable != 1 || results[0].Snippet.Err == nil {
		t.Fatalf("%+v\n%+v", results, c)
	}
	r := results[1]
	s := r.Snippet
	if len(s.Highlights) != 1 || s.Text[s.Highlights[0].Start:s.Highlights[0].End] != "needle" {
		t.Errorf("snippet %+v", s)
	}
	if len(r.Before) != 1 || r.Before[0].Snippet.Text != "before" || len(r.After) != 1 || r.After[0].Snippet.Text != "after" {
		t.Errorf("around: %+v %+v", r.Before, r.After)
	}
	var got map[string]any
	b, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"format": "awf", "kind": "message", "role": "user", "tool": nil, "path": "one.jsonl", "line": 3.0,
		"offset": 200.0, "length": 100.0, "snippet": "the needle is here", "title": "talk of one", "agent": "tester", "project": "/home/one",
		"at": "2026-11-20T10:02:00.000000Z", "score": nil, "version": 1.0, "event_id": r.ID, "conversation_id": r.Conversation.ID, "run_id": r.Run.ID} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s is %v (%v), want %v", key, v, ok, want)
		}
	}
	if all, _ := find(t, w.searcher(), "needle", Options{}); len(all) != 2 || all[0].Snippet.Err == nil {
		t.Errorf("without context: %+v", all)
	}
	if both, c := find(t, w.searcher(), "*needle*", Options{}); len(both) != 2 || both[0].Snippet.Err == nil || c.Partial != nil || c.Unreadable != 1 {
		t.Errorf("%d hits of a part of a word, which no text must be read for: %+v", len(both), c)
	}
	if first, c := find(t, w.searcher(), "/needle/", Options{}); len(first) != 1 || c.Partial == nil || c.Complete {
		t.Errorf("%d hits where one text could not be checked: %+v", len(first), c)
	}
}

func TestRelevance(t *testing.T) {
	w := newWorld(t)
	o := talk("one", "config config config", strings.Repeat("other words ", 300)+"config", "config once", "nothing")
	o.Records[3].(*transcript.Event).Parts[0].Kind = transcript.KindToolResult
	w.take(o)
	results, c := find(t, w.searcher(), "config", Options{Sort: Relevance})
	if len(results) != 3 || !strings.HasPrefix(results[0].Snippet.Text, "config config") || results[2].Kind != transcript.KindToolResult {
		t.Errorf("%+v", results)
	}
	if results[0].Score <= results[1].Score || c.Window != nil || !c.Complete {
		t.Errorf("%+v", c)
	}
	if _, c = find(t, w.searcher(), "config", Options{Sort: Relevance, Window: 2}); c.Window == nil || *c.Window != 2 || c.Complete || !c.More || c.Next != nil {
		t.Errorf("window: %+v", c)
	}
}

func TestFacetsAndCount(t *testing.T) {
	w := newWorld(t)
	w.take(talk("one", "word", "word", "word", "other"), talk("two", "word"))
	for _, text := range []string{"word", "*wor*"} {
		a, err := w.searcher().Find(t.Context(), text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := a.Count(t.Context()); n != 4 || err != nil {
			t.Errorf("%s: %d %v", text, n, err)
		}
		if a, err = w.searcher().Find(t.Context(), text, Options{}); err != nil {
			t.Fatal(err)
		}
		got, err := a.Facets("role", "project", "month")
		want := []Facet{{"role", "user", 3}, {"role", "assistant", 1}, {"project", "/home/one", 3}, {"project", "/home/two", 1}, {"month", "2026-11", 4}}
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("%s: %v %v", text, got, err)
		}
		if _, err := a.Facets("colour"); err == nil {
			t.Error("a facet that there is not")
		}
	}
	s := w.searcher()
	for offset, day := range map[int]string{-12: "2026-11-19", 0: "2026-11-20", 14: "2026-11-21"} {
		s.Location = time.FixedZone("", offset*60*60)
		for _, limit := range []int{0, 9} { // counted by the index, and hit by hit
			a, err := s.Find(t.Context(), "word", Options{Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := a.Facets("day"); !slices.Equal(got, []Facet{{"day", day, 4}}) || err != nil {
				t.Errorf("%+d, limit %d: %v %v", offset, limit, got, err)
			}
		}
	}
}

// TestAnyText asks what people paste: whatever it is, it is answered or refused with a reason.
func TestAnyText(t *testing.T) {
	s := scribe{seedtest.Rand(t)}
	w := newWorld(t)
	w.take(s.original("run", 20))
	const signs = "\"'*/()[]{}:;,.-+^$|\\<>=~`!?@#%&_ \t\n\x00\xff…→“”abz09ÀßЖ数が한👍\u0301\u200d"
	runes := []rune(signs)
	for range 400 {
		var b strings.Builder
		for range 1 + s.IntN(12) {
			if s.IntN(4) == 0 {
				b.WriteString([]string{"OR ", "NOT ", "AND ", "role:", "tool:*", "path:*x*", "attr:a=b", "id:", "kind:message ", "after:7d ", "is:error", "has:cost", "x y*", "cost>1", "**"}[s.IntN(15)])
			}
			b.WriteRune(runes[s.IntN(len(runes))])
		}
		a, err := w.searcher().Find(t.Context(), b.String(), Options{Limit: 5})
		if err == nil {
			for _, e := range a.Results() {
				if err = e; err != nil {
					break
				}
			}
			if err == nil {
				_, err = a.Coverage(t.Context())
			}
		}
		_, syntax := errors.AsType[*query.SyntaxError](err)
		_, unsupported := errors.AsType[*index.UnsupportedError](err)
		if err != nil && !syntax && !unsupported {
			t.Fatalf("%q: %v", b.String(), err)
		}
	}
}

// TestFacetsAgree counts by every field as the index does, and hit by hit, as under a limit.
func TestFacetsAgree(t *testing.T) {
	s := scribe{seedtest.Rand(t)}
	w := newWorld(t)
	for i := range 4 {
		w.take(s.original(fmt.Sprintf("run-%d", i), 40))
	}
	for _, text := range []string{"", "e*", "role:user", "-error", "*rro*"} {
		for _, all := range []bool{false, true} {
			var want []Facet
			for _, limit := range []int{10_000, 0} {
				a, err := w.searcher().Find(t.Context(), text, Options{AllVersions: all, Limit: limit})
				if err != nil {
					t.Fatal(err)
				}
				got, err := a.Facets(FacetFields()...)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if text == "role:user" {
					checkOwners(t, got, w.rows, all)
				}
				if !slices.Equal(got, want) || len(got) < len(FacetFields()) {
					t.Fatalf("%q: %v, want %v", text, got, want)
				}
			}
		}
	}
}

// checkOwners compares counts of what users wrote with what the naive scan says whom and what the rows belong to.
func checkOwners(t *testing.T, got []Facet, rows []row, all bool) {
	t.Helper()
	of := map[string]func(*row) string{"agent": func(r *row) string { return r.agent }, "model": func(r *row) string { return r.model },
		"flow": func(r *row) string { return r.flow }, "step": func(r *row) string { return r.step }}
	diff := map[Facet]int64{}
	for _, f := range got {
		if of[f.Field] != nil {
			diff[Facet{Field: f.Field, Value: f.Value}] += f.Hits
		}
	}
	for i := range rows {
		if r := &rows[i]; r.role == "user" && (all || !r.hidden) {
			for field, value := range of {
				diff[Facet{Field: field, Value: value(r)}]--
			}
		}
	}
	for f, n := range diff {
		if n != 0 {
			t.Errorf("%s %q: %+d hits", f.Field, f.Value, n)
		}
	}
}

// TestLongValues asks for tools whose names differ only behind what the full-text index has of them.
func TestLongValues(t *testing.T) {
	w := newWorld(t)
	o := talk("one", "list", "list", "list")
	long := "mcp__" + strings.Repeat("server_", 7)
	for i, tool := range []string{long + "list_issues", long + "list_pulls", "Bash"} {
		e := o.Records[i+2].(*transcript.Event)
		e.Parts[0].Kind, e.Parts[0].Call = transcript.KindToolCall, &transcript.Call{ID: tool, Name: tool}
	}
	w.take(o)
	for text, want := range map[string]int{
		"tool:" + long + "list_issues": 1, "tool:" + long + "LIST_pulls": 1, "tool:" + long + "list_tags": 0,
		"tool:" + long + "list_*": 2, "tool:" + long + "list_i*": 1, "tool:" + long + "*": 2,
		"-tool:" + long + "list_issues": 2, "NOT (tool:" + long + "list_i* OR tool:Bash)": 1,
		"tool:" + long + "list_issues,bash": 2, "tool:" + long + `list_issues,""`: 1, "list tool:" + long + "list_issues": 1,
		"-path:" + long + long: 3, "-project:" + long + long: 3, "-role:" + long + long: 3,
	} {
		if got, _ := find(t, w.searcher(), text, Options{}); len(got) != want {
			t.Errorf("%s: %d hits, want %d", text, len(got), want)
		}
	}
}
