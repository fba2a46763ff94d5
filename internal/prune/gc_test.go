package prune

import (
	"flag"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	seed   = flag.Uint64("seed", 0, "of the first model test; 0 takes one at random")
	rounds = flag.Int("rounds", 2, "how many archives the model test makes")
)

var discard = slog.New(slog.DiscardHandler)

// TestGCModel does random things to an archive and compares it with a naive model after every gc.
func TestGCModel(t *testing.T) {
	for range *rounds {
		if *seed == 0 || t.Failed() {
			*seed = rand.Uint64()
		}
		w := newWorld(t, *seed)
		*seed = 0
		for range 8 {
			for range 1 + w.rnd.IntN(6) {
				w.ingest()
			}
			w.bury(w.rnd.IntN(4))
			o := Options{Grace: time.Duration(w.rnd.IntN(3)) * 5 * time.Minute}
			if w.rnd.IntN(4) == 0 {
				o.MaxUnused.Percent = 30
			}
			if w.rnd.IntN(4) == 0 {
				o.MaxBytes = 1 + w.rnd.Int64N(100<<10)
			}
			began := w.now.Add(time.Minute) // the first tick of the gc
			r := w.gc(o)
			w.compare(w.db, o.Grace)
			if o.MaxUnused == (Limit{}) && !r.More {
				w.gone(began, o.Grace)
				if again := w.gc(o); again.Merged > 0 || again.Rewritten > 0 && o.Grace == 0 {
					t.Errorf("a second gc does something: %+v", again)
				}
			}
			w.compare(w.reindexed(), o.Grace)
			if t.Failed() {
				return
			}
		}
	}
}
