package ingest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
)

// claimsKey is the key under which the index remembers the formats that were last asked about all that is stored.
const claimsKey = "formats that claimed what is stored"

// reclaim asks the formats what the stored files are, for they are not those that were asked last: a release may know a file that was of no format, or know it as
// another's. It reads the packs, for sources may be gone. The new claims are written as new metadata is; parsePending parses by them. A file that
// formats split is left to the scan, which reads it again.
func (g *Ingester) reclaim(ctx context.Context, report *Report) error {
	r := &reclaimer{g: g, apart: Apart(g.Formats), sources: map[string]*storedSource{}}
	if err := r.askAll(ctx); err != nil {
		return err
	}
	slices.SortFunc(r.failed, func(a, b FileError) int { return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Path, b.Path)) })
	report.Problems = append(report.Problems, r.failed...)
	return r.restate(ctx, report)
}

// reclaimer is a run of reclaim.
type reclaimer struct {
	g       *Ingester
	apart   func(blob.Version) bool
	sources map[string]*storedSource
	mu      sync.Mutex
	asked   []examined
	failed  []FileError // bugs of formats
}

// storedSource is a source of stored files.
type storedSource struct {
	dir     string // see provenance
	classes classTable
	roots   []string // of formats, sorted
	split   []uint64 // hashes of the paths of files that formats split
}

// examined is a version that the formats were asked about. There may be a million.
type examined struct {
	index.Placed
	class uint32 // of its source
}

// askAll asks the formats about all versions.
func (r *reclaimer) askAll(ctx context.Context) error {
	var versions []index.Placed
	for p, err := range r.g.Index.AllVersions(ctx) {
		if err != nil {
			return err
		}
		versions = append(versions, p)
	}
	if len(versions) == 0 {
		return nil
	}
	slices.SortFunc(versions, byPackPosition)
	all, err := r.g.provenances(ctx)
	if err != nil {
		return err
	}
	for name, of := range all {
		r.sources[name] = &storedSource{dir: of.dir}
	}
	for done := 0; done < len(versions); done += statesPerRead {
		some := versions[done:min(done+statesPerRead, len(versions))]
		if err := r.askSome(ctx, some); err != nil {
			return err
		}
		r.g.progress(Progress{Stage: "detect", Files: int64(done + len(some)), TotalFiles: int64(len(versions))})
	}
	slices.SortFunc(r.asked, func(a, b examined) int { return byPackPosition(a.Placed, b.Placed) })
	return nil
}

// askSome asks the formats about some versions, on all cores.
func (r *reclaimer) askSome(ctx context.Context, versions []index.Placed) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var states []index.State
	for s, err := range r.g.Index.StatesOf(ctx, versions) {
		if err != nil {
			return err
		}
		states = append(states, s)
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers() {
		wait.Go(func() {
			head := make([]byte, format.HeadSize)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(states) {
					return
				}
				if err := r.ask(ctx, versions[i], &states[i], head); err != nil {
					cancel(err)
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// ask asks the formats about a version. Nothing that it cannot read is asked about, nor what never was a file.
func (r *reclaimer) ask(ctx context.Context, p index.Placed, s *index.State, head []byte) error {
	size := min(s.Size, format.HeadSize)
	if r.apart(s.Version) || isCredential(s.Path) || !isComplete(s.Extents, size) {
		return nil
	}
	_, err := io.ReadFull(r.g.Originals.Reader(ctx, s.Extents), head[:size])
	if errors.Is(err, blob.ErrCorrupt) || errors.Is(err, blob.ErrNotFound) {
		return nil // verify names it
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	src := r.sources[s.Source]
	if src == nil {
		src = &storedSource{}
		r.sources[s.Source] = src
	}
	r.mu.Unlock()
	h := headOf(src.dir, s.Path)
	h.Size, h.Bytes = s.Size, head[:size]
	c, bug := r.g.ask(h)
	r.mu.Lock()
	defer r.mu.Unlock()
	if bug != nil {
		r.failed = append(r.failed, fileError(s.Source, s.Path, "detect", bug))
	}
	switch {
	case c.claim.Skip, c.failed && s.Format != "", c.format == nil && s.Format != "": // a claim that no format makes any more may be all that is known of a run
	case splitsOf(&claimed{nil, &c}) != nil, c.format == nil && isZip(s.Path):
		src.split = append(src.split, pathHash(s.Path))
	default:
		r.asked = append(r.asked, examined{p, src.classes.intern(c)})
	}
	return nil
}

// reclaimedPerPack is how many new claims a pack states: they take some megabytes.
const reclaimedPerPack = 1 << 13

// restate writes the claims that differ from those when the files were archived, and the new roots.
func (r *reclaimer) restate(ctx context.Context, report *Report) error {
	facts, err := r.findRoots(ctx)
	if err != nil {
		return err
	}
	write := func(c *batch) error {
		if err := r.g.writeManifest(ctx, c); err != nil {
			return err
		}
		report.Packs++
		report.StoredBytes += c.pack.Size
		return nil
	}
	c := &batch{facts: facts}
	for some := range slices.Chunk(r.asked, statesPerRead) {
		versions := make([]index.Placed, len(some))
		for i := range some {
			versions[i] = some[i].Placed
		}
		i := 0
		for s, err := range r.g.Index.StatesOf(ctx, versions) {
			if err != nil {
				return err
			}
			if v, differs := r.restated(&s, some[i].class); differs {
				c.versions = append(c.versions, v)
			}
			i++
		}
		if len(c.versions) >= reclaimedPerPack {
			if err := write(c); err != nil {
				return err
			}
			c = &batch{}
		}
	}
	if len(c.versions) == 0 && len(c.facts) == 0 {
		return nil
	}
	return write(c)
}

// findRoots adds the roots that the claims make to those of the sources, and has the scan read the files again that formats split. It returns a fact for each new
// root.
func (r *reclaimer) findRoots(ctx context.Context) (facts []blob.Fact, err error) {
	for name, src := range r.sources {
		known, err := r.g.knownRoots(ctx, name)
		if err != nil {
			return nil, err
		}
		owners := src.classes.ownedRoots()
		var fresh []string
		src.roots, fresh = mergeRoots(known, owners)
		for _, root := range fresh {
			facts = append(facts, r.g.rootFact(name, root, owners[root]))
		}
		if len(src.split) > 0 {
			if err := r.g.Index.SaveStats(ctx, name, nil, src.split); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(facts, func(a, b blob.Fact) int { return cmp.Compare(a.Key, b.Key) })
	return facts, nil
}

// restated returns a version with its class, and whether it is another than before.
func (r *reclaimer) restated(s *index.State, number uint32) (blob.Version, bool) {
	src := r.sources[s.Source]
	c, v := src.classes.get(number), s.Version
	below := deepestRoot(s.Path, src.roots)
	v.Extents, v.Claim = nil, below
	if c.format != nil {
		v.Format, v.Role, v.Claim = c.format.Name(), c.claim.Role, cmp.Or(c.claim.Root, below)
	}
	return v, v.Format != s.Format || v.Role != s.Role || v.Claim != s.Claim
}
