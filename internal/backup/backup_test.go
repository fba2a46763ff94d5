package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/local"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var ctx = context.Background()

// world is an archive's packs and a backup of them.
type world struct {
	t     *testing.T
	rnd   *rand.Rand
	dir   string
	packs *local.Store
	names []string
	parts map[string][]part // by pack
	files int
	now   time.Time
	fault func(op, path string) error
}

func newWorld(t *testing.T, seed uint64) *world {
	dir := t.TempDir()
	return &world{
		t: t, rnd: rand.New(rand.NewPCG(seed, 8)), dir: dir, packs: local.New(nil, filepath.Join(dir, "archive", "packs")),
		parts: map[string][]part{}, now: time.Date(2026, 11, 1, 2, 0, 0, 0, time.UTC),
	}
}

// add writes a pack of one original.
func (w *world) add() string {
	w.t.Helper()
	w.files++
	return w.write(nil, part{file: fmt.Sprint(w.files), to: 100 + w.rnd.Int64N(900)})
}

// part is a part of a file. Its bytes are the same in each pack that has it.
type part struct {
	file     string
	from, to int64
	number   int // of the version; 0 for 1
}

// write writes a pack that replaces others, which are not removed.
func (w *world) write(replaces []string, parts ...part) string {
	w.t.Helper()
	return w.seal(blob.Manifest{Replaces: replaces}, parts...)
}

func (w *world) seal(m blob.Manifest, parts ...part) string {
	w.t.Helper()
	writer, err := pack.Begin(ctx, w.packs, "backup01", w.now, pack.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range parts {
		v := p.version()
		data := bytes.Repeat([]byte(p.file), int(p.to))[p.from:p.to]
		v.Extents = []blob.Extent{{Offset: p.from, Size: p.to - p.from, SHA256: blob.RefOf(data)}}
		if err := writer.Put(&v, &v.Extents[0], bytes.NewReader(data)); err != nil {
			w.t.Fatal(err)
		}
		m.Versions = append(m.Versions, v)
	}
	if err := writer.Flush(); err != nil {
		w.t.Fatal(err)
	}
	_, info, err := writer.Seal(ctx, m)
	if err != nil {
		w.t.Fatal(err)
	}
	w.names, w.parts[info.Name] = append(w.names, info.Name), parts
	return info.Name
}

// version returns the version of the file that ends with the part.
func (p part) version() blob.Version {
	return blob.Version{
		Source: "s", Path: p.file, Number: max(p.number, 1), Root: blob.RefOf([]byte(p.file)), Size: p.to, SHA256: blob.RefOf(bytes.Repeat([]byte(p.file), int(p.to))[:p.to]),
		ModTime: time.Unix(1e9, 0), Mode: 0o600,
	}
}

// merge replaces some packs with one, as gc does.
func (w *world) merge(n int) {
	old := w.names[:min(n, len(w.names))]
	w.names = slices.Clone(w.names[len(old):])
	var parts []part
	for _, name := range old {
		parts = append(parts, w.parts[name]...)
	}
	w.write(old, parts...)
	w.remove(old...)
}

func (w *world) remove(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if err := w.packs.Remove(ctx, name); err != nil {
			w.t.Fatal(err)
		}
	}
	w.names = slices.DeleteFunc(w.names, func(name string) bool { return slices.Contains(names, name) })
}

func (w *world) options() Options {
	return Options{Now: func() time.Time { return w.now }, FS: &disk.FS{Fault: func(op, path string) error {
		if w.fault == nil {
			return nil
		}
		return w.fault(op, path)
	}}}
}

func (w *world) origin() Origin {
	return Origin{Archive: filepath.Join(w.dir, "archive"), Host: "here"}
}

func (w *world) at() string { return filepath.Join(w.dir, "backup") }

