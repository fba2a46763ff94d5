package gc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/index/sqlite/sqlitetest"
	"github.com/txarchive/txarchive/internal/ingest"
)

var testTime = time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)

// world is an archive without formats, and a naive model of its contents.
type world struct {
	collected int
	t         *testing.T
	rnd       *rand.Rand
	store     blob.Store
	db        *sqlite.DB
	now       time.Time
	opts      pack.Options
	files     map[string]*model // by source, path and number
	words     int
}

// model is one version.
type model struct {
	blob.Version
	content    []byte
	tombstoned time.Time // zero: it lives
	marks      []string  // that stand in the content and nowhere else
}

func newWorld(t *testing.T, seed uint64, store blob.Store) *world {
	w := &world{t: t, rnd: rand.New(rand.NewPCG(seed, 3)), store: store, now: testTime,
		opts: pack.Options{MemberSize: 8 << 10}, files: map[string]*model{}}
	w.db = w.index(filepath.Join(t.TempDir(), "index.db"))
	return w
}

func (w *world) index(path string) *sqlite.DB {
	w.t.Helper()
	return sqlitetest.Open(w.t, path)
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) tick() time.Time {
	w.now = w.now.Add(time.Minute)
	return w.now
}

// text returns content with a mark that no other content has.
func (w *world) text(size int) (content []byte, mark string) {
	w.words++
	mark = fmt.Sprintf("unique-%d-%016x", w.words, w.rnd.Uint64())
	for len(content) < size {
		content = fmt.Appendf(content, "%s line %d of %x\n", mark, len(content), w.rnd.Uint32())
	}
	return content, mark
}

func (w *world) size() int {
	switch w.rnd.IntN(10) {
	case 0:
		return 0
	case 1, 2:
		return 9<<10 + w.rnd.IntN(60<<10)
	}
	return 1 + w.rnd.IntN(3<<10)
}

// packing is a pack being written.
type packing struct {
	*world
	w        *pack.Writer
	manifest blob.Manifest
	touched  map[string]bool
}

func (w *world) begin() *packing {
	pw, err := pack.Begin(w.t.Context(), w.store, "box1", w.tick(), w.opts)
	w.check(err)
	return &packing{world: w, w: pw, touched: map[string]bool{}}
}

// store writes bytes of a version to the pack.
func (p *packing) store(m *model, offset int64, data []byte) {
	v := m.Version
	v.Extents = []blob.Extent{{Offset: offset, Size: int64(len(data)), SHA256: blob.RefOf(data)}}
	p.check(p.w.Put(&v, &v.Extents[0], bytes.NewReader(data)))
	p.manifest.Versions = append(p.manifest.Versions, v)
}

func (p *packing) seal() blob.Manifest {
	if len(p.manifest.Versions)+len(p.manifest.Facts) == 0 {
		p.check(p.w.Abort())
		return blob.Manifest{}
	}
	m, info, err := p.w.Seal(p.t.Context(), p.manifest)
	p.check(err)
	b := index.Batch{Pack: index.NewPackRow(&m, info.Size)}
	for _, f := range m.Facts {
		b.Facts = append(b.Facts, index.FactRow{Fact: f, Pack: m.Pack})
	}
	p.check(p.db.Commit(p.t.Context(), b))
	return m
}

// add adds a new file, or the next version of one.
func (p *packing) add(source, path string, number int, content []byte, marks ...string) {
	m := &model{content: content, marks: marks}
	m.Version = blob.Version{Source: source, Path: path, Number: number, Size: int64(len(content)), SHA256: blob.RefOf(content),
		Root: blob.RefOf(content), ModTime: p.now, Mode: 0o640}
	p.files[key(m)] = m
	p.touched[key(m)] = true
	p.store(m, 0, content)
}

func key(m *model) string { return fmt.Sprintf("%s/%s@%d", m.Source, m.Path, m.Number) }

