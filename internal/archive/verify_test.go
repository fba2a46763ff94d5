package archive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// verifyClean runs a verify that must have no findings.
func verifyClean(t *testing.T, a *Archive, o VerifyOptions) VerifyReport {
	t.Helper()
	all, report, err := verifyAll(t, a, o)
	if err != nil || report.Findings != 0 {
		t.Errorf("%v, %+v", err, report)
	}
	for _, f := range all {
		t.Log(f.String())
	}
	return report
}

func TestVerifySound(t *testing.T) {
	w := fillWorld(t)
	for _, o := range []VerifyOptions{{}, {Quick: true}} {
		report := verifyClean(t, w.open(Read), o)
		if report.Packs != 3 || report.Versions != int64(len(w.was)) || report.Index != "sound" || report.Notices != 0 || report.Quick != o.Quick || report.IndexChecked == o.Quick {
			t.Errorf("%+v", report)
		}
	}
	var bare *Archive
	all, report, err := verifyAll(t, withoutIndex(t, w, &bare), VerifyOptions{})
	if !errors.Is(err, ErrNoIndex) || len(all) != 1 || all[0].Kind != KindIndex || report.Index != "missing" || report.Versions != int64(len(w.was)) {
		t.Errorf("without the index: %v, %+v, %+v", err, all, report)
	}
	var done, total int64
	verifyClean(t, w.open(Read), VerifyOptions{Progress: func(d, of int64) { done, total = max(done, d), of }})
	if done != total || done != report.PackBytes {
		t.Errorf("progress ended at %d of %d", done, total)
	}
}

// findingsOf returns the findings of a kind that contain all of words.
func findingsOf(all []Finding, kind string, words ...string) []Finding {
	var found []Finding
	for _, f := range all {
		ok := f.Kind == kind
		for _, word := range words {
			ok = ok && strings.Contains(f.String(), word)
		}
		if ok {
			found = append(found, f)
		}
	}
	return found
}

func TestVerifyNamesFileAndRun(t *testing.T) {
	w := newWorld(t)
	w.withRun("good.jsonl", text("good", 500))
	m := w.withRun("bad.jsonl", text("bad", 500))
	w.put(file{source: "runs", path: "copy.jsonl", content: text("bad", 500)})
	var run string
	for r, err := range w.a.Index().Runs(t.Context(), index.Selection{}, index.Page{}) {
		w.check(err)
		if r.NativeID == "run of bad.jsonl" {
			run = r.ID
		}
	}
	w.damage(m.Pack, m.Members[0].Size-20)
	all, report, err := verifyAll(t, w.open(Read), VerifyOptions{})
	if !errors.Is(err, blob.ErrCorrupt) {
		t.Error(err)
	}
	found := findingsOf(all, KindDamaged, m.Pack, "runs/bad.jsonl version 1", "500 bytes")
	if len(found) != 1 || len(found[0].Runs) != 1 || found[0].Runs[0] != run || found[0].Hint == "" {
		t.Errorf("%+v", all)
	}
	if len(findingsOf(all, KindDamaged, m.Pack, "runs/copy.jsonl version 1", "500 bytes")) != 1 {
		t.Errorf("the copy in another pack is not named: %+v", all)
	}
	if report.DamagedPacks != 1 || report.LostFiles != 2 || len(findingsOf(all, KindDamaged, "good")) != 0 {
		t.Errorf("%+v, %+v", report, all)
	}
}

// TestVerifyAnyFlip flips bytes all over a pack: each must be found, and its loss reported correctly.
func TestVerifyAnyFlip(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "first", content: text("first", 400)})
	m := w.put(file{source: "runs", path: "a", content: text("a", 400)}, file{source: "runs", path: "b", content: text("b", 9000)},
		file{source: "runs", path: "c", content: text("first", 400)})
	rnd := seedtest.Rand(t)
	info, err := os.Stat(w.packFile(m.Pack))
	w.check(err)
	r := w.open(Read)
	for range 15 {
		at := rnd.Int64N(info.Size())
		w.flip(m.Pack, at)
		all, report, err := verifyAll(t, r, VerifyOptions{})
		if !errors.Is(err, blob.ErrCorrupt) || report.DamagedPacks != 1 {
			t.Fatalf("a flip at %d goes unseen: %v", at, err)
		}
		lost := map[string]bool{}
		for _, f := range all {
			if f.LostBytes > 0 {
				lost[f.Path] = true
			}
		}
		fresh := w.open(Read) // without what r remembers of the pack
		for _, path := range []string{"a", "b", "c"} {
			v := w.place(fresh, "runs", path, 1, 0, int64(len(w.was["runs/"+path+"@1"].content)))
			_, err := fresh.Raw(t.Context(), v)
			if err != nil && !lost[path] {
				t.Errorf("a flip at %d costs %s, and nobody says so: %+v", at, path, all)
			}
			if err == nil && lost[path] {
				t.Errorf("a flip at %d does not cost %s: %+v", at, path, all)
			}
		}
		w.flip(m.Pack, at)
	}
	verifyClean(t, r, VerifyOptions{})
}

