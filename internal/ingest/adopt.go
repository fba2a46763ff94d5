package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Adopt brings packs into the index that it does not know: those that a crash left between the pack and the
// transaction, and those that came from another machine or a backup. It returns how many there were. A pack that
// cannot be read is left out and named in the error, after all others were adopted.
func (g *Ingester) Adopt(ctx context.Context) (int, error) {
	g.prepare()
	known := map[string]bool{}
	for name, err := range g.Index.Packs(ctx) {
		if err != nil {
			return 0, err
		}
		known[name] = true
	}
	for name, err := range g.Index.Replaced(ctx) {
		if err != nil {
			return 0, err
		}
		known[name] = true
	}
	var unknown []blob.Info
	there := map[string]bool{}
	for info, err := range g.Packs.List(ctx) {
		if err != nil {
			return 0, err
		}
		if !known[info.Name] {
			unknown = append(unknown, info)
		}
		there[info.Name] = true
	}
	n, damaged := g.replay(ctx, unknown)
	if damaged != nil && !errors.Is(damaged, blob.ErrCorrupt) {
		return n, damaged
	}
	g.missing = map[string]bool{}
	for name, err := range g.Index.Packs(ctx) { // without those that one of the unknown replaces
		if err != nil {
			return n, err
		}
		if !there[name] {
			g.missing[name] = true
		}
	}
	if _, err := g.Price(ctx); err != nil { // before anything is parsed, which is priced with the same book
		return n, err
	}
	if err := g.parseWanted(ctx, nil); err != nil {
		return n, err
	}
	return n, damaged
}

// stored is where content lies. ErrNotFound also where a pack with some of it is missing or damaged: then it is stored again.
func (g *Ingester) stored(ctx context.Context, ref blob.Ref) (index.Stored, error) {
	s, err := g.Index.ByRef(ctx, ref)
	if err == nil && slices.ContainsFunc(s.Extents, func(e blob.Extent) bool {
		return e.CopyOf != nil && (g.missing[e.CopyOf.Pack] || slices.Contains(g.Damaged, e.CopyOf.Pack))
	}) {
		return index.Stored{}, index.ErrNotFound
	}
	return s, err
}

// Reindex fills an empty index from the packs alone, and leaves it as tidy as a Run does. What could not be read, packs or
// originals in them, is named in a blob.ErrCorrupt, after all else is in.
func (g *Ingester) Reindex(ctx context.Context) (int, error) {
	n, damaged := g.Adopt(ctx)
	if damaged != nil && !errors.Is(damaged, blob.ErrCorrupt) {
		return n, damaged
	}
	if err := g.Index.Tidy(ctx); err != nil { // not one of what is damaged: that is forgiven
		return n, err
	}
	return n, errors.Join(damaged, g.unreadError())
}

// replay commits what the manifests of packs tell, in name order, which is time order. Packs that another one
// replaces are left out. Versions are read when their turn comes: those of all packs may be millions.
func (g *Ingester) replay(ctx context.Context, packs []blob.Info) (int, error) {
	told, bad, err := g.told(ctx, packs)
	if err != nil {
		return 0, err
	}
	places, err := g.placesIn(ctx, told)
	if err != nil {
		return 0, err
	}
	adopted := 0
	batch := index.Batch{Resolvers: g.resolvers, Prices: g.book}
	commit := func(next int) error {
		if err := g.Index.Commit(ctx, batch); err != nil {
			return fmt.Errorf("adopt pack %s: %w", batch.Packs[0].Name, err)
		}
		batch.Packs, batch.Facts, adopted = nil, nil, next
		g.progress(Progress{Stage: "adopt", Files: int64(adopted), TotalFiles: int64(len(told))})
		return nil
	}
	end := 0 // what the packs of the batch name lies before it
	for i, t := range told {
		if i > end && len(batch.Packs) > 0 {
			if err := commit(i); err != nil {
				return adopted, err
			}
			end = i
		}
		m, err := g.manifest(ctx, t.Name, nil)
		if err != nil {
			return adopted, err
		}
		end = max(end, places.redirect(&m))
		row := index.NewPackRow(&m, t.Size)
		if row.Dead, err = g.leftOut(ctx, &m); err != nil {
			return adopted, err
		}
		batch.Packs = append(batch.Packs, row)
		for _, f := range m.Facts {
			batch.Facts = append(batch.Facts, index.FactRow{Fact: f, Pack: m.Pack})
		}
	}
	if len(batch.Packs) > 0 {
		if err := commit(len(told)); err != nil { // not one of what is bad: that is forgiven
			return adopted, err
		}
	}
	return adopted, bad
}

