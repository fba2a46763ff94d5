package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/collect"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/ingest/damaged"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// losses returns the bytes that repairs have recorded as lost.
func (g *Ingester) losses(ctx context.Context) (*blob.Losses, error) {
	var all blob.Losses
	for f, err := range g.Index.Facts(ctx, blob.FactLost) {
		if err != nil {
			return nil, err
		}
		all.Add(f, "")
	}
	return &all, nil
}

// parsePending parses, from their packs, the versions whose rows the index lacks: adopted ones, those of an older parser,
// those that count now because another copy was removed, and those with too many rows for a scan. report, if any, counts them.
func (g *Ingester) parsePending(ctx context.Context, report *Report) error {
	const rounds = 4 // a commit may make another copy count; in practice one more round settles it
	for range rounds {
		var pending []index.Placed
		for p, err := range g.Index.Unparsed(ctx, g.parserVersions()) {
			if err != nil {
				return err
			}
			pending = append(pending, p)
		}
		if len(pending) == 0 {
			return nil
		}
		slices.SortFunc(pending, byPackPosition)
		if err := g.parseVersions(ctx, pending, report); err != nil {
			return err
		}
	}
	return nil
}

// byPackPosition orders versions as the packs hold them, so that a member that many small files share is not inflated once for each of
// them. It is nearly the order of time, too.
func byPackPosition(a, b index.Placed) int {
	return cmp.Or(cmp.Compare(a.Pack, b.Pack), cmp.Compare(a.Raw, b.Raw), cmp.Compare(a.Version, b.Version))
}

// statesPerRead is how many versions are loaded from the index at a time.
const statesPerRead = 1 << 11

