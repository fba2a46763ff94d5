package gc

import (
	"bytes"
	"errors"
	"flag"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/blob/local"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var rounds = flag.Int("rounds", 1, "how many archives the model test makes")

var discard = slog.New(slog.DiscardHandler)

// TestGCModel performs random operations on archives and compares each with a naive model after every gc.
func TestGCModel(t *testing.T) {
	for n := range *rounds {
		seed := seedtest.Seed(t)
		if !t.Run(strconv.Itoa(n), func(t *testing.T) { modelGC(t, seed) }) { // whose indexes are closed with it
			return
		}
	}
}

func modelGC(t *testing.T, seed uint64) {
	w := newWorld(t, seed, blobtest.NewMemory())
	for range 8 {
		for range 1 + w.rnd.IntN(6) {
			w.ingest()
		}
		w.addTombstones(w.rnd.IntN(4))
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
			again := w.gc(o)
			if late := o.Grace > 0 && again.Dead > 0; !late && again.Merged+again.Rewritten > 0 { // late: the grace of some ended meanwhile
				t.Errorf("a second gc does something: %+v", again)
			}
		}
		w.compare(w.reindexed(), o.Grace)
		if t.Failed() {
			return
		}
	}
}

// TestGCLeavesADamagedPackAlone damages several packs in turn, in which tails of one original would be joined.
func TestGCLeavesADamagedPackAlone(t *testing.T) {
	for n := range mergeFew + 1 {
		w := newWorld(t, 1, blobtest.NewMemory())
		for i := range mergeFew + 1 {
			p := w.begin()
			if content, mark := w.text(300); i == 0 {
				p.add("runs", "log", 1, content, mark)
			} else {
				p.grow(w.files["runs/log@1"])
			}
			p.seal()
		}
		name := blobtest.Names(t, w.store)[n]
		good := blobtest.Read(t, w.store, name)
		bad := bytes.Clone(good)
		clear(bad[60:100]) // in its first member
		w.check(w.store.Remove(t.Context(), name))
		blobtest.Put(t, w.store, name, bad)
		if r := w.gc(Options{}); !slices.Equal(r.Damaged, []string{name}) || r.Merged != mergeFew {
			t.Errorf("%d packs were merged, damaged are %q, not %s", r.Merged, r.Damaged, name)
		}
		w.check(w.store.Remove(t.Context(), name))
		blobtest.Put(t, w.store, name, good)
		w.compare(w.db, 0)
	}
}

// TestGCEndsWithNamesThatCannotStandInOnePack has eight small packs, each with a file where all later ones need a
// directory: merged, they become eight packs again, which gc must not try to merge for ever.
func TestGCEndsWithNamesThatCannotStandInOnePack(t *testing.T) {
	w := newWorld(t, 1, blobtest.NewMemory())
	path := "d"
	for range mergeFew {
		path += "/f"
		p := w.begin()
		content, mark := w.text(100)
		p.add("runs", path, 1, content, mark)
		p.seal()
	}
	g, groups := w.collector(Options{}), 0
	g.Progress = func(int64, int64) {
		if groups++; groups > 3 {
			t.Fatalf("gc puts the same packs together for the %dth time", groups)
		}
	}
	r, err := g.Run(t.Context())
	w.check(err)
	if groups != 1 || r.Merged != mergeFew || r.PacksAfter != mergeFew {
		t.Errorf("%d groups, %d packs became %d; want %d that become as many at once", groups, r.Merged, r.PacksAfter, mergeFew)
	}
	w.compare(w.db, 0)
	w.compare(w.reindexed(), 0)
	w.settled(w.db)
}

// grownBelowAFile is an archive of eight small packs in which a log grows below what was a file: merged, they become two packs, in which
// its pieces could be joined.
func grownBelowAFile(t *testing.T, store blob.Store) *world {
	w := newWorld(t, 1, store)
	for i := range mergeFew {
		p := w.begin()
		content, mark := w.text(100)
		switch i {
		case 0:
			p.add("runs", "d", 1, content, mark)
		case 1:
			p.add("runs", "d/log", 1, content, mark)
		default:
			p.grow(w.files["runs/d/log@1"])
		}
		p.seal()
	}
	return w
}

// TestGCJoinsInTwoPacks merges what needs two packs, the second of which says that it replaces the others. The log was not archived apart.
func TestGCJoinsInTwoPacks(t *testing.T) {
	w := grownBelowAFile(t, blobtest.NewMemory())
	if r := w.gc(Options{}); r.Merged != mergeFew || r.PacksAfter != 2 {
		t.Errorf("%d packs became %d", r.Merged, r.PacksAfter)
	}
	w.compare(w.db, 0)
	w.notApart(w.db)
}

// TestGCKilledBetweenTwoPacks kills a gc that makes two packs at each of its operations on the disk: whichever of the two are durable, and
// whether or not the index knows them, the next writer does not take the log for one that two copies of the archive have archived apart.
func TestGCKilledBetweenTwoPacks(t *testing.T) {
	base := t.TempDir()
	w := grownBelowAFile(t, local.New(nil, filepath.Join(base, "packs")))
	w.check(w.db.Close())
	b, err := os.ReadFile(w.db.Path())
	w.check(err)
	w.check(os.WriteFile(filepath.Join(base, "index.db"), b, 0o600))
	for n := 1; ; n++ {
		dir := filepath.Join(t.TempDir(), "copy")
		w.check(os.CopyFS(dir, os.DirFS(base)))
		w.db = w.index(filepath.Join(dir, "index.db"))
		done := w.faultyGC(dir, n, true)
		w.check(w.db.Close())
		if t.Failed() {
			t.Fatalf("killed at operation %d", n)
		}
		if done {
			break
		}
	}
}

