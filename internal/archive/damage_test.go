package archive

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var damages = flag.Int("damages", 20, "how many damages the damage campaign does")

// damagedPack is a pack file before and after it was damaged.
type damagedPack struct {
	name    string
	was, is []byte // is nil: the file is gone
}

// TestDamage damages packs in every way, one or several at a time. Verify must name each damaged pack; wrong bytes must never
// be restored as right; what no damage touches must be restored, and so must what verify does not report as lost,
// with the index and without.
func TestDamage(t *testing.T) {
	r := seedtest.Rand(t)
	w := fillWorld(t)
	w.put(file{source: "runs", path: "deep/x.json", content: text("x", 30000)}, file{source: "runs", path: "y", content: text("y", 12)})
	w.put(file{source: "other", path: "big", content: text("big", 90000)}, file{source: "other", path: "z", content: text("x", 30000)})
	packs := readPacks(t, w)
	w.check(w.a.Close())
	for done := 0; done < *damages; {
		var hurt []damagedPack
		did := ""
		for range 1 + r.IntN(2) {
			p := packs[r.IntN(len(packs))]
			if slices.ContainsFunc(hurt, func(h damagedPack) bool { return h.name == p.name }) {
				continue
			}
			h := blobtest.Corruptions[r.IntN(len(blobtest.Corruptions))]
			other := packs[r.IntN(len(packs))].was
			is := h.Do(r, bytes.Clone(p.was), p.members, bytes.Clone(other))
			if is != nil && bytes.Equal(is, p.was) {
				continue
			}
			hurt = append(hurt, damagedPack{p.name, p.was, is})
			did += fmt.Sprintf("%s: %s; ", p.name, h.Name)
		}
		done += len(hurt)
		w.checkDamaged(hurt, did)
		if t.Failed() {
			t.Fatalf("after %d damages", done)
		}
	}
}

// packFile is a pack as it was written.
type packFile struct {
	name    string
	was     []byte
	members []blob.Member
}

func readPacks(t *testing.T, w *world) []packFile {
	t.Helper()
	var all []packFile
	for info, err := range w.a.Packs().List(t.Context()) {
		w.check(err)
		p, err := w.a.Packs().Open(t.Context(), info.Name)
		w.check(err)
		opened, err := pack.Open(t.Context(), p, info.Name)
		w.check(err)
		data, err := os.ReadFile(w.packFile(info.Name))
		w.check(err)
		all = append(all, packFile{info.Name, data, opened.Manifest().Members})
		w.check(p.Close())
	}
	return all
}

// checkDamaged checks the archive with some packs damaged, and then puts the undamaged files back.
func (w *world) checkDamaged(hurt []damagedPack, did string) {
	w.t.Helper()
	for _, h := range hurt {
		if h.is == nil {
			w.check(os.Remove(w.packFile(h.name)))
		} else {
			w.check(os.WriteFile(w.packFile(h.name), h.is, 0o600))
		}
	}
	defer func() {
		for _, h := range hurt {
			w.check(os.WriteFile(w.packFile(h.name), h.was, 0o600))
		}
	}()
	opts := testOptions()
	opts.CatalogLimit = len(did) % 4 // in one part, or in many
	a, err := Open(w.t.Context(), w.dir, Read, opts)
	w.check(err)
	all, report, err := verifyAll(w.t, a, VerifyOptions{})
	if len(hurt) > 0 && !errors.Is(err, blob.ErrCorrupt) || len(hurt) == 0 && err != nil {
		w.t.Errorf("%s verify: %v %+v", did, err, report)
	}
	for _, h := range hurt {
		if !slices.ContainsFunc(all, func(f Finding) bool { return f.Pack == h.name && !f.Notice() }) {
			w.t.Errorf("%s verify does not name %s: %+v", did, h.name, all)
		}
	}
	lost := map[string]bool{}
	for _, f := range all {
		if f.Path != "" && !f.Notice() {
			lost[fmt.Sprintf("%s/%s@%d", f.Source, f.Path, f.Version)] = true
		}
	}
	w.checkRestored(a, lost, did)
	w.check(a.Close())
	var bare *Archive
	w.checkRestored(withoutIndex(w.t, w, &bare), nil, did+"no index; ")
	w.check(bare.Close())
}

// checkRestored restores all versions: each must be right or an error. lost are those that may fail; nil is any
// that could be damaged.
func (w *world) checkRestored(a *Archive, lost map[string]bool, did string) {
	w.t.Helper()
	dir, err := os.MkdirTemp(w.t.TempDir(), "")
	w.check(err)
	to, got, _ := restoreAll(w.t, a, RestoreOptions{All: true, AllVersions: true, To: filepath.Join(dir, "to")})
	for key, was := range w.was {
		r, ok := got[key]
		if !ok || r.Err != nil {
			if lost != nil && !lost[key] {
				w.t.Errorf("%s%s is not given back, and verify does not call it lost: %v", did, key, r.Err)
			}
			continue
		}
		data, err := os.ReadFile(filepath.Join(to, filepath.FromSlash(r.Name)))
		// Without an index, a missing pack leaves the previous state: nothing else knows that there was a later one.
		earlier := lost == nil && bytes.HasPrefix(was.content, data)
		if err != nil || !bytes.Equal(data, was.content) && !earlier {
			w.t.Errorf("%s%s is given back wrong: %v", did, key, err)
		}
	}
	for key, r := range got {
		if w.was[key] == nil && r.Err == nil {
			w.t.Errorf("%s%s was never stored", did, key)
		}
	}
	w.check(os.RemoveAll(dir))
}
