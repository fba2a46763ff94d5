package search

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/query"
)

func TestCoverage(t *testing.T) {
	w := newWorld(t)
	w.take(talk("one", "timeout of the server", "timeout of the client", "timeout again", "fine"))
	s := w.searcher()
	s.Sources = func(context.Context) (func() []Source, error) {
		return func() []Source {
			return []Source{{Name: "src", State: "ok"}, {Name: "gone", State: "missing", Reason: "not mounted"}}
		}, nil
	}
	results, c := find(t, s, "timeout -> role:user before:2027", Options{Explain: true})
	if len(results) != 2 || !c.Complete || *c.Events != 4 || c.Problems == nil {
		t.Errorf("%d results, %+v", len(results), c)
	}
	if !slices.Equal(c.Terms, []string{"timeout"}) || !slices.Equal(c.Ignored, []string{"->"}) {
		t.Errorf("terms %q ignored %q", c.Terms, c.Ignored)
	}
	if len(c.Hidden) != 1 || c.Hidden[0] != (Hidden{By: "role:user", Hits: 1}) {
		t.Errorf("hidden %+v", c.Hidden)
	}
	if len(c.Sources) != 1 || c.Sources[0].Name != "gone" {
		t.Errorf("sources %+v", c.Sources)
	}
	if c.Explain == nil || len(c.Explain.Texts) != 2 || len(c.Explain.Filters) != 2 || len(c.Explain.Alternatives) != 1 {
		t.Errorf("explain %+v", c.Explain)
	}
	b, err := json.Marshal(c)
	if err != nil || !strings.Contains(string(b), `"partial":null`) || !strings.Contains(string(b), `"proposals":[]`) {
		t.Errorf("%s %v", b, err)
	}
	if _, c = find(t, s, "timeout", Options{Limit: 2}); !c.More || c.Complete || c.Next == nil || c.Shown != 2 || c.Partial != nil {
		t.Errorf("a page: %+v", c)
	}
	if _, c = find(t, s, "*meou*", Options{Explain: true}); len(c.Limits) == 0 || c.Checked != 0 || c.Explain.Texts[0].Candidates == "" {
		t.Errorf("substring: %+v %+v", c, c.Explain)
	}
	if _, c = find(t, s, "/meou/", Options{}); c.Checked != 3 {
		t.Errorf("expression: %+v", c)
	}
	if _, c = find(t, s, "timeout role:nobody", Options{}); c.Hidden[0].Hits != 3 {
		t.Errorf("hidden by %+v", c.Hidden)
	}
}

// TestHiddenByRule has an earlier version of an original and a copy of it.
func TestHiddenByRule(t *testing.T) {
	w := newWorld(t)
	first := talk("one", "old words only here", "same words")
	w.take(first)
	second := talk("one", "new words", "same words")
	second.Number = 2
	w.take(second)
	results, c := find(t, w.searcher(), "words", Options{})
	if len(results) != 2 || len(c.Hidden) != 1 || !c.Hidden[0].Rule || c.Hidden[0].Hits != 2 {
		t.Errorf("%d results, hidden %+v", len(results), c.Hidden)
	}
	if results, _ = find(t, w.searcher(), "words", Options{AllVersions: true}); len(results) != 4 {
		t.Errorf("%d results in all versions", len(results))
	}
	_, c = find(t, w.searcher(), "old", Options{})
	if c.Shown != 0 || len(c.Proposals) == 0 || c.Proposals[0].Option != "--all-versions" {
		t.Errorf("%+v", c)
	}
}

// TestSourcesAreSlow: hits do not wait for a directory that does not answer, nor does the time that it takes cost any.
func TestSourcesAreSlow(t *testing.T) {
	w := newWorld(t)
	w.take(talk("one", "old words", "same words"))
	s := w.searcher()
	asked := make(chan struct{}, 10)
	answer := make(chan struct{})
	s.Sources = func(context.Context) (func() []Source, error) {
		return func() []Source {
			asked <- struct{}{}
			<-answer
			return []Source{{Name: "gone", State: "missing"}}
		}, nil
	}
	for _, o := range []Options{{}, {Timeout: time.Minute}} {
		a, err := s.Find(t.Context(), "words", o)
		if err != nil {
			t.Fatal(err)
		}
		hits := 0
		for _, err := range a.Results() {
			if hits++; err != nil {
				t.Fatal(err)
			}
		}
		if hits != 2 || len(asked) > 0 {
			t.Errorf("%d hits, and the sources were asked for: %t", hits, len(asked) > 0)
		}
		go func() { answer <- struct{}{} }()
		c, err := a.Coverage(t.Context())
		if err != nil || len(c.Sources) != 1 || c.Events == nil || len(asked) != 1 {
			t.Errorf("%+v, %v, asked %d times", c, err, len(asked))
		}
		<-asked
	}
}

