package words

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestVocabulary adds runs of words, of all sizes up to several blocks, joins some now and then, and looks inside of words
// as a map would.
func TestVocabulary(t *testing.T) {
	r := seedtest.Rand(t)
	db, all := newIndex(t), map[string]bool{}
	add := func(words int) {
		var run []string
		for range words {
			w := strings.Repeat("word", r.IntN(4)) + fmt.Sprintf("%x", r.IntN(1<<(4+r.IntN(14))))
			run, all[w] = append(run, w), true
		}
		slices.Sort(run)
		writetest.In(t, db.w, func(x *write.Tx) error {
			w, err := runWriter{t: x}, error(nil)
			for _, word := range run {
				if err == nil {
					err = w.add([]byte(word))
				}
			}
			return errors.Join(err, w.flush())
		})
	}
	look := func() {
		t.Helper()
		writetest.Same(t, "all words", collect(t, ask.New(db.r).Terms(t.Context())), slices.Sorted(maps.Keys(all)))
		for _, text := range []string{"ordw", "d1", "ff", "nothing", "wordwordword0"} {
			var want []string
			for w := range all {
				if strings.Contains(w, text) {
					want = append(want, w)
				}
			}
			slices.Sort(want)
			writetest.Same(t, fmt.Sprintf("words with %q", text), collect(t, ask.New(db.r).TermsOrCut(t.Context(), text, math.MaxInt)), want)
		}
		short := slices.DeleteFunc(collect(t, ask.New(db.r).Terms(t.Context())), func(w string) bool {
			return len(w) < 2 || len(w) > 3 || !strings.Contains(w, "a") && !strings.Contains(w, "7")
		})
		writetest.Same(t, "short words", collect(t, ask.New(db.r).TermsAny(t.Context(), []string{"a", "7"}, 2, 3)), short)
		cut := slices.DeleteFunc(collect(t, ask.New(db.r).Terms(t.Context())), func(w string) bool {
			return (len(w) < 15 || !strings.HasSuffix(w, "7")) && !strings.Contains(w, "7f")
		})
		writetest.Same(t, "words that may be cut", collect(t, ask.New(db.r).TermsOrCut(t.Context(), "7f", 15)), cut)
		first := slices.DeleteFunc(collect(t, ask.New(db.r).Terms(t.Context())), func(w string) bool { return !strings.HasPrefix(w, "word3") })
		writetest.Same(t, "words that begin so", collect(t, ask.New(db.r).TermsFrom(t.Context(), "word3")), first)
	}
	for i := range 13 {
		add(1 + r.IntN(1<<r.IntN(16)))
		if i%3 == 0 {
			writetest.In(t, db.w, func(x *write.Tx) error { return joinRuns(x, 3) })
			if n := len(writetest.Dump(t, db.r, "SELECT DISTINCT id >> 20 FROM terms")); n > 3 {
				t.Fatalf("%d runs after joining", n)
			}
			look()
		}
	}
	look()
	writetest.In(t, db.w, func(x *write.Tx) error { return joinRuns(x, 1) })
	look()
	for _, b := range writetest.Dump(t, db.r, "SELECT words FROM terms ORDER BY id") {
		if len(b) > 2*(2*blockSize) {
			t.Errorf("a block of %d bytes", len(b)/2)
		}
	}
	for range ask.New(db.r).Terms(t.Context()) { // who leaves early leaves nothing open
		break
	}
}

func collect(t *testing.T, seq iter.Seq2[string, error]) (all []string) {
	t.Helper()
	for s, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}
