package sqlite

import (
	"errors"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
)

// TestContradiction: rows that break a constraint are damage of the index, which a reindex repairs.
func TestContradiction(t *testing.T) {
	db := newDB(t)
	mustExec(t, db, "CREATE TRIGGER contradict BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'two of one number'); END")
	if err := db.Commit(t.Context(), workBatch(0, 3, false)); !errors.Is(err, index.ErrDamaged) {
		t.Errorf("events that break a constraint: %v", err)
	}
}

// TestCheckReadsWords: the pages of the file are well, and what stands in them is no block of words.
func TestCheckReadsWords(t *testing.T) {
	db := newDB(t)
	if err := db.Commit(t.Context(), workBatch(0, 3, false)); err != nil {
		t.Fatal(err)
	}
	told := func(problem string) { t.Error(problem) }
	if err := db.Check(t.Context(), told); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "UPDATE terms SET words = substr(words, 1, length(words) - 1)")
	if err := db.Check(t.Context(), told); !errors.Is(err, index.ErrDamaged) {
		t.Errorf("a block that is cut: %v", err)
	}
	for _, err := range db.TermsOrCut(t.Context(), "zzz", 64) {
		if !errors.Is(err, index.ErrDamaged) {
			t.Errorf("who looks in it: %v", err)
		}
	}
}