// TestHiddenAsTyped: what leaves out is named as it was typed.
func TestHiddenAsTyped(t *testing.T) {
	w := newWorld(t)
	w.take(talk("one", "words", "more words"))
	for _, by := range []string{"during:last-year", "tool:*"} {
		if _, c := find(t, w.searcher(), "words "+by, Options{}); len(c.Hidden) != 1 || c.Hidden[0].By != by {
			t.Errorf("%s: %+v", by, c.Hidden)
		}
	}
}

func TestProposals(t *testing.T) {
	w := newWorld(t)
	w.take(talk("one", "the permission was denied by the server", "数据库连接失败", "health check"))
	for _, c := range []struct{ query, want string }{
		{"permision", "permission"},
		{"helath role:user", "health role:user"},
		{`"permission denied"`, "permission denied"},
		{"permission role:assistant", "permission"},
		{"permission before:2020", "permission"},
		{"permission role:ser", "permission role:*ser*"},
		{"role:ser", "role:*ser*"},
		{"2026-11", "during:2026-11"},
		{"permission yesterday role:user", "permission role:user during:yesterday"},
		{"permission Role:user", "permission role:user"},
		{"role=user permission", "permission role:user"},
		{"role=ser", "role:*ser*"},
		{"permission after>2000", "permission after:2000"},
		{"permission (after:2000) role:nobody", "permission after:2000"},
		{"permission health denied", "permission denied"},
		{"server health check permission", "server OR health OR check OR permission"},
		{"server health check permission role:user", "role:user (server OR health OR check OR permission)"},
	} {
		_, cover := find(t, w.searcher(), c.query, Options{})
		found := slices.ContainsFunc(cover.Proposals, func(p Proposal) bool { return p.Query == c.want })
		if cover.Shown != 0 || !found {
			t.Errorf("%s: %+v", c.query, cover.Proposals)
		}
	}
}

// able is an index that tells some things of its own.
type able struct {
	*sqlite.DB
	w *world
}

func (a able) Count(ctx context.Context, q *query.Tree, page index.Page) (n int64, err error) {
	for _, err := range a.Find(ctx, q, page) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (a able) Size(context.Context, bool) (events, rows, problems int64, err error) {
	return int64(len(a.w.rows)), int64(len(a.w.rows)), 7, nil
}

func (a able) Results(ctx context.Context, conversation string, from, to int64) (map[string]string, error) {
	return map[string]string{conversation + ":2.2": conversation + ":4.1", conversation + ":5": conversation + ":3"}, nil
}

func (a able) Explain(_ context.Context, q *query.Tree, _ index.Page) ([]string, error) {
	return []string{"SCAN " + q.String()}, nil
}

func TestAbilities(t *testing.T) {
	w := newWorld(t)
	w.take(worker())
	w.take(talk("one", "go on", "go"))
	second := talk("one", "go away", "no")
	second.Number = 2
	w.take(second)
	s := w.searcher()
	s.Index = able{w.db, w}
	_, c := find(t, s, "go role:user", Options{Explain: true})
	if *c.Rows != int64(len(w.rows)) || *c.Problems != 7 || !slices.Equal(c.Explain.Engine, []string{"SCAN go role:user"}) {
		t.Errorf("%+v %+v", c, c.Explain)
	}
	for all, rows := range map[bool]int64{false: 11, true: 13} { // two are an earlier version
		if _, c := find(t, w.searcher(), "go", Options{AllVersions: all}); *c.Rows != rows {
			t.Errorf("all versions %t: %d rows searched, want %d", all, *c.Rows, rows)
		}
	}
	want := []Hidden{{By: "earlier versions and copies", Rule: true, Hits: 1}, {By: "role:user", Hits: 2}}
	if !slices.Equal(c.Hidden, want) {
		t.Errorf("hidden %+v, want %+v", c.Hidden, want)
	}
	a, err := s.Find(t.Context(), "go", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := a.Count(t.Context()); n != 3 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	v, err := s.Conversation(t.Context(), w.rows[0].id[:10], ShowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The index says that the first call has the later result, and the last call the earlier one, which cannot be.
	if got, want := shown(t, v), "go|two at once + ls(file list) + x.go|package x|note|sleep|the end|"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// slowIndex counts for as long as it is let.
type slowIndex struct{ *sqlite.DB }

func (slowIndex) Count(ctx context.Context, _ *query.Tree, _ index.Page) (int64, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestTimeoutEndsAll keeps neither a count nor the coverage going when the time is up, and the answer says so.
func TestTimeoutEndsAll(t *testing.T) {
	w := newWorld(t)
	w.take(talk("one", "some words", "more words"))
	s := w.searcher()
	s.Index = slowIndex{w.db}
	a, err := s.Find(t.Context(), "words role:user", Options{Timeout: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := a.Coverage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Partial == nil || c.Complete || !strings.Contains(*c.Partial, "stopped after 10ms") {
		t.Errorf("coverage is %+v", c)
	}
}