// fits reports whether the pack can hold a new path.
func (p *packing) fits(path string) bool {
	if p.files["runs/"+path+"@1"] != nil {
		return false
	}
	for k := range p.touched {
		other := p.files[k].Path
		if strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/") {
			return false
		}
	}
	return true
}

// grow adds a tail to a version.
func (p *packing) grow(m *model) {
	tail, mark := p.text(1 + p.size())
	from := m.Size
	m.content = append(slices.Clone(m.content), tail...)
	m.marks = append(m.marks, mark)
	m.Size, m.SHA256, m.ModTime = int64(len(m.content)), blob.RefOf(m.content), p.now
	p.touched[key(m)] = true
	p.store(m, from, tail)
}

// copy adds a version with the content of another, as ingest does.
func (p *packing) copy(of *model, path string) {
	m := &model{Version: of.Version, content: of.content, marks: slices.Clip(of.marks)}
	m.Path, m.Number, m.ModTime = path, 1, p.now
	v := m.Version
	v.Extents = []blob.Extent{{Size: v.Size, SHA256: v.SHA256}}
	if here := p.w.FindContent(&v.Extents[0]); here != nil {
		p.check(p.w.Link(&v, &v.Extents[0], here))
	} else {
		stored, err := p.db.ByRef(p.t.Context(), of.SHA256)
		p.check(err)
		v.Extents, v.Root = stored.Extents, stored.Root
		m.Root = stored.Root
	}
	p.files[key(m)] = m
	p.touched[key(m)] = true
	p.manifest.Versions = append(p.manifest.Versions, v)
}