// notApart checks that no original counts as archived apart by two copies of the archive, or as a rival of another.
func (w *world) notApart(db *sqlite.DB) {
	w.t.Helper()
	if apart, err := db.Apart(w.t.Context()); err != nil || apart {
		w.t.Errorf("apart: %v, %v", apart, err)
	}
}

// TestGCOpensFewPacks merges many packs, each with the next tails of some originals.
func TestGCOpensFewPacks(t *testing.T) {
	store := &blobtest.Counted{Store: blobtest.NewMemory()}
	w := newWorld(t, 1, store)
	for i := range 80 {
		p := w.begin()
		for _, path := range []string{"a", "b", "c"} {
			if content, mark := w.text(100); i == 0 {
				p.add("runs", path, 1, content, mark)
			} else {
				p.grow(w.files["runs/"+path+"@1"])
			}
		}
		p.seal()
	}
	if r := w.gc(Options{}); r.PacksAfter >= mergeFew || store.Most > 40 || store.Now != 0 {
		t.Errorf("%d packs are left; %d were open at a time, and %d are", r.PacksAfter, store.Most, store.Now)
	}
	w.compare(w.db, 0)
}

var errFault = errors.New("injected fault")

// TestGCFaults makes every disk operation of a gc fail in turn: alone, and together with all that follow, which is a
// crash. Living content must be readable immediately, and the repeated gc must end like one without a fault.
func TestGCFaults(t *testing.T) {
	base := t.TempDir()
	seed := seedtest.Seed(t)
	w, r := newWorld(t, seed, local.New(nil, filepath.Join(base, "packs"))), rand.New(rand.NewPCG(seed, 2))
	for range 7 {
		w.ingest()
	}
	w.addTombstones(4)
	w.check(w.db.Close())
	b, err := os.ReadFile(w.db.Path())
	w.check(err)
	w.check(os.WriteFile(filepath.Join(base, "index.db"), b, 0o600))
	step := 12
	if *rounds > 1 { // a campaign: every operation
		step = 1
	}
	for _, crash := range []bool{false, true} {
		first := 1 + r.IntN(step)
		t.Logf("crash %v: operation %d and every further %d", crash, first, step)
		for n := first; ; n += step {
			dir := filepath.Join(t.TempDir(), "copy")
			w.check(os.CopyFS(dir, os.DirFS(base)))
			w.db = w.index(filepath.Join(dir, "index.db"))
			if w.faultyGC(dir, n, crash) {
				break
			}
			w.check(w.db.Close())
		}
	}
}

// faultyGC fails at the n-th operation, checks the archive, and repeats the gc. It reports whether there were fewer
// operations.
func (w *world) faultyGC(dir string, n int, crash bool) (done bool) {
	w.t.Helper()
	ctx, count := w.t.Context(), 0
	plain := local.New(nil, filepath.Join(dir, "packs"))
	w.store = local.New(&disk.FS{Fault: func(op, _ string) error {
		if count++; count == n || crash && count > n {
			return errFault
		}
		return nil
	}}, filepath.Join(dir, "packs"))
	began := w.now.Add(time.Minute)
	_, err := w.collector(Options{}).Run(ctx)
	if err == nil && count >= n {
		w.t.Fatalf("operation %d failed and nobody said so", n)
	}
	if err != nil && !errors.Is(err, errFault) {
		w.t.Fatalf("fault %d (crash %v) came out as %v", n, crash, err)
	}
	w.store = plain
	if err != nil {
		w.compare(w.db, 0)
		w.compare(w.reindexed(), 0)
	}
	_, lerr := plain.RemoveLeftovers(ctx)
	w.check(lerr)
	w.adopt(w.db)
	w.notApart(w.db)
	w.notApart(w.reindexed())
	if _, err := w.collector(Options{}).Run(ctx); err != nil {
		w.t.Fatalf("again, after fault %d (crash %v): %v", n, crash, err)
	}
	w.compare(w.db, 0)
	w.compare(w.reindexed(), 0)
	w.gone(began, 0)
	w.settled(w.db)
	if w.t.Failed() {
		w.t.Fatalf("after fault %d (crash %v)", n, crash)
	}
	return err == nil
}

// settled checks that store and index have the same packs, and that nothing is left to remove.
func (w *world) settled(db *sqlite.DB) {
	w.t.Helper()
	var there, known []string
	for info, err := range w.store.List(w.t.Context()) {
		w.check(err)
		there = append(there, info.Name)
	}
	for name, err := range db.Packs(w.t.Context()) {
		w.check(err)
		known = append(known, name)
	}
	if strings.Join(there, " ") != strings.Join(known, " ") {
		w.t.Errorf("there are %q, the index knows %q", there, known)
	}
}
