package archive

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/repair"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestDamageRepaired damages packs as TestDamage does, and repairs the archive, with the index and without. Then verify must find
// nothing, everything that it had not reported as lost must be restored, and no wrong bytes.
func TestDamageRepaired(t *testing.T) {
	w := fillWorld(t)
	w.put(file{source: "runs", path: "deep/x.json", content: text("x", 30000)}, file{source: "runs", path: "y", content: text("y", 12)})
	w.put(file{source: "other", path: "big", content: text("big", 90000)}, file{source: "other", path: "z", content: text("x", 30000)})
	packs := readPacks(t, w)
	w.check(w.a.Close())
	lost, saved := int64(0), int64(0)
	for done := 0; done < *damages; {
		n, l, s := w.repairRound(seedtest.Rand(t), packs)
		done, lost, saved = done+n, lost+l, saved+s
		if t.Failed() {
			t.Fatalf("after %d damages", done)
		}
	}
	t.Logf("%d bytes were stored again, %d given up", saved, lost)
}

// repairRound damages a copy of the archive, and repairs it.
func (w *world) repairRound(r *rand.Rand, packs []packFile) (n int, lost, saved int64) {
	w.t.Helper()
	dir, err := os.MkdirTemp(w.t.TempDir(), "")
	w.check(err)
	defer os.RemoveAll(dir)
	copied := *w
	copied.dir = filepath.Join(dir, "archive")
	w.check(os.CopyFS(copied.dir, os.DirFS(w.dir)))
	blind := r.IntN(4) == 0
	files, err := filepath.Glob(filepath.Join(copied.dir, "index*"))
	w.check(err)
	for _, f := range files {
		if blind || filepath.Base(f) == indexLink {
			w.check(os.Remove(f))
		}
	}
	if !blind {
		link, err := os.Readlink(filepath.Join(w.dir, indexLink))
		w.check(err)
		w.check(os.Symlink(link, filepath.Join(copied.dir, indexLink)))
	}
	hurt, did := map[string]bool{}, ""
	for range 1 + r.IntN(3) {
		p := packs[r.IntN(len(packs))]
		h := blobtest.Corruptions[r.IntN(len(blobtest.Corruptions))]
		is := h.Do(r, bytes.Clone(p.was), p.members, bytes.Clone(packs[r.IntN(len(packs))].was))
		if hurt[p.name] || is != nil && bytes.Equal(is, p.was) {
			continue
		}
		hurt[p.name] = true
		did += p.name + ": " + h.Name + "; "
		if is == nil {
			w.check(os.Remove(copied.packFile(p.name)))
		} else {
			w.check(os.WriteFile(copied.packFile(p.name), is, 0o600))
		}
	}
	if blind {
		did += "no index; "
	}
	lost, saved = copied.repair(did, blind)
	return len(hurt), lost, saved
}

// repair repairs an archive, and checks the result.
func (w *world) repair(did string, blind bool) (lost, saved int64) {
	w.t.Helper()
	opts := testOptions()
	opts.NoIndex, opts.CatalogLimit = true, len(did)%4
	a, err := Open(w.t.Context(), w.dir, Write, opts)
	w.check(err)
	defer func() { w.check(a.Close()) }()
	before, report, _ := verifyAll(w.t, a, VerifyOptions{})
	named := map[string]bool{}
	for _, f := range before {
		named[fmt.Sprintf("%s/%s@%d", f.Source, f.Path, f.Version)] = true
	}
	m := &repair.Repair{Packs: a.Packs(), Damaged: report.Corrupt, Quarantine: a.Quarantine, Writer: a.WriterID(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
		ChainLimit: len(did) % 4}
	if !blind {
		m.Index = a.Index()
	}
	plan, err := m.Plan(w.t.Context())
	w.check(err)
	made, err := m.Apply(w.t.Context(), plan)
	if err = errors.Join(err, plan.Close()); err != nil {
		w.t.Fatalf("%s repair: %v", did, err)
	}
	gone := map[string]bool{}
	for _, l := range plan.Lost {
		key := fmt.Sprintf("%s/%s@%d", l.Source, l.Path, l.Number)
		gone[key] = true
		if !named[key] && !blind {
			w.t.Errorf("%s %s is given up, and verify had not called it lost", did, key)
		}
	}
	for _, name := range made {
		if !blind {
			w.adopt(a, name)
		}
	}
	after, _, err := verifyAll(w.t, a, VerifyOptions{})
	wrong := slices.ContainsFunc(after, func(f Finding) bool { return !f.Notice() && !(blind && f.Kind == KindIndex) })
	if wrong || err != nil && !blind {
		w.t.Errorf("%s verify after the repair: %v %+v", did, err, after)
	}
	if !blind {
		w.checkRestored(a, gone, did)
		return plan.LostBytes(), plan.Recovered.Bytes
	}
	w.checkPieces(a, did)
	return plan.LostBytes(), plan.Recovered.Bytes
}

// adopt adds a pack to the index.
func (w *world) adopt(a *Archive, name string) {
	w.t.Helper()
	p, err := a.Packs().Open(w.t.Context(), name)
	w.check(err)
	opened, err := pack.Open(w.t.Context(), p, name)
	w.check(err)
	w.check(a.Index().Commit(w.t.Context(), batch(opened.Manifest(), p.Size())))
	w.check(p.Close())
}

// checkPieces restores everything: each file must be what was stored, an earlier state of it, or one of the extents.
func (w *world) checkPieces(a *Archive, did string) {
	w.t.Helper()
	dir, err := os.MkdirTemp(w.t.TempDir(), "")
	w.check(err)
	defer os.RemoveAll(dir)
	to, got, _ := restoreAll(w.t, a, RestoreOptions{All: true, AllVersions: true, To: filepath.Join(dir, "to")})
	for key, r := range got {
		if r.Err != nil {
			if !errors.Is(r.Err, blob.ErrCorrupt) {
				w.t.Errorf("%s%s: %v", did, key, r.Err)
			}
			continue
		}
		data, err := os.ReadFile(filepath.Join(to, filepath.FromSlash(r.Name)))
		w.check(err)
		known := false
		for _, was := range w.was {
			known = known || bytes.HasPrefix([]byte(was.content), data)
			for _, e := range was.extents {
				known = known || blob.RefOf(data) == e.SHA256
			}
		}
		if !known {
			w.t.Errorf("%s%s was never stored: %d bytes", did, key, len(data))
		}
	}
}