func (w *world) open() *Backup {
	w.t.Helper()
	b, err := Create(w.at(), w.origin(), false, w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// stored returns the names of the packs in the backup.
func (w *world) stored(b *Backup) []string {
	w.t.Helper()
	names := []string{}
	for info, err := range b.packs.List(ctx) {
		if err != nil {
			w.t.Fatal(err)
		}
		names = append(names, info.Name)
	}
	return names
}

// TestModel adds, merges, loses, backs up and fails at random. Whatever happens, every snapshot must be whole; after a backup that
// succeeded, the newest must have the archive's packs and those that it has lost, and there must be no pack that no snapshot names.
func TestModel(t *testing.T) {
	w := newWorld(t, seedtest.Seed(t))
	keep := Keep{Last: 3, Within: 48 * time.Hour}
	took, want := 0, []Snapshot{} // the model
	for range 60 {
		for range w.rnd.IntN(4) {
			w.add()
		}
		if w.rnd.IntN(3) == 0 && len(w.names) > 2 {
			w.merge(1 + w.rnd.IntN(len(w.names)))
		}
		w.now = w.now.Add(time.Duration(w.rnd.IntN(40)-4) * time.Hour) // clocks go back at times
		w.fault = nil
		b := w.open()
		if w.rnd.IntN(6) == 0 && len(w.names) > 0 {
			w.remove(w.names[w.rnd.IntN(len(w.names))])
		}
		lost := w.lost(b)
		if w.rnd.IntN(2) == 0 {
			var left atomic.Int64 // packs are copied side by side
			left.Store(w.rnd.Int64N(30))
			w.fault = func(op, _ string) error {
				if left.Add(-1) >= 0 {
					return nil
				}
				if op == disk.OpWrite {
					return &disk.ShortWrite{N: 3, Err: errFault}
				}
				return errFault
			}
		}
		r, err := b.Take(ctx, w.packs, TakeOptions{Keep: keep})
		w.fault = nil
		if err != nil && !errors.Is(err, errFault) && (!errors.Is(err, blob.ErrCorrupt) || len(lost) == 0) {
			t.Fatal(err)
		}
		checkWhole(t, b)
		if errors.Is(err, errFault) {
			continue
		}
		took++
		newest, err := b.Snapshot("")
		if err != nil || newest.ID != r.Snapshot {
			t.Fatalf("the newest is %q, the report says %q: %v", newest.ID, r.Snapshot, err)
		}
		if got, there := packNames(newest.Packs), sorted(slices.Concat(w.names, lost)); !slices.Equal(got, there) || !slices.Equal(packNames(r.Lost), lost) {
			t.Fatalf("backed up %q, there are %q, lost %q", got, there, packNames(r.Lost))
		}
		all, _ := b.Snapshots()
		if named, _ := packsOf(all); !slices.Equal(packNames(named), w.stored(b)) {
			t.Fatalf("stored %q, named %q", w.stored(b), packNames(named))
		}
		want = all
	}
	if took < 10 || len(want) < 3 {
		t.Errorf("only %d backups went through, %d snapshots at the end", took, len(want))
	}
}

// lost returns the packs of the newest snapshot that store something that no other pack has.
func (w *world) lost(b *Backup) []string {
	there := map[part]bool{}
	for _, name := range w.names {
		for _, p := range w.parts[name] {
			there[p] = true
		}
	}
	lost := []string{}
	if last, err := b.Snapshot(""); err == nil {
		for _, p := range last.Packs {
			if !slices.Contains(w.names, p.Name) && slices.ContainsFunc(w.parts[p.Name], func(p part) bool { return !there[p] }) {
				lost = append(lost, p.Name)
			}
		}
	}
	return lost
}

var errFault = errors.New("injected fault")

func packNames(packs []Pack) []string {
	names := []string{}
	for _, p := range packs {
		names = append(names, p.Name)
	}
	return names
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

func checkWhole(t *testing.T, b *Backup) {
	t.Helper()
	r, err := b.Verify(ctx, VerifyOptions{Full: true})
	if err != nil && !errors.Is(err, ErrNoSnapshot) {
		t.Fatalf("%v: %+v", err, r.Findings)
	}
}

// TestKeep has the expected results worked out by hand: ages in hours of ten snapshots.
func TestKeep(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	var all []Snapshot
	for _, age := range []int{90, 80, 50, 49, 30, 20, 10, 5, 1} {
		at := now.Add(-time.Duration(age) * time.Hour)
		all = append(all, Snapshot{ID: fmt.Sprint(age), Until: at})
	}
	for _, c := range []struct {
		keep Keep
		want int // snapshots that go
	}{
		{Keep{}, 0}, {Keep{Last: 1}, 8}, {Keep{Last: 3}, 6}, {Keep{Last: 20}, 0},
		{Keep{Within: 49 * time.Hour}, 3}, {Keep{Within: time.Minute}, 8}, {Keep{Last: 2, Within: 25 * time.Hour}, 5}, {Keep{Last: 7, Within: 25 * time.Hour}, 2},
	} {
		if got := c.keep.expired(all, now); len(got) != c.want {
			t.Errorf("%+v lets %d go, want %d", c.keep, len(got), c.want)
		}
	}
}

// TestNothingNew checks that a backup without changes extends the last snapshot.
func TestNothingNew(t *testing.T) {
	w := newWorld(t, 1)
	w.add()
	b := w.open()
	first, err := b.Take(ctx, w.packs, TakeOptions{})
	if err != nil || first.Copied != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	began := w.now
	w.now = w.now.Add(24 * time.Hour)
	again, err := b.Take(ctx, w.packs, TakeOptions{})
	if err != nil || again.Copied != 0 || again.Snapshot != first.Snapshot || again.Snapshots != 1 {
		t.Fatalf("%+v, %v", again, err)
	}
	if s, _ := b.Snapshot(""); !s.Time.Equal(began) || !s.Until.Equal(w.now) {
		t.Errorf("%+v", s)
	}
}

// TestDamage: packs that are damaged in the archive are reported and do not prevent others from being backed up; packs that are
// damaged in the backup are found, and copied again.
func TestDamage(t *testing.T) {
	w := newWorld(t, 2)
	bad, good := w.add(), w.add()
	flip(t, filepath.Join(w.origin().Archive, "packs", filepath.FromSlash(bad)+local.Ext))
	b := w.open()
	r, err := b.Take(ctx, w.packs, TakeOptions{})
	if !errors.Is(err, blob.ErrCorrupt) || len(r.Damaged) != 1 || r.Damaged[0].Pack != bad {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := w.stored(b); !slices.Equal(got, []string{good}) {
		t.Errorf("stored %q", got)
	}
	checkWhole(t, b)

	file := filepath.Join(w.at(), "packs", filepath.FromSlash(good)+local.Ext)
	flip(t, file)
	if r, err := b.Verify(ctx, VerifyOptions{Full: true}); !errors.Is(err, blob.ErrCorrupt) || len(r.Findings) != 1 || r.Findings[0].Kind != KindDamaged {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Truncate(file, 10); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Verify(ctx, VerifyOptions{}); !errors.Is(err, blob.ErrCorrupt) || len(r.Findings) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, _ := b.Take(ctx, w.packs, TakeOptions{}); r.Copied != 1 {
		t.Errorf("a short pack was not copied again: %+v", r)
	}
	checkWhole(t, b)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Verify(ctx, VerifyOptions{}); !errors.Is(err, blob.ErrCorrupt) || r.Findings[0].Kind != KindMissing {
		t.Errorf("%+v, %v", r, err)
	}
}

func flip(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 4
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDiedInTheSameInstant runs two backups at the same time of the clock, of which the first died: what it left must be removed.
func TestDiedInTheSameInstant(t *testing.T) {
	w := newWorld(t, 5)
	for range 3 {
		w.add()
	}
	b := w.open()
	w.fault = func(op, path string) error {
		if op == disk.OpRename && filepath.Ext(path) == snapshotSuffix {
			return errFault // all packs are copied, and no snapshot says so
		}
		return nil
	}
	if _, err := b.Take(ctx, w.packs, TakeOptions{}); !errors.Is(err, errFault) || len(w.stored(b)) != 3 {
		t.Fatalf("%v, stored %q", err, w.stored(b))
	}
	w.fault = nil
	w.merge(3)
	if _, err := b.Take(ctx, w.packs, TakeOptions{}); err != nil || !slices.Equal(w.stored(b), sorted(w.names)) {
		t.Errorf("%v, stored %q, want %q", err, w.stored(b), w.names)
	}
}

// movingStore is a store in which gc replaces packs when they have been listed, or while they are being copied.
type movingStore struct {
	*local.Store
	once  func()
	opens func()
}

func (m *movingStore) Open(ctx context.Context, name string) (blob.Pack, error) {
	if m.opens != nil {
		m.opens()
	}
	return m.Store.Open(ctx, name)
}

func (m *movingStore) List(ctx context.Context) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		m.Store.List(ctx)(yield)
		if f := m.once; f != nil {
			m.once = nil
			f()
		}
	}
}

func TestGCMeanwhile(t *testing.T) {
	for _, during := range []bool{false, true} {
		w := newWorld(t, 3)
		for range 9 {
			w.add()
		}
		from := &movingStore{Store: w.packs}
		if during {
			var opened atomic.Int32
			from.opens = func() {
				if opened.Add(1) == 8 {
					w.merge(9)
				}
			}
		} else {
			from.once = func() { w.merge(4) }
		}
		b := w.open()
		if _, err := b.Take(ctx, from, TakeOptions{}); err != nil {
			t.Fatal(err)
		}
		s, err := b.Snapshot("")
		if err != nil || !slices.Equal(packNames(s.Packs), sorted(w.names)) || !slices.Equal(w.stored(b), sorted(w.names)) {
			t.Errorf("%q, %v, stored %q, want %q", packNames(s.Packs), err, w.stored(b), w.names)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	w := newWorld(t, 4)
	full := filepath.Join(w.dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "photos"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(full, w.origin(), false, w.options()); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a directory with photos: %v", err)
	}
	if _, err := Create(filepath.Join(w.origin().Archive, "backup"), w.origin(), false, w.options()); err == nil {
		t.Error("a backup in its archive")
	}
	if err := os.MkdirAll(filepath.Join(w.origin().Archive, "packs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"in": w.origin().Archive, "around": filepath.Dir(w.origin().Archive)} {
		link := filepath.Join(t.TempDir(), name)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		if name == "in" {
			link = filepath.Join(link, "packs", "backup")
		}
		if _, err := Create(link, w.origin(), false, w.options()); err == nil || !strings.Contains(err.Error(), "overlaps") {
			t.Errorf("a backup %s its archive, by a link: %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(w.dir, "unmounted"), w.options()); !errors.Is(err, ErrNoBackup) {
		t.Errorf("nothing there: %v", err)
	}
	w.open()
	other := Origin{Archive: "/elsewhere", Host: "here"}
	if _, err := Create(w.at(), other, false, w.options()); !errors.Is(err, ErrOther) {
		t.Errorf("of another archive: %v", err)
	}
	if b, err := Create(w.at(), other, true, w.options()); err != nil || b.Origin() != other {
		t.Errorf("moved: %v", err)
	}
}

// TestForeign: a pack that no list names was not put there by a backup, and stays.
func TestForeign(t *testing.T) {
	w := newWorld(t, 5)
	w.add()
	b := w.open()
	src, at := w.packs, w.names
	w.packs, w.names = b.packs, nil
	foreign := w.add()
	w.packs, w.names = src, at
	for range 3 {
		w.now = w.now.Add(time.Hour)
		w.add()
		if _, err := b.Take(ctx, w.packs, TakeOptions{Keep: Keep{Last: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(w.stored(b), foreign) {
		t.Error("the pack of somebody else is gone")
	}
	if r, err := b.Verify(ctx, VerifyOptions{}); err != nil || r.Extra != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFill restores a snapshot, in one go and in two.
func TestFill(t *testing.T) {
	w := newWorld(t, 6)
	for range 4 {
		w.add()
	}
	b := w.open()
	if _, err := b.Take(ctx, w.packs, TakeOptions{}); err != nil {
		t.Fatal(err)
	}
	s, _ := b.Snapshot("")
	left := 8
	failing := local.New(&disk.FS{Fault: func(string, string) error {
		if left--; left < 0 {
			return errFault
		}
		return nil
	}}, filepath.Join(w.dir, "new"))
	if _, err := b.Fill(ctx, s, failing, nil); !errors.Is(err, errFault) {
		t.Fatal(err)
	}
	to := local.New(nil, filepath.Join(w.dir, "new"))
	r, err := b.Fill(ctx, s, to, nil)
	if err != nil || r.Copied+r.Present != 4 || r.Copied == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err = b.Fill(ctx, s, to, nil); err != nil || r.Present != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
}
