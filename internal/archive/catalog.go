package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// catalog is what the manifests of all packs say together, without any index: of the originals of a span all, of the
// others only which contents stand where. A version takes half a kilobyte of memory, so there are no more than limit
// of them: where there are more, the span ends, and the next catalog begins.
type catalog struct {
	span     atomic.Pointer[blob.Span] // manifests are read by several goroutines
	limit    int
	packs    map[string]*catalogPack
	versions map[blob.Chain]*catalogVersion
	stock    pack.ContentIndex // of the packs that are listed
	graves   blob.Tombstones
	losses   blob.Losses
	diggers  map[string]bool   // packs that tell of tombstones and their retractions
	strings  map[string]string // one copy of each
	again    bool              // a pack was read before the one that replaces it
	until    time.Time         // what was archived later does not count; zero is no limit
}

// catalogPack is a pack that was listed, or that a manifest names.
type catalogPack struct {
	name     string
	size     int64
	listed   bool
	read     bool // its manifest was read
	replaced bool // by another pack, which was read
	stored   pack.Contents
	first    blob.Name // that its manifest tells of
	last     blob.Name
}

type catalogVersion struct {
	blob.Version               // without extents
	said         *catalogPack  // which pack says so
	parts        []catalogPart // sorted by offset after finish
	newest       bool          // after sorted
	seen         bool          // in the index
	compared     bool          // with the index, which has a place for all of it
}

// catalogPart is an extent and whose manifest says so.
type catalogPart struct {
	blob.Extent
	by *catalogPack
}

// noLimit is the until of a catalog of everything.
var noLimit time.Time

// catalogLimit is how many versions a catalog has at most.
const catalogLimit = 1 << 17

func newCatalog(span blob.Span, limit int, until time.Time) *catalog {
	c := &catalog{limit: cmp.Or(limit, catalogLimit), until: until, packs: map[string]*catalogPack{}, versions: map[blob.Chain]*catalogVersion{},
		strings: map[string]string{}, diggers: map[string]bool{}}
	c.span.Store(&span)
	return c
}

// readCatalog reads the manifest of every pack, for the versions that were archived until some time (zero is now).
// Packs that cannot be read go to bad.
func (a *Archive) readCatalog(ctx context.Context, until time.Time, bad func(pack string, err error)) (*catalog, error) {
	c := newCatalog(blob.Span{}, a.opts.CatalogLimit, until)
	infos, err := a.list(ctx)
	if err != nil {
		return nil, err
	}
	return c, a.load(ctx, c, infos, a.manifest, bad)
}

// advance makes c a catalog of the originals behind its span, unless there are no more. Packs may have come and gone meanwhile.
func (a *Archive) advance(ctx context.Context, c *catalog, bad func(pack string, err error)) (more bool, err error) {
	span, more := c.span.Load().Next()
	if !more {
		return false, nil
	}
	c.span.Store(&span)
	clear(c.versions)
	infos, err := a.list(ctx)
	if err != nil {
		return false, err
	}
	for _, p := range c.packs {
		p.listed = false
	}
	for _, info := range infos {
		c.pack(info.Name).listed = true
	}
	infos = slices.DeleteFunc(infos, func(info blob.Info) bool { p := c.packs[info.Name]; return p.read && !span.Meets(p.first, p.last) })
	known := map[string]bool{}
	for _, info := range infos {
		known[info.Name] = c.packs[info.Name].read
	}
	return true, a.load(ctx, c, infos, func(ctx context.Context, info blob.Info, of func(blob.Name) bool) (*pack.Reader, error) {
		if known[info.Name] {
			return a.versions(ctx, info, of)
		}
		return a.manifest(ctx, info, of)
	}, bad)
}

