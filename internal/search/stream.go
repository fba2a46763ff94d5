package search

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/term"
)

// found is a hit on its way to the consumer.
type found struct {
	index.Hit
	question int    // the one that found it
	text     string // valid if read
	read     bool
	matches  bool // valid if checked: all patterns of the question match text
	checked  bool
	snippet  Snippet // of text, set when the page is read ahead
	score    float64
}

// errBudget means that no more texts may be read.
var errBudget = errors.New("budget spent")

// checker verifies patterns on texts.
type checker struct {
	s          *Searcher
	o          Options
	left       int64 // bytes of text that may still be read
	read       int64 // number of texts
	unreadable int64
	unchecked  int64     // unreadable texts that may or may not match
	folded     sync.Pool // of *[]byte, for folded texts
}

// check reads the text of a hit and reports whether all patterns match it. An unreadable text matches nothing.
func (c *checker) check(ctx context.Context, f *found, patterns []pattern) (bool, error) {
	if len(patterns) == 0 {
		return true, nil
	}
	if !f.read {
		if c.o.Budget > 0 && c.left <= 0 {
			return false, errBudget
		}
		text, err := c.s.text(ctx, &f.Event)
		if _, ok := errors.AsType[*textError](err); ok {
			c.unreadable, c.unchecked = c.unreadable+1, c.unchecked+1
			return false, nil
		}
		if err != nil {
			return false, err
		}
		f.text, f.read = text, true
	}
	c.read++
	c.left -= int64(len(f.text)) + 64
	if !f.checked {
		f.matches, f.checked = c.match(f.text, patterns), true
	}
	return f.matches, nil
}

// match reports whether all patterns match a text. It may be called by several goroutines.
func (c *checker) match(text string, patterns []pattern) bool {
	var folded []byte
	for i := range patterns {
		if patterns[i].part != nil && folded == nil {
			buf, _ := c.folded.Get().(*[]byte)
			if buf == nil {
				buf = new([]byte)
			}
			folded = term.Fold((*buf)[:0], text)
			*buf = folded
			defer c.folded.Put(buf)
		}
		if !patterns[i].matches(text, folded) {
			return false
		}
	}
	return true
}

// question is an alternative with the query for the index, including what its patterns imply.
type question struct {
	*alternative
	tree *query.Tree
}

// questions returns the queries for the index: one for each alternative that can match at all, two if some of the
// candidates need no check. Queries whose hits need no check come first.
func (a *Answer) questions(ctx context.Context, more ...query.Node) ([]question, error) {
	var out []question
	for i := range a.alternatives {
		alt := &a.alternatives[i]
		of, possible := append([]query.Node(nil), more...), true
		for _, p := range alt.check {
			if p.not {
				continue
			}
			g, err := a.candidates.prefilter(ctx, p.node)
			if err != nil {
				return nil, err
			}
			n := g.node()
			if len(alt.check) == 1 && g.exact != nil {
				out = append(out, question{&alternative{ask: alt.ask, exact: p.node}, alt.tree(append(of[:len(of):len(of)], g.exact)...)})
				n, possible = g.inexact, g.inexact != nil
			}
			if f, ok := n.(query.Field); ok && f.Name == noRows.Name {
				possible = false
			}
			of = append(of, n)
		}
		if possible {
			out = append(out, question{alt, alt.tree(of...)})
		}
	}
	slices.SortStableFunc(out, func(a, b question) int { return cmp.Compare(min(len(a.check), 1), min(len(b.check), 1)) })
	return out, nil
}

// stream yields the matches, newest first. more are additional conditions for the index.
func (a *Answer) stream(ctx context.Context, after string, more ...query.Node) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		questions, err := a.questions(ctx, more...)
		if err != nil {
			yield(found{}, err)
			return
		}
		page := index.Page{After: after, AllVersions: a.o.AllVersions}
		limit := 0 // for each question whose hits need no check
		if a.o.Limit > 0 && a.o.Sort == Newest {
			page.First, limit = true, a.o.Limit+1 // one more tells that there is more
		}
		find := a.s.Index.Find
		if a.skimmed {
			find, limit = a.s.Index.Skim, a.o.Window+1
		}
		last := ""
		for f, err := range a.readChecked(ctx, questions, merge(ctx, find, questions, page, limit)) {
			if err != nil {
				yield(found{}, err)
				return
			}
			if f.ID == last {
				continue
			}
			ok, err := a.accepted(&f), error(nil)
			if !ok {
				ok, err = a.checker.check(ctx, &f, questions[f.question].check)
			}
			if err != nil {
				yield(found{}, err)
				return
			}
			if ok {
				last = f.ID
				if !yield(f, nil) {
					return
				}
			}
			a.position = f.Cursor
		}
	}
}

// accepted reports whether a hit is accepted without checking its text.
func (a *Answer) accepted(f *found) bool { return a.accept != nil && a.accept(f) }

// How many texts are read at once to be checked, some of them in vain when the page is full: at first, and after longSearch candidates, while
// the index is asked for the next ones. Then it is an eighth of those before, which bounds what is read in vain, and about so many bytes.
const (
	aheadChecked   = 8
	longSearch     = 100
	aheadLong      = 256
	aheadLongBytes = 4 * aheadBytes
)

