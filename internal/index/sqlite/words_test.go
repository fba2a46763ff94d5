package sqlite

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/words"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// TestToldWhenCommitted: what a commit that failed has told is told again.
func TestToldWhenCommitted(t *testing.T) {
	db, batch := newDB(t), workBatch(0, 2, false)
	mustExec(t, db, "CREATE TEMP TRIGGER refuse BEFORE INSERT ON events BEGIN SELECT raise(ABORT, 'refused'); END")
	if err := db.Commit(t.Context(), batch); err == nil {
		t.Fatal("nothing refused the rows")
	}
	mustExec(t, db, "DROP TRIGGER refuse")
	if err := db.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	told := collectWords(t, db.Terms(t.Context()))
	words := 0
	for _, p := range batch.Parsed {
		for _, r := range p.Rows {
			for _, n := range r.T {
				if word := string(p.Words.At(n &^ lexicon.Same)); index.IsWord([]byte(word)) {
					words++
					if _, ok := slices.BinarySearch(told, word); !ok {
						t.Fatalf("%q is in a row and was not told: %q", word, told)
					}
				}
			}
		}
	}
	if words == 0 {
		t.Error("no words")
	}
}

// TestJoinRunsReadsWhatItJoins: which runs are small, it sees without reading the words of all, as it would after each ingest.
func TestJoinRunsReadsWhatItJoins(t *testing.T) {
	db := newDB(t)
	r := rand.New(rand.NewPCG(1, 2))
	inTx(t, db, func(x *write.Tx) error {
		for run, words := range []int{20_000, 20_000, 20_000, 20_000, 20_000, 20_000, 20_000, 10, 10} {
			var block schema.Packer
			for i := range words {
				block.Add(fmt.Appendf(nil, "%08d%x", i, r.Uint64()))
				if block.Size() < 1<<16 && i < words-1 {
					continue
				}
				if err := x.Exec("INSERT INTO terms (id, words) VALUES (max(?, (SELECT coalesce(max(id), 0) + 1 FROM terms)), ?)", int64(run+1)<<schema.RunBits, block.Take(nil)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	runs, pages := 0, 0
	if err := db.r.QueryRow("SELECT count(DISTINCT id >> 20), sum(length(words)) / 4096 FROM terms").Scan(&runs, &pages); err != nil || runs != 9 || pages < 100 {
		t.Fatalf("%d runs of %d pages: %v", runs, pages, err)
	}
	got := countWrites(t, db).of(t, func() error { return db.inTx(t.Context(), words.JoinRuns) })
	if got.touched > pages/4 {
		t.Errorf("%v, of %d pages of words", got, pages)
	}
}

func collectWords(t *testing.T, seq iter.Seq2[string, error]) (all []string) {
	t.Helper()
	for s, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}