func TestVerifyMissingAndTruncated(t *testing.T) {
	w := newWorld(t)
	gone := w.put(file{source: "runs", path: "gone", content: text("gone", 700)})
	cut := w.put(file{source: "runs", path: "cut", content: text("cut", 20000)}, file{source: "runs", path: "copy", content: text("gone", 700)})
	w.put(file{source: "runs", path: "gone", content: text("gone", 900)}) // its beginning is lost
	w.check(os.Remove(w.packFile(gone.Pack)))
	w.check(os.Truncate(w.packFile(cut.Pack), cut.Members[len(cut.Members)-1].Offset))
	for name, a := range map[string]*Archive{"index": w.open(Read), "quick": w.open(Read)} {
		all, report, err := verifyAll(t, a, VerifyOptions{Quick: name == "quick"})
		if !errors.Is(err, blob.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		for _, c := range [][]string{
			{KindMissing, gone.Pack, "in the index, but missing"}, {KindMissing, gone.Pack, "runs/gone version 1", "700 bytes at 0"},
			{KindMissing, gone.Pack, "runs/copy version 1", "700 bytes at 0"}, {KindDamaged, cut.Pack, "runs/cut version 1", "bytes at "},
		} {
			if len(findingsOf(all, c[0], c[1:]...)) != 1 {
				t.Errorf("%s: %q is said %d times in %v", name, c, len(findingsOf(all, c[0], c[1:]...)), all)
			}
		}
		if report.LostFiles != 3 {
			t.Errorf("%s: %+v", name, report)
		}
	}
	var bare *Archive
	all, _, err := verifyAll(t, withoutIndex(t, w, &bare), VerifyOptions{})
	if !errors.Is(err, blob.ErrCorrupt) || len(findingsOf(all, KindMissing, "runs/gone version 1", "700 bytes at 0")) != 1 {
		t.Errorf("without the index: %v, %v", err, all)
	}
}

func TestVerifyIndexAgainstPacks(t *testing.T) {
	for name, c := range map[string]struct {
		alter string
		want  []string
	}{
		"a row too many": {"INSERT INTO versions SELECT 99, file, 7, chain, size, sha256, mtime, mode, format, role, root_dir, 0, 0, NULL, 0 FROM versions WHERE id = 1",
			[]string{"version 7", "no pack has"}},
		"a row too few": {"DELETE FROM versions WHERE id = 1", []string{"version 1", "lacks"}},
		"size":          {"UPDATE versions SET size = size + 1 WHERE id = 1", []string{"does not locate 1 bytes"}},
		"mode":          {"UPDATE versions SET mode = 7 WHERE id = 1", []string{"mode is 7"}},
		"hash":          {"UPDATE versions SET sha256 = zeroblob(32) WHERE id = 1", []string{"SHA-256 is 0000"}},
		"mtime":         {"UPDATE versions SET mtime = 5 WHERE id = 1", []string{"mtime is 5"}},
		"a place":       {"UPDATE extents SET raw = raw + 1 WHERE chain = 1", []string{"where the index locates them"}},
		"no place":      {"DELETE FROM extents WHERE chain = 1", []string{"does not locate"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(file{source: "runs", path: "a", content: text("a", 500)}, file{source: "runs", path: "b", content: text("b", 500)})
			path := w.a.Index().Path()
			w.check(w.a.Close())
			alter(t, path, c.alter)
			all, report, err := verifyAll(t, w.open(Read), VerifyOptions{Quick: true})
			if !errors.Is(err, index.ErrDamaged) || report.Index != "unsound" || len(findingsOf(all, KindIndex, append(c.want, "runs/a")...)) == 0 {
				t.Errorf("%v, %+v", err, all)
			}
			if report.LostFiles != 0 {
				t.Errorf("an index that is wrong has lost nothing: %+v", all)
			}
		})
	}
}

// TestVerifyDamagedIndex damages the file of the index, which must be reported, and nothing about the packs.
func TestVerifyDamagedIndex(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "a", content: text("a", 500)})
	path := w.a.Index().Path()
	w.check(w.a.Close())
	data, err := os.ReadFile(path)
	w.check(err)
	copy(data[4096:], strings.Repeat("junk", len(data)/4-1024)) // all but the first page
	w.check(os.WriteFile(path, data, 0o600))
	opts := testOptions()
	opts.NoIndex = true
	all, report, err := verifyAll(t, openArchive(t, w.dir, Read, opts), VerifyOptions{})
	if !errors.Is(err, index.ErrDamaged) && !errors.Is(err, ErrNoIndex) || errors.Is(err, blob.ErrCorrupt) {
		t.Error(err)
	}
	if report.Index == "sound" || len(findingsOf(all, KindIndex)) != int(report.Findings) || report.Findings == 0 {
		t.Errorf("%+v, %v", report, all)
	}
}