func (a *Archive) list(ctx context.Context) ([]blob.Info, error) {
	var infos []blob.Info
	for info, err := range a.packs.List(ctx) {
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// manifest reads the manifest of a pack with the versions of some originals (nil: of all), and nothing else. One that is whole under a trailer or a
// name that is not will do.
func (a *Archive) manifest(ctx context.Context, info blob.Info, of func(blob.Name) bool) (*pack.Reader, error) {
	return a.reading(ctx, info, func(p blob.Pack) (*pack.Reader, error) { return pack.OpenSome(ctx, p, "", keeping(of)) })
}

// versions reads only these versions, of a pack of which the rest is known.
func (a *Archive) versions(ctx context.Context, info blob.Info, of func(blob.Name) bool) (*pack.Reader, error) {
	return a.reading(ctx, info, func(p blob.Pack) (*pack.Reader, error) { return pack.OpenOf(ctx, p, "", of) })
}

func keeping(of func(blob.Name) bool) pack.Filter {
	return func(v *blob.Version) bool { return of == nil || of(v.Name()) }
}

func (a *Archive) reading(ctx context.Context, info blob.Info, read func(blob.Pack) (*pack.Reader, error)) (r *pack.Reader, err error) {
	p, err := a.packs.Open(ctx, info.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	r, err = read(p)
	switch {
	case errors.Is(err, blob.ErrTooNew):
		return nil, fmt.Errorf("%w: %w", ErrTooNew, err)
	case err != nil:
		return nil, fmt.Errorf("pack %s: %w", info.Name, err)
	}
	return r, nil
}

// manifestFunc reads what a pack says of itself, with the versions of some originals.
type manifestFunc func(ctx context.Context, info blob.Info, of func(blob.Name) bool) (*pack.Reader, error)

// load adds packs to the catalog by what read makes of each: several are read at a time, and they are added newest
// first, because then a pack that replaces others mostly comes before them. Packs that vanished are left out, those
// that cannot be read go to bad; other errors end it.
func (a *Archive) load(ctx context.Context, c *catalog, infos []blob.Info, read manifestFunc, bad func(pack string, err error)) error {
	if err := c.load(ctx, infos, read, bad); err != nil || !c.again {
		return err
	}
	// Clocks that differ: once more, now that it is known what was replaced.
	fresh := newCatalog(blob.Span{After: c.span.Load().After}, c.limit, c.until)
	again := make([]blob.Info, 0, len(c.packs))
	for name, p := range c.packs {
		fresh.packs[name] = &catalogPack{name: name, replaced: p.replaced}
		if p.listed {
			again = append(again, blob.Info{Name: name, Size: p.size})
		}
	}
	slices.SortFunc(again, func(a, b blob.Info) int { return cmp.Compare(a.Name, b.Name) })
	c.span.Store(fresh.span.Load())
	c.packs, c.versions, c.strings, c.again = fresh.packs, fresh.versions, fresh.strings, false
	c.graves, c.losses, c.diggers = fresh.graves, fresh.losses, fresh.diggers
	return c.load(ctx, again, a.manifest, func(string, error) {})
}

func (c *catalog) load(ctx context.Context, infos []blob.Info, read manifestFunc, bad func(pack string, err error)) error {
	type result struct {
		info blob.Info
		r    *pack.Reader
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan chan result, runtime.GOMAXPROCS(0)-1) // and one that is waited for
	go func() {
		defer close(results)
		for _, info := range slices.Backward(infos) {
			one := make(chan result, 1)
			select {
			case results <- one:
			case <-ctx.Done():
				return
			}
			go func() {
				r, err := read(ctx, info, func(n blob.Name) bool { return c.span.Load().Has(n) })
				one <- result{info, r, err}
			}()
		}
	}()
	for one := range results {
		r := <-one
		p := c.pack(r.info.Name)
		p.listed, p.size = true, r.info.Size
		switch {
		case r.err == nil:
			c.add(p, r.r)
		case errors.Is(r.err, blob.ErrNotFound):
			p.listed = false // gc, meanwhile
		case errors.Is(r.err, blob.ErrCorrupt), errors.Is(r.err, ErrTooNew):
			bad(r.info.Name, r.err)
		default:
			return r.err
		}
	}
	c.stock = pack.ContentIndex{}
	for name, p := range c.packs {
		if p.listed {
			c.stock.Add(name, p.stored)
		}
	}
	c.finish()
	return ctx.Err()
}

func (c *catalog) pack(name string) *catalogPack {
	p := c.packs[name]
	if p == nil {
		p = &catalogPack{name: name}
		c.packs[name] = p
	}
	return p
}

// add takes a manifest in. What a replaced pack stores can still be read, but what it says is out of date.
func (c *catalog) add(p *catalogPack, r *pack.Reader) {
	m := r.Manifest()
	if !p.read {
		c.read(p, r)
	}
	for i := range m.Versions {
		c.version(p, m.Versions[i], m.Created)
	}
	if limit := c.graves.VersionBudget(c.limit); len(c.versions) > limit {
		c.shrink(limit)
	}
}

// read takes in what a manifest says but for its versions.
func (c *catalog) read(p *catalogPack, r *pack.Reader) {
	m := r.Manifest()
	p.read, p.stored = true, r.Stored()
	p.first, p.last = r.Names()
	for _, name := range m.Replaces {
		old := c.pack(name)
		c.again = c.again || old.read && !old.replaced
		old.replaced = true
	}
	for _, f := range m.Facts {
		c.graves.Add(f, p.name)
		c.losses.Add(f, p.name)
		if f.Kind == blob.FactTombstone {
			c.diggers[p.name] = true
		}
	}
}

// shrink ends the span so that a good part of the versions is behind it: those of one file stay together.
func (c *catalog) shrink(limit int) {
	span := c.span.Load().Cut(maps.Keys(c.versions), limit)
	c.span.Store(&span)
	maps.DeleteFunc(c.versions, func(key blob.Chain, _ *catalogVersion) bool { return !span.Has(key.Name) })
}

// version takes in what a pack of some time says of one.
func (c *catalog) version(p *catalogPack, v blob.Version, created time.Time) {
	if p.replaced || !c.span.Load().Has(v.Name()) || !c.until.IsZero() && !v.At(c.until, created) {
		return
	}
	v.Archived = v.State(created).Archived
	v.Source = c.intern(v.Source)
	key := v.Chain()
	have := c.versions[key]
	if have == nil {
		have = &catalogVersion{}
		c.versions[key] = have
	}
	if have.said == nil || cmp.Or(cmp.Compare(v.Size, have.Size), v.Archived.Compare(have.Archived), strings.Compare(p.name, have.said.name)) > 0 {
		have.Version, have.said = v, p
		have.Path, have.Extents, have.Earlier = key.Path, nil, nil
		have.Format, have.Role, have.Claim = c.intern(v.Format), c.intern(v.Role), c.intern(v.Claim)
	}
	for _, e := range v.Extents {
		if e.CopyOf != nil {
			e.CopyOf.Pack = c.intern(e.CopyOf.Pack)
		}
		have.parts = append(have.parts, catalogPart{e, p})
	}
}

func (c *catalog) intern(s string) string {
	if have, ok := c.strings[s]; ok {
		return have
	}
	c.strings[s] = s
	return s
}

// buried says that a version was pruned.
func (c *catalog) buried(v *catalogVersion) bool {
	_, yes := c.graves.Of(&v.Version)
	return yes
}

// finish sorts the extents of each version. Of two at one offset the longer one stays: an empty start that has
// grown, or pieces that gc has joined. Of what is lost in part the pieces stay, not the whole that is nowhere.
func (c *catalog) finish() {
	for _, v := range c.versions {
		if losses := c.losses.Of(&v.Version); len(losses) > 0 {
			v.parts = slices.DeleteFunc(v.parts, func(p catalogPart) bool {
				_, ok := c.find(&p)
				return !ok && blob.Touches(losses, p.Offset, p.Size)
			})
		}
		slices.SortStableFunc(v.parts, func(a, b catalogPart) int { return a.Compare(&b.Extent) })
		end := int64(0)
		v.parts = slices.DeleteFunc(v.parts, func(p catalogPart) bool {
			if p.Offset < end || p.Size == 0 && v.Size > 0 {
				return true
			}
			end = p.Offset + p.Size
			return false
		})
	}
}

// said is where the manifest says that the bytes stand.
func (p *catalogPart) said() blob.Copy { return p.Place(p.by.name) }

// find returns where the bytes of a part stand: where its manifest says, else where the same bytes stand now.
func (c *catalog) find(p *catalogPart) (blob.Copy, bool) {
	return c.stock.Find(p.said(), p.Size, p.SHA256)
}

// placedVersion is a version and where its parts stand. It is read while the catalog goes on to other originals, by somebody else.
type placedVersion struct {
	*catalogVersion
	at     []blob.Copy // of its parts; the zero one is nowhere
	losses []blob.Loss
}

// place finds the parts of a version.
func (c *catalog) place(v *catalogVersion) *placedVersion {
	placed := &placedVersion{v, make([]blob.Copy, len(v.parts)), c.losses.Of(&v.Version)}
	for i := range v.parts {
		placed.at[i], _ = c.find(&v.parts[i])
	}
	return placed
}

// extents returns where a stretch of a version lies that begins with an extent, for a Library: the last may reach further
// than the version does, which was a state of something that has grown since. ErrNotFound names the pack that is missing.
func (v *placedVersion) extents(from, to int64) ([]blob.Extent, error) {
	var extents []blob.Extent
	end := from
	for i := range v.parts {
		p, at := &v.parts[i], &v.at[i]
		if p.Offset < from {
			continue
		}
		if end >= to && end > 0 {
			break
		}
		if p.Offset != end {
			return nil, v.gap(end, min(p.Offset, to))
		}
		if at.Pack == "" {
			return nil, fmt.Errorf("%d bytes at %d of %s/%s version %d stood in pack %s: %w",
				p.Size, p.Offset, v.Source, v.Path, v.Number, p.said().Pack, blob.ErrNotFound)
		}
		extents = append(extents, blob.Extent{Offset: p.Offset, Size: p.Size, SHA256: p.SHA256, CopyOf: at})
		end += p.Size
	}
	if end < to {
		return nil, v.gap(end, to)
	}
	return extents, nil
}

// gap is the error for bytes that no pack has.
func (v *placedVersion) gap(from, to int64) error {
	if blob.Covers(v.losses, from, to-from) {
		return lostError(&v.losses[0])
	}
	return fmt.Errorf("no pack has %s/%s version %d from %d on: %w", v.Source, v.Path, v.Number, from, blob.ErrNotFound)
}

// lostError says which bytes are lost for good.
func lostError(l *blob.Loss) error {
	return fmt.Errorf("%d bytes at %d, since %s: %w", l.Size, l.Offset, l.Since.UTC().Format(time.DateOnly), blob.ErrLost)
}
