package search

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/term"
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
		{`/(nosuch|xyzz)y-p/`, 1, 1}, {`/nosuchword \d+/`, 0, 0}, {`/seConf\w+X/ role:user`, 1, 1}, {"*interest*", 198, 198}, {"*interest* parseconfigx", 0, 0},
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