// readChecked reads and checks the texts that must be checked, in parallel: of one candidate at first, and of more at once the longer the search
// goes on.
func (a *Answer) readChecked(ctx context.Context, questions []question, candidates iter.Seq2[found, error]) iter.Seq2[found, error] {
	if !slices.ContainsFunc(questions, func(q question) bool { return len(q.check) > 0 }) {
		return candidates
	}
	return func(yield func(found, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var filling, reading []found
		finish, most, examined, size := func() {}, 1, 0, int64(0)
		defer func() { cancel(); finish() }()
		pass := func() bool {
			finish()
			for _, f := range reading {
				if !yield(f, nil) {
					return false
				}
			}
			reading = reading[:0]
			return true
		}
		flush := func() bool {
			if !pass() {
				return false
			}
			filling, reading = reading, filling
			finish = a.startChecking(ctx, questions, reading)
			examined, size = examined+len(reading), 0
			if examined > longSearch {
				most = min(examined/8, aheadLong)
				return true
			}
			most = min(2*most, aheadChecked)
			return pass()
		}
		for f, err := range candidates {
			if err != nil {
				if flush() && pass() {
					yield(f, err)
				}
				return
			}
			filling, size = append(filling, f), size+f.TextBytes
			if (len(filling) >= most || size >= aheadLongBytes) && !flush() {
				return
			}
		}
		if flush() {
			pass()
		}
	}
}

// startChecking begins to read and check the texts of hits that must be checked, and returns a function that takes part in it until all are.
func (a *Answer) startChecking(ctx context.Context, questions []question, hits []found) (finish func()) {
	var unread []*found
	for i := range hits {
		if len(questions[hits[i].question].check) > 0 && !a.accepted(&hits[i]) {
			unread = append(unread, &hits[i])
		}
	}
	if len(unread) < 2 || a.o.Budget > 0 && a.checker.left <= 0 {
		return func() {}
	}
	return a.s.startReading(ctx, unread, func(f *found) {
		f.matches, f.checked = a.checker.match(f.text, questions[f.question].check), true
	})
}

// findFunc is the signature of Index.Find and Index.Skim.
type findFunc func(context.Context, *query.Tree, index.Page) iter.Seq2[index.Hit, error]

// maxGathered bounds how many hits of a question are gathered before the next question is asked.
const maxGathered = 256

// merge yields the hits of several questions in their common order. Of a question whose hits need no check, at most
// limit hits are wanted (0 means all): once it has that many, hits older than the last of them are not needed from
// the other questions.
func merge(ctx context.Context, find findFunc, questions []question, page index.Page, limit int) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		var last *index.Hit
		var heads []*head
		for i, q := range questions {
			page, tree := page, q.tree
			if len(q.check) == 0 {
				page.Limit = limit
			}
			if last != nil && last.Near > earliest {
				tree = &query.Tree{Root: query.Conjunction(tree.Root, query.Range{From: time.UnixMicro(last.Near).UTC()})}
			}
			hits := find(ctx, tree, page)
			if len(questions) == 1 {
				each(hits, yield)
				return
			}
			if 0 < page.Limit && page.Limit <= maxGathered {
				all, err := gather(hits)
				if err != nil {
					yield(found{}, err)
					return
				}
				if hits = all.all; len(all) == limit {
					last = &all[limit-1]
				}
			}
			h := &head{question: i}
			var stop func()
			h.next, stop = iter.Pull2(hits)
			defer stop()
			heads = append(heads, h)
		}
		inOrder(heads, yield)
	}
}

// each yields the hits of the only question.
func each(hits iter.Seq2[index.Hit, error], yield func(found, error) bool) {
	for h, err := range hits {
		if !yield(found{Hit: h}, err) || err != nil {
			return
		}
	}
}

// hits are gathered hits that can be iterated like those of Index.Find.
type hits []index.Hit

func gather(from iter.Seq2[index.Hit, error]) (all hits, err error) {
	for h, err := range from {
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

func (h hits) all(yield func(index.Hit, error) bool) {
	for _, one := range h {
		if !yield(one, nil) {
			return
		}
	}
}

// head is the next hit of a question.
type head struct {
	hit      index.Hit
	next     func() (index.Hit, error, bool)
	question int
}

// inOrder merges the hits of questions, newest first.
func inOrder(heads []*head, yield func(found, error) bool) {
	var going []*head
	for _, h := range heads {
		hit, err, ok := h.next()
		if err != nil {
			yield(found{}, err)
			return
		}
		if h.hit = hit; ok {
			going = append(going, h)
		}
	}
	for len(going) > 0 {
		h := slices.MinFunc(going, func(a, b *head) int { return index.Compare(&a.hit.Event, &b.hit.Event) })
		if !yield(found{Hit: h.hit, question: h.question}, nil) {
			return
		}
		hit, err, ok := h.next()
		if err != nil {
			yield(found{}, err)
			return
		}
		if h.hit = hit; !ok {
			going = slices.DeleteFunc(going, func(o *head) bool { return o == h })
		}
	}
}

// labelCache caches the conversations and runs of recent hits.
type labelCache struct {
	index         Labeler
	conversations map[string]index.Conversation
	runs          map[string]index.Run
}

// maxLabels bounds the size of a lookup.
const maxLabels = 256

func newLabelCache(idx Labeler) *labelCache {
	return &labelCache{idx, map[string]index.Conversation{}, map[string]index.Run{}}
}

// load looks up the conversations and runs of all hits in one query.
func (l *labelCache) load(ctx context.Context, hits []found) error {
	if len(l.conversations) >= maxLabels {
		clear(l.conversations)
		clear(l.runs)
	}
	var ids []string
	for i := range hits {
		id := hits[i].Conversation
		if _, known := l.conversations[id]; !known && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return l.index.Labels(ctx, ids, func(c index.Conversation, r index.Run) { l.conversations[c.ID], l.runs[r.ID] = c, r })
}

// eventOf strips the part from the public id of a row.
func eventOf(id string) string {
	if i := strings.LastIndexByte(id, '.'); i > strings.IndexByte(id, ':') {
		return id[:i]
	}
	return id
}