// some returns living versions in random order; with newest, only the newest of each path.
func (p *packing) some(newest bool) (all []*model) {
	for _, k := range slices.Sorted(maps.Keys(p.files)) {
		m := p.files[k]
		if _, later := p.files[fmt.Sprintf("%s/%s@%d", m.Source, m.Path, m.Number+1)]; m.tombstoned.IsZero() && !(newest && later) && !p.touched[k] {
			all = append(all, m)
		}
	}
	p.rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// ingest stores a random batch in one pack.
func (w *world) ingest() {
	p := w.begin()
	for range 1 + w.rnd.IntN(8) {
		switch w.rnd.IntN(6) {
		case 0, 1:
			content, mark := w.text(w.size())
			path := fmt.Sprintf("d%d/f%d", w.rnd.IntN(3), w.words)
			if all := p.some(false); len(all) > 0 && w.rnd.IntN(4) == 0 { // below what was a file: no pack can hold both
				path = all[0].Path + "/below"
			}
			if p.fits(path) {
				p.add("runs", path, 1, content, mark)
			}
		case 2, 3:
			if all := p.some(true); len(all) > 0 && all[0].Size > 0 {
				p.grow(all[0])
			}
		case 4:
			if all := p.some(true); len(all) > 0 {
				content, mark := w.text(1 + w.size()) // a tombstone of an empty one would lie on this too
				p.add(all[0].Source, all[0].Path, all[0].Number+1, content, mark)
			}
		default:
			if all := p.some(false); len(all) > 0 && all[0].Size > 0 {
				w.words++
				p.copy(all[0], fmt.Sprintf("copy%d", w.words))
			}
			for _, k := range slices.Sorted(maps.Keys(p.touched)) {
				if m := w.files[k]; p.w.FindContent(&blob.Extent{SHA256: m.SHA256}) != nil && w.rnd.IntN(4) == 0 {
					w.words++
					p.copy(m, fmt.Sprintf("twin%d", w.words))
				}
			}
		}
	}
	p.seal()
}

// addTombstones writes tombstones for random versions.
func (w *world) addTombstones(n int) {
	p := w.begin()
	for _, m := range p.some(false)[:min(n, len(p.some(false)))] {
		t := blob.NewTombstone(&m.Version, "")
		p.manifest.Facts = append(p.manifest.Facts, t.Fact(w.now))
		m.tombstoned = w.now
	}
	p.seal()
}

func (w *world) gc(o Options) Report {
	w.t.Helper()
	r, err := w.collector(o).Run(w.t.Context())
	w.check(err)
	return r
}

func (w *world) collector(o Options) *GC {
	w.collected++
	format := w.opts
	format.MaxRecords = w.collected % 4
	return &GC{Packs: w.store, Index: w.db, Writer: "box1", Now: w.tick, Log: discard, Format: format, Options: o,
		ChainLimit: w.collected % 3, factsLimit: 2000} // all chains at a time, or hardly any
}

// compare reads everything back through the index and compares it with the model.
func (w *world) compare(db *sqlite.DB, grace time.Duration) {
	w.t.Helper()
	library := pack.NewLibrary(w.store, 1<<20)
	defer library.Close()
	seen := map[string]bool{}
	for s, err := range db.States(w.t.Context()) {
		w.check(err)
		k := fmt.Sprintf("%s/%s@%d", s.Source, s.Path, s.Number)
		m := w.files[k]
		if m == nil {
			w.t.Fatalf("%s was never stored", k)
		}
		if !m.tombstoned.IsZero() {
			continue
		}
		seen[k] = true
		if s.SHA256 != m.SHA256 || s.Size != m.Size || !s.ModTime.Equal(m.ModTime) || s.Root != m.Root {
			w.t.Errorf("%s is %+v, want %+v", k, s.Version, m.Version)
		}
		got, err := io.ReadAll(library.Reader(w.t.Context(), s.Extents))
		if err != nil || !bytes.Equal(got, m.content) {
			w.t.Errorf("%s came back as %d bytes of %d: %v", k, len(got), m.Size, err)
		}
	}
	for k, m := range w.files {
		if m.tombstoned.IsZero() && !seen[k] {
			w.t.Errorf("%s is gone", k)
		}
	}
}

// inflated returns every byte of every pack, inflated.
func (w *world) inflated() string {
	var all strings.Builder
	for info, err := range w.store.List(w.t.Context()) {
		w.check(err)
		p, err := w.store.Open(w.t.Context(), info.Name)
		w.check(err)
		w.check(pack.Verify(w.t.Context(), info.Name, p, func(d pack.Damage) { w.t.Error(d) }))
		w.check(pack.Inflate(w.t.Context(), info.Name, p, &all))
		w.check(p.Close())
	}
	return all.String()
}

// gone checks that no mark of a dead version is left anywhere, unless another version has it too, and that every mark
// of the living ones is there.
func (w *world) gone(now time.Time, grace time.Duration) {
	w.t.Helper()
	living, spared := map[string]bool{}, map[string]bool{}
	for _, m := range w.files {
		for _, mark := range m.marks {
			switch {
			case m.Size == 0:
			case m.tombstoned.IsZero():
				living[mark] = true
			case m.tombstoned.Add(grace).After(now):
				spared[mark] = true
			}
		}
	}
	all := w.inflated()
	for k, m := range w.files {
		for _, mark := range m.marks {
			if there := strings.Contains(all, mark); m.Size > 0 && (living[mark] && !there || !living[mark] && !spared[mark] && there) {
				w.t.Errorf("%s: %q is there: %v", k, mark, there)
			}
		}
	}
}

// reindexed returns an index built from the packs alone.
func (w *world) reindexed() *sqlite.DB {
	w.t.Helper()
	db := w.index(filepath.Join(w.t.TempDir(), "fresh.db"))
	w.adopt(db)
	return db
}

// adopt adds all packs to an index, as every writer does first.
func (w *world) adopt(db *sqlite.DB) {
	w.t.Helper()
	g := &ingest.Ingester{Packs: w.store, Index: db, Writer: "box1", Now: w.tick}
	_, err := g.Adopt(context.Background())
	w.check(err)
}
