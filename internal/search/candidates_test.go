package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/term"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestPatternsReadFewTexts counts the texts that are read to check a substring or an expression: those that the
// vocabulary leaves, and not one that it can rule out.
func TestPatternsReadFewTexts(t *testing.T) {
	w := newWorld(t)
	texts := make([]string, 0, 200)
	for i := range 198 {
		texts = append(texts, fmt.Sprintf("nothing of interest in step %d, error code %d", i, i*7))
	}
	texts = append(texts, "call parseConfigX(now) twice", "数据库连接失败 at xyzzy-plugh")
	w.take(talk("one", texts...))
	for _, c := range []struct {
		query string
		found int
		reads int64 // at most
	}{
		{"*seConfigX*", 1, 1}, {"*configx(no*", 1, 1}, {"*zy-pl*", 1, 1}, {"*库连接*", 1, 1}, {"*seConfigY*", 0, 0}, {`/seConf\w+X/`, 1, 1},
		{`/(nosuch|xyzz)y-p/`, 1, 1}, {`/nosuchword \d+/`, 0, 0}, {`/n{2}x/`, 0, 0}, {`/co(nf)(i(g)x)/`, 1, 1}, {`/seConf\w+X/ role:user`, 1, 1}, {"*interest*", 198, 198}, {"*interest* parseconfigx", 0, 0},
		{`/plugh$/ OR *ConfigX*`, 2, 2}, {"xyzzy -*lug*", 0, 1},
	} {
		got, coverage := find(t, w.searcher(), c.query, Options{})
		if len(got) != c.found || coverage.Checked > c.reads || coverage.Partial != nil {
			t.Errorf("%s: %d hits, %d texts read, want %d and at most %d (%v)", c.query, len(got), coverage.Checked, c.found, c.reads, coverage.Partial)
		}
	}
}

// TestLongestFold: no character folds to more than is known of those that do not fit into a term.
func TestLongestFold(t *testing.T) {
	for r := rune(0); r < 0x20000; r++ {
		b := term.Fold(nil, string(r))
		longest := longestFold
		if len(b) > 0 && b[0] < utf8.RuneSelf {
			longest = longestASCII
		}
		if len(b) > longest && len(term.Words(string(b))) == 1 {
			t.Errorf("%U folds to %q", r, b)
		}
	}
}

// TestLongSearch compares what is found where hundreds of texts must be checked for a few hits, on all cores and while the index is asked for
// more, with what is there; and counts the texts that are read beyond the page.
func TestLongSearch(t *testing.T) {
	w := newWorld(t)
	const all, each = 700, 37
	texts, want := make([]string, all), []int64(nil) // numbers of events, oldest first
	for i := range texts {
		texts[i] = fmt.Sprintf("entry %d of many, without it", i)
		if i%each == 0 {
			texts[i], want = fmt.Sprintf("entry %d: of many", i), append(want, int64(i)+1)
		}
		if i%300 == 0 { // more than is read at once
			texts[i] += strings.Repeat(" and so on", aheadBytes/10)
		}
	}
	o := talk("one", texts...)
	w.take(o)
	bad := o.Records[2+5*each].(*transcript.Event)
	w.fail[textKey(o.Path, 1, bad.Origin.Offset, 0)] = errors.New("damaged")
	want = slices.DeleteFunc(want, func(n int64) bool { return n == 5*each+1 })
	const query = `/entry \d+: of/`
	for _, limit := range []int{0, 1, 3, 12} {
		w.reads.Store(0)
		got, coverage := find(t, w.searcher(), query, Options{Limit: limit, NoSnippets: true})
		expect := want
		if limit > 0 {
			expect = want[max(0, len(want)-limit):]
		}
		if len(got) != len(expect) {
			t.Fatalf("limit %d: %d hits, want %d", limit, len(got), len(expect))
		}
		for i, r := range got {
			if seq := expect[len(expect)-1-i]; r.Seq != seq {
				t.Errorf("limit %d: hit %d is event %d, want %d", limit, i, r.Seq, seq)
			}
		}
		switch reads := w.reads.Load(); {
		case limit == 0 && (coverage.Checked != all-1 || coverage.Unreadable != 1):
			t.Errorf("%d texts checked, %d unreadable", coverage.Checked, coverage.Unreadable)
		case reads > coverage.Checked+max(aheadChecked, coverage.Checked/4)+5: // large and unreadable ones are read by who needs them
			t.Errorf("limit %d: %d texts read, %d of them in order", limit, reads, coverage.Checked)
		}
	}
	paged := w.pages(query, Options{Limit: 4, NoSnippets: true}, nil)
	once, _ := find(t, w.searcher(), query, Options{NoSnippets: true})
	if !slices.Equal(paged, ids(once)) {
		t.Errorf("by pages %v, at once %v", paged, ids(once))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a, err := w.searcher().Find(ctx, query, Options{NoSnippets: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range a.Results() {
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