func TestVerifyNotices(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "a", content: text("a", 500)})
	m, _ := w.pack(file{source: "runs", path: "a", content: text("a", 600)}, file{source: "runs", path: "b", content: "new"})
	w.check(os.WriteFile(filepath.Join(w.dir, "packs", ".tmp-123"), []byte("half"), 0o600))
	all, report, err := verifyAll(t, w.open(Read), VerifyOptions{})
	if err != nil || report.Notices != 2 || len(findingsOf(all, KindUnindexed, m.Pack)) != 1 || len(findingsOf(all, KindLeftover, ".tmp-123")) != 1 {
		t.Errorf("%v, %+v", err, all)
	}
}

// writeReplacement writes a pack with what is kept of another, as gc does.
func (w *world) writeReplacement(now time.Time, old blob.Manifest, keep ...*stored) blob.Manifest {
	w.t.Helper()
	pw, err := pack.Begin(w.t.Context(), w.a.Packs(), w.a.WriterID(), now, pack.Options{})
	w.check(err)
	m := blob.Manifest{Replaces: []string{old.Pack}}
	for _, s := range keep {
		v := s.Version
		v.Extents = []blob.Extent{{Size: v.Size, SHA256: v.SHA256}}
		w.entry(pw, &v, &v.Extents[0], s.content)
		m.Versions = append(m.Versions, v)
	}
	m, _, err = pw.Seal(w.t.Context(), m)
	w.check(err)
	return m
}

// TestVerifyReplaced verifies an archive after a gc that died before it removed anything, and after a complete one.
func TestVerifyReplaced(t *testing.T) {
	for name, now := range map[string]time.Time{"in order": testTime.Add(time.Hour), "by a clock that is behind": testTime.Add(-time.Hour)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			old := w.put(file{source: "runs", path: "kept", content: text("kept", 500)}, file{source: "runs", path: "dropped", content: text("dropped", 500)})
			w.put(file{source: "runs", path: "copy", content: text("kept", 500)})
			w.writeReplacement(now, old, w.was["runs/kept@1"])
			var bare *Archive
			all, report, err := verifyAll(t, withoutIndex(t, w, &bare), VerifyOptions{})
			if !errors.Is(err, ErrNoIndex) || report.Versions != 2 || len(findingsOf(all, KindLeftover, old.Pack)) != 1 {
				t.Errorf("%v, %+v, %v", err, report, all)
			}
			w.check(os.Remove(w.packFile(old.Pack)))
			a := withoutIndex(t, w, &bare)
			if all, _, err := verifyAll(t, a, VerifyOptions{}); !errors.Is(err, ErrNoIndex) || len(all) != 1 {
				t.Errorf("%v, %v", err, all)
			}
			dir, got, err := restoreAll(t, a, RestoreOptions{All: true})
			if err != nil || len(got) != 2 {
				t.Errorf("%v, %+v", err, got)
			}
			w.checkFile(filepath.Join(dir, "runs", "kept"), "runs/kept@1")
			w.checkFile(filepath.Join(dir, "runs", "copy"), "runs/copy@1")
		})
	}
}

func TestTombstones(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "dead", content: "dead"}, file{source: "runs", path: "alive", content: "alive"})
	bury := blob.NewTombstone(&w.was["runs/dead@1"].Version, "")
	check := func(when, want string) {
		var bare *Archive
		a := withoutIndex(t, w, &bare)
		var got []string
		for o, err := range a.originals(t.Context(), RestoreOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, o.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v", when, got)
		}
	}
	w.facts(bury.Fact(testTime))
	check("buried", "alive")
	w.facts(bury.Retract(testTime.Add(time.Second)))
	check("taken back", "alive dead")
}

func TestVerifyConflict(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "a", content: "of one machine"})
	w.was = map[string]*stored{}
	w.pack(file{source: "runs", path: "a", content: "of another machine"})
	var bare *Archive
	a := withoutIndex(t, w, &bare)
	all, _, _ := verifyAll(t, a, VerifyOptions{})
	if len(findingsOf(all, KindConflict, "runs/a version 1")) != 1 {
		t.Errorf("%v", all)
	}
}

// TestVerifyPack finds the damage of one pack, and does not read others.
func TestVerifyPack(t *testing.T) {
	w := fillWorld(t)
	bad, good := w.was["runs/empty@1"].pack, w.was["runs/a/log.jsonl@2"].pack
	w.damage(bad, 40)
	r := w.open(Read)
	var found []Finding
	if err := r.VerifyPack(t.Context(), bad, func(f Finding) { found = append(found, f) }); !errors.Is(err, blob.ErrCorrupt) || len(found) == 0 {
		t.Errorf("%v, %+v", err, found)
	}
	if err := r.VerifyPack(t.Context(), good, func(f Finding) { t.Errorf("%+v", f) }); err != nil {
		t.Error(err)
	}
	if err := r.VerifyPack(t.Context(), "2020/01/none", nil); !errors.Is(err, blob.ErrNotFound) {
		t.Error(err)
	}
}