// told are the packs that no other of them replaces, with what their manifests name; bad are those that cannot be read.
func (g *Ingester) told(ctx context.Context, packs []blob.Info) (told []toldPack, bad, err error) {
	replaced := map[string]bool{}
	for i, info := range packs {
		t := toldPack{Info: info, names: map[string]bool{}}
		m, err := g.manifest(ctx, info.Name, t.look)
		if errors.Is(err, blob.ErrCorrupt) || errors.Is(err, blob.ErrNotFound) {
			bad = errors.Join(bad, fmt.Errorf("%w: %w", blob.ErrCorrupt, err))
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for _, name := range m.Replaces {
			replaced[name] = true
		}
		told = append(told, t)
		g.progress(Progress{Stage: "manifests", Files: int64(i + 1), TotalFiles: int64(len(packs))})
	}
	return slices.DeleteFunc(told, func(t toldPack) bool { return replaced[t.Name] }), bad, nil
}

// leftOut are the versions of which a pack of a gc does not tell any more, as far as the packs that it replaces are still there.
func (g *Ingester) leftOut(ctx context.Context, m *blob.Manifest) (dead []index.VersionKey, err error) {
	told := map[index.VersionKey]bool{}
	if len(m.Replaces) > 0 {
		for i := range m.Versions {
			told[versionKey(&m.Versions[i])] = true
		}
	}
	for _, name := range m.Replaces {
		_, err := g.manifest(ctx, name, func(v *blob.Version) bool {
			if k := versionKey(v); !told[k] {
				dead = append(dead, k)
			}
			return false
		})
		if err != nil && !errors.Is(err, blob.ErrNotFound) && !errors.Is(err, blob.ErrCorrupt) {
			return nil, err
		}
	}
	return dead, nil
}

// manifest reads what a pack tells, of the versions that keep wants: nil is all.
func (g *Ingester) manifest(ctx context.Context, name string, keep pack.Filter) (blob.Manifest, error) {
	r, err := pack.Read(ctx, g.Packs, name, keep)
	if err != nil {
		return blob.Manifest{}, err
	}
	return r.Manifest(), nil
}

// parseWanted parses versions from their packs whose rows the index lacks: adopted ones, those of an older parser,
// those that came to count after a copy of theirs had been left out, and those with more rows than a scan holds. report, if any, counts them.
func (g *Ingester) parseWanted(ctx context.Context, report *Report) error {
	const rounds = 4 // a commit may bring a copy to count; it settles at once in practice
	for range rounds {
		var wanted []index.Unparsed
		for p, err := range g.Index.Unparsed(ctx, g.parsers()) {
			if err != nil {
				return err
			}
			wanted = append(wanted, p)
		}
		if len(wanted) == 0 {
			return nil
		}
		slices.SortFunc(wanted, byPlace)
		if err := g.parseAll(ctx, wanted, report); err != nil {
			return err
		}
	}
	return nil
}

// byPlace puts versions in the order in which packs hold them, so that no member of small files is inflated for each of
// them. It is nearly the order of time, too.
func byPlace(a, b index.Unparsed) int {
	return cmp.Or(cmp.Compare(a.Pack, b.Pack), cmp.Compare(a.Raw, b.Raw), cmp.Compare(a.Version, b.Version))
}

// statesAtOnce is of how many versions everything is known at a time.
const statesAtOnce = 1 << 11

// parseAll parses versions on all cores and commits their rows in batches.
func (g *Ingester) parseAll(ctx context.Context, wanted []index.Unparsed, report *Report) error {
	sources, err := g.provenances(ctx)
	if err != nil {
		return err
	}
	losses, err := g.losses(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	states, parsed := make(chan index.State), make(chan *index.Parsed, 1) // no more: a stretch of a large original is many megabytes
	var readers, writer sync.WaitGroup
	var lexicon index.Lexicon
	whole := newWholes() // which of them are, nobody says here
	for range workers() {
		readers.Go(func() {
			c := index.NewCollector(&lexicon)
			for s := range states {
				release, err := whole.hold(ctx, s.Size)
				if err == nil {
					err = g.parseStored(ctx, c, s, losses.Of(&s.Version), sources[s.Source], parsed)
					release()
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	writer.Go(func() {
		if err := g.commitParsed(ctx, parsed, int64(len(wanted)), report); err != nil {
			cancel(err)
		}
	})
	for some := range slices.Chunk(wanted, statesAtOnce) {
		all, err := g.statesOf(ctx, some)
		if err != nil {
			cancel(err)
			break
		}
		for _, s := range all {
			select {
			case states <- s:
			case <-ctx.Done():
			}
		}
	}
	close(states)
	readers.Wait()
	close(parsed)
	writer.Wait()
	return context.Cause(ctx)
}

// statesOf reads all at once: nobody goes on reading while a reader is waited for. What could not be read before is left out.
func (g *Ingester) statesOf(ctx context.Context, some []index.Unparsed) (all []index.State, err error) {
	for s, err := range g.Index.StatesOf(ctx, some) {
		if err != nil {
			return nil, err
		}
		if !g.isUnread(&s) {
			all = append(all, s)
		}
	}
	return all, nil
}

// stretch is how much memory the rows of one version take before they are handed on.
const stretch = 16 << 20

func (g *Ingester) parseStored(ctx context.Context, c *index.Collector, s index.State, lost []blob.Loss, of provenance, out chan<- *index.Parsed) error {
	var left *remains
	if !whole(s.Extents, s.Size) {
		if left = g.remain(ctx, &s, lost); left == nil {
			return g.unreadable(ctx, s, fmt.Errorf("bytes of it are in no pack: %w", blob.ErrNotFound))
		}
	}
	f := g.format(s.Format)
	from := s.Parsed
	if s.Reparse || s.Parser != 0 {
		from = 0
	}
	c.Reset(index.Subject{
		VersionKey: index.VersionKey{Source: s.Source, Path: s.Path, Number: s.Number}, Format: s.Format, Role: s.Role,
		Parser: f.Version(), Claim: s.Claim, Size: s.Size, SHA256: s.SHA256, From: from, ModTime: s.ModTime.UnixMicro(), Host: of.host,
	})
	send := func(p *index.Parsed) error {
		select {
		case out <- p:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	in := inputOf(&s.Version, of.dir, g.Originals.Reader(ctx, s.Extents))
	records := f.Parse(in)
	if left != nil {
		in.Reader = left.read
		records = left.whole(f.Parse(in))
	}
	if left != nil && (g.isDatabase(f, s.Role) || len(s.Extents) == 0) { // SQLite reads no half of a database
		for _, p := range left.problems() {
			c.Add(p)
		}
		return send(c.Take(true))
	}
	look := func() error {
		if c.Size() < stretch {
			return nil
		}
		return send(c.Take(false))
	}
	take := func(record transcript.Record) error { return c.AddInChunks(record, look) }
	var err error
	if g.isDatabase(f, s.Role) {
		err = parseDatabase(ctx, f, in, take)
	} else {
		err = takeAll(records, take)
	}
	if err != nil {
		return g.unreadable(ctx, s, err)
	}
	return send(c.Take(true))
}

// whole says whether extents give a content from its start to its end.
func whole(extents []blob.Extent, size int64) bool {
	end := int64(0)
	for _, e := range extents {
		if e.Offset != end {
			return false
		}
		end += e.Size
	}
	return end >= size
}

// unreadable leaves a version unparsed whose bytes are damaged or gone: verify names them.
func (g *Ingester) unreadable(ctx context.Context, s index.State, err error) error {
	if !errors.Is(err, blob.ErrCorrupt) && !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	g.Log.WarnContext(ctx, "stored original cannot be read", "path", s.Source+"/"+s.Path, "err", err)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.unread == nil {
		g.unread = map[index.VersionKey]error{}
	}
	g.unread[versionKey(&s.Version)] = err
	return nil
}

func (g *Ingester) isUnread(s *index.State) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unread[versionKey(&s.Version)] != nil
}

// unreadError is about the originals that could not be read: how many, and where it is that packs are damaged. It is a
// blob.ErrCorrupt, nil when there are none.
func (g *Ingester) unreadError() error {
	if len(g.unread) == 0 {
		return nil
	}
	reasons := map[string]bool{}
	for _, err := range g.unread {
		reasons[err.Error()] = true
	}
	return fmt.Errorf("%w: stored originals that cannot be read: %d; %s", blob.ErrCorrupt, len(g.unread), strings.Join(sortedKeys(reasons), "; "))
}

// isDatabase says whether the originals of a role are read through their rows.
func (g *Ingester) isDatabase(f format.Format, role string) bool {
	e, ok := f.(format.Exporter)
	return ok && len(e.Export(role)) > 0
}

// commitParsed gathers rows into transactions.
func (g *Ingester) commitParsed(ctx context.Context, in <-chan *index.Parsed, total int64, report *Report) error {
	var rows []*index.Parsed
	size, words, done := 0, 0, int64(0)
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		err := g.Index.Commit(ctx, index.Batch{Parsed: rows, Resolvers: g.resolvers, Prices: g.book})
		rows, size, words = nil, 0, 0
		return err
	}
	var failed error
	for p := range in {
		if failed != nil {
			continue
		}
		rows = append(rows, p)
		if report != nil {
			report.count(p)
		}
		size, words = size+p.Bytes+versionRows, words+p.Held
		if size >= batchRows || words >= batchHeld {
			failed = flush()
		}
		if p.Last {
			done++
			g.progress(Progress{Stage: "parse", Path: p.Path, Files: done, TotalFiles: total})
		}
	}
	if failed == nil && ctx.Err() == nil {
		failed = flush()
	}
	return failed
}