// parseVersions parses versions on all cores and commits their rows in batches.
func (g *Ingester) parseVersions(ctx context.Context, versions []index.Placed, report *Report) error {
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
	states, parsed := make(chan index.State), make(chan *index.Parsed, 1) // no larger buffer: a chunk of a large original has many megabytes
	var readers, writer sync.WaitGroup
	var terms lexicon.Lexicon
	budget := newDocumentBudget() // for all originals: which ones are documents is not known here
	for range workers() {
		readers.Go(func() {
			c := g.newCollector(&terms)
			for s := range states {
				release, err := budget.acquire(ctx, s.Size)
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
		if err := g.commitParsed(ctx, parsed, int64(len(versions)), report); err != nil {
			cancel(err)
		}
	})
	for some := range slices.Chunk(versions, statesPerRead) {
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

// statesOf loads a chunk of versions completely, so that no read of the index is open while a parser is waited for. It leaves out originals that
// could not be read before.
func (g *Ingester) statesOf(ctx context.Context, some []index.Placed) (all []index.State, err error) {
	for s, err := range g.Index.StatesOf(ctx, some) {
		if err != nil {
			return nil, err
		}
		if !g.isUnreadable(&s) {
			all = append(all, s)
		}
	}
	return all, nil
}

// chunkRowBytes is the memory that the rows of a version may take before they are sent on.
const chunkRowBytes = 16 << 20

// parseStored parses a stored version from its packs and sends its rows to out in chunks. Of a version with lost bytes it parses the
// rest.
func (g *Ingester) parseStored(ctx context.Context, c *collect.Collector, s index.State, lost []blob.Loss, of provenance, out chan<- *index.Parsed) error {
	var remains *damaged.Original
	if !isComplete(s.Extents, s.Size) {
		read := func(extents []blob.Extent) io.Reader { return g.Originals.Reader(ctx, extents) }
		if remains = damaged.Open(s.Size, s.Extents, lost, read); remains == nil {
			return g.noteUnreadable(ctx, s, fmt.Errorf("some of its bytes are in no pack: %w", blob.ErrNotFound))
		}
	}
	if s.Apart {
		if err := g.checkApart(ctx, &s); err != nil {
			return g.noteUnreadable(ctx, s, err)
		}
	}
	f := g.formatNamed(s.Format)
	from, err := g.firstNewRecord(ctx, &s, remains != nil)
	if err != nil {
		return g.noteUnreadable(ctx, s, err)
	}
	c.Reset(index.Subject{
		VersionKey: index.KeyOf(&s.Version), Format: s.Format, Role: s.Role,
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
	flush := func() error {
		if c.Size() < chunkRowBytes {
			return nil
		}
		return send(c.Take(false))
	}
	add := func(record transcript.Record) error { return c.AddInChunks(record, flush) }
	in := inputOf(&s.Version, of.dir, g.Originals.Reader(ctx, s.Extents))
	database := g.isDatabase(f, s.Role)
	switch {
	case remains != nil && (database || len(s.Extents) == 0): // SQLite cannot read an incomplete database
		for _, p := range remains.Problems() {
			c.Add(p)
		}
	case remains != nil:
		in.Reader = remains.Reader
		err = eachRecord(remains.Filter(format.Records(f, in)), add)
	case database:
		err = parseDatabase(ctx, f, in, add)
	default:
		err = eachRecord(format.Records(f, in), add)
	}
	if err != nil {
		return g.noteUnreadable(ctx, s, err)
	}
	return send(c.Take(true))
}

// firstNewRecord returns the offset from which a stored version is parsed.
func (g *Ingester) firstNewRecord(ctx context.Context, s *index.State, damaged bool) (int64, error) {
	switch {
	case s.Reparse, s.Parser != 0:
		return 0, nil
	case s.Parsed > 0 && !damaged:
		return g.resumeStored(ctx, s)
	}
	return s.Parsed, nil
}

// Outdated returns how many stored versions were parsed by another version of their parser. Adopt parses them again.
func (g *Ingester) Outdated(ctx context.Context) (n int64, err error) {
	parsers := g.parserVersions()
	for s, err := range g.Index.ToReparse(ctx, parsers) {
		if err != nil {
			return 0, err
		}
		if s.Parser != 0 && parsers[s.Format] != 0 && s.Parser != parsers[s.Format] {
			n++
		}
	}
	return n, nil
}

// Unfinished returns how many packs and stored versions are in an index that was just built from all packs, and not in g.Index. An
// interrupted command has left them, or they came from another machine, and Adopt takes them over.
func (g *Ingester) Unfinished(ctx context.Context, built Index) (packs, versions int64, err error) {
	known := map[string]bool{}
	for _, names := range []iter.Seq2[string, error]{g.Index.Packs(ctx), g.Index.Replaced(ctx)} {
		for name, err := range names {
			if err != nil {
				return 0, 0, err
			}
			known[name] = true
		}
	}
	for name, err := range built.Packs(ctx) {
		if err != nil {
			return 0, 0, err
		}
		if !known[name] {
			packs++
		}
	}
	here, err := g.unparsed(ctx, g.Index)
	if err != nil {
		return 0, 0, err
	}
	there, err := g.unparsed(ctx, built) // what cannot be read is in neither
	return packs, max(0, here-there), err
}

// unparsed returns how many versions of an index are to be parsed.
func (g *Ingester) unparsed(ctx context.Context, x Index) (n int64, err error) {
	for _, err := range x.Unparsed(ctx, g.parserVersions()) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// isComplete reports whether extents cover the first size bytes of a content without a gap.
func isComplete(extents []blob.Extent, size int64) bool {
	end := int64(0)
	for _, e := range extents {
		if end >= size || e.Offset > end {
			break
		}
		end = max(end, e.Offset+e.Size)
	}
	return end >= size
}

// checkApart checks that the extents of a version that copies of the archive have archived apart are of one content.
func (g *Ingester) checkApart(ctx context.Context, s *index.State) error {
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(g.Originals.Reader(ctx, s.Extents), s.Size)); err != nil {
		return err
	}
	if blob.Ref(h.Sum(nil)) != s.SHA256 {
		return fmt.Errorf("two copies of the archive have grown it differently: %w", blob.ErrCorrupt)
	}
	return nil
}

// noteUnreadable records that a version stays unparsed because its bytes are damaged or missing; verify names them. It returns any other error.
func (g *Ingester) noteUnreadable(ctx context.Context, s index.State, err error) error {
	if !errors.Is(err, blob.ErrCorrupt) && !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	g.Log.WarnContext(ctx, "stored original cannot be read", "path", s.Source+"/"+s.Path, "err", err)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.unreadable == nil {
		g.unreadable = map[index.VersionKey]error{}
	}
	g.unreadable[index.KeyOf(&s.Version)] = err
	return nil
}

func (g *Ingester) isUnreadable(s *index.State) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unreadable[index.KeyOf(&s.Version)] != nil
}

// unreadableError returns a blob.ErrCorrupt with the number of originals that could not be read and the reasons, nil if there are
// none.
func (g *Ingester) unreadableError() error {
	if len(g.unreadable) == 0 {
		return nil
	}
	reasons := map[string]bool{}
	for _, err := range g.unreadable {
		reasons[err.Error()] = true
	}
	return fmt.Errorf("%w: stored originals that cannot be read: %d; %s", blob.ErrCorrupt, len(g.unreadable), strings.Join(slices.Sorted(maps.Keys(reasons)), "; "))
}

// isDatabase reports whether originals of a role are databases, which are parsed through their rows.
func (g *Ingester) isDatabase(f format.Format, role string) bool {
	e, ok := f.(format.Exporter)
	return ok && len(e.Export(role)) > 0
}

// commitRows commits rows, with what resolves and prices them.
func (g *Ingester) commitRows(ctx context.Context, rows index.Batch) error {
	rows.Resolvers, rows.Prices = g.resolverOf, g.book
	return g.Index.Commit(ctx, rows)
}

// commitParsed commits rows in batches. After an error it drains the channel.
func (g *Ingester) commitParsed(ctx context.Context, in <-chan *index.Parsed, total int64, report *Report) error {
	var rows []*index.Parsed
	size, held, done := 0, 0, int64(0)
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		err := g.commitRows(ctx, index.Batch{Parsed: rows})
		rows, size, held = nil, 0, 0
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
		size, held = size+p.Bytes+versionOverhead, held+p.Held
		if size >= batchRowBytes || held >= batchHeldBytes {
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
