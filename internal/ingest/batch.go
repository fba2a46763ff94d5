package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

const (
	batchRaw  = 48 << 20      // raw bytes that a pack holds, roughly
	batchRows = 19 << 20      // memory of the rows and other records that one transaction takes, roughly
	batchHeld = 2 * batchRows // with their words, which are less than the rows but for texts that hardly say a word twice
	batchTime = 2 * time.Second
	// versionRows is the memory that a version takes besides its rows, roughly: itself, its line in the manifest.
	versionRows = 1000
)

// batcher puts deliveries into packs. A batch is one pack and one transaction; while one is committed the next is
// gathered.
type batcher struct {
	g       *Ingester
	ctx     context.Context
	commits chan<- *batch
	current *batch
	links   *pack.Builder
	waiting []*piece // copies of content that is still on its way
}

// batch is one pack in the making, and then its transaction.
type batch struct {
	writer   *pack.Writer
	began    time.Time
	versions []blob.Version
	facts    []blob.Fact
	pieces   []*piece
	placed   map[blob.Ref]int // content that this pack holds: index in versions
	raw      int64
	rows     int
	held     int   // memory of rows and of their words
	room     int64 // that its deliveries have taken of the load
	pack     *index.PackRow
}

func newBatcher(ctx context.Context, g *Ingester, commits chan<- *batch) *batcher {
	return &batcher{g: g, ctx: ctx, commits: commits, links: pack.NewBuilder(pack.Options{})}
}

func (b *batcher) begin() error {
	if b.current != nil {
		return nil
	}
	up, err := b.g.Packs.Create(b.ctx)
	if err != nil {
		return err
	}
	w, err := pack.NewWriter(up, b.g.Writer, b.g.Now(), pack.Options{})
	if err != nil {
		return err
	}
	b.current = &batch{writer: w, began: time.Now(), placed: map[blob.Ref]int{}}
	return nil
}

// add puts one delivery into the pack, and seals it when it is full.
func (b *batcher) add(d delivery) error {
	if err := b.begin(); err != nil {
		return err
	}
	base := int64(0)
	if d.unit != nil {
		var err error
		base, err = b.current.writer.Append(d.unit)
		if errors.Is(err, pack.ErrNameTaken) {
			if err := b.seal(); err != nil {
				return err
			}
			return b.add(d)
		}
		if err != nil {
			return err
		}
	}
	b.current.room += d.room
	for _, p := range d.pieces {
		if p.copy {
			b.waiting = append(b.waiting, p)
			continue
		}
		for i := range p.version.Extents {
			p.version.Extents[i].Raw = base + p.raw
		}
		b.place(p)
	}
	if err := b.copies(); err != nil {
		return err
	}
	if b.current.raw >= batchRaw || b.current.rows >= batchRows || b.current.held >= batchHeld {
		return b.seal()
	}
	return nil
}

func (b *batcher) place(p *piece) {
	c := b.current
	if len(p.version.Extents) == 1 && p.version.Extents[0].Offset == 0 {
		if _, ok := c.placed[p.version.SHA256]; !ok {
			c.placed[p.version.SHA256] = len(c.versions)
		}
	}
	c.versions = append(c.versions, p.version)
	c.pieces = append(c.pieces, p)
	c.raw += p.size
	c.rows += versionRows
	if p.rows != nil {
		c.rows += p.rows.Bytes
		c.held += p.rows.Held
	}
}

// copies settles the pieces whose content stands in this pack or in an earlier one. Those whose content is still on
// its way wait for it.
func (b *batcher) copies() error {
	var left []*piece
	for _, p := range b.waiting {
		ok, err := b.settle(p)
		if err != nil {
			return err
		}
		if !ok {
			left = append(left, p)
		}
	}
	b.waiting = left
	return nil
}

func (b *batcher) settle(p *piece) (bool, error) {
	if i, ok := b.current.placed[p.version.SHA256]; ok {
		original := b.current.versions[i]
		e := original.Extents[0]
		if e.CopyOf == nil {
			e.CopyOf = &blob.Copy{Raw: e.Raw}
		}
		p.version.Root, p.version.Extents = original.Root, []blob.Extent{e}
		if e.CopyOf.Pack == "" {
			if err := b.link(p.version, original); err != nil {
				return false, err
			}
		}
		b.place(p)
		return true, nil
	}
	stored, err := b.g.Index.ByRef(b.ctx, p.version.SHA256)
	if errors.Is(err, index.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	p.version.Root, p.version.Extents = stored.Root, stored.Extents
	b.place(p)
	return true, nil
}

// link makes a copy inside a pack a hard link, so that tar gives it back too.
func (b *batcher) link(v, original blob.Version) error {
	target := pack.EntryName(original.Source, original.Path, original.Number, original.Root, 0)
	return b.links.Link(pack.EntryName(v.Source, v.Path, v.Number, v.Root, 0), target, v.ModTime, v.Mode)
}

// seal makes the pack durable and hands the batch on to be committed.
func (b *batcher) seal() error {
	c := b.current
	if c == nil {
		return nil
	}
	b.current = nil
	if len(c.versions) == 0 && len(c.facts) == 0 {
		return c.writer.Abort()
	}
	if unit := b.links.Flush(); unit != nil {
		if _, err := c.writer.Append(unit); err != nil && !errors.Is(err, pack.ErrNameTaken) { // the manifest tells of the copy anyway
			return errors.Join(err, c.writer.Abort())
		}
	}
	err := b.g.Index.Date(b.ctx, c.facts)
	if err != nil {
		return errors.Join(err, c.writer.Abort())
	}
	if c.pack, err = sealPack(b.ctx, c.writer, c.versions, c.facts); err != nil {
		return err
	}
	select {
	case b.commits <- c:
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}

// sealPack ends a pack and returns what the index must know of it.
func sealPack(ctx context.Context, w *pack.Writer, versions []blob.Version, facts []blob.Fact) (*index.PackRow, error) {
	m, info, err := w.Seal(ctx, blob.Manifest{Versions: versions, Facts: facts})
	if err != nil {
		return nil, err
	}
	return packRow(m, info.Size), nil
}

func packRow(m blob.Manifest, size int64) *index.PackRow {
	return &index.PackRow{Name: m.Pack, Size: size, Created: m.Created, Writer: m.Writer, Members: m.Members, Versions: m.Versions, Replaces: m.Replaces}
}

// stale says whether the batch has waited long enough for more.
func (b *batcher) stale() bool { return b.current != nil && time.Since(b.current.began) >= batchTime }

// commit puts a durable batch into the index.
func (g *Ingester) commit(ctx context.Context, c *batch) error {
	facts := make([]index.FactRow, len(c.facts))
	for i, f := range c.facts {
		facts[i] = index.FactRow{Fact: f, Pack: c.pack.Name}
	}
	in := index.Batch{Pack: c.pack, Facts: facts, Resolvers: g.resolvers, Prices: g.book}
	for _, p := range c.pieces {
		if p.rows != nil {
			in.Parsed = append(in.Parsed, p.rows)
		}
	}
	if err := g.Index.Commit(ctx, in); err != nil {
		return fmt.Errorf("pack %s is stored and not indexed: %w", c.pack.Name, err)
	}
	return nil
}

// WriteFacts stores facts that no original can tell, in a pack of their own.
func (g *Ingester) WriteFacts(ctx context.Context, facts []blob.Fact) error {
	g.prepare()
	if len(facts) == 0 {
		return nil
	}
	facts = slices.Clone(facts)
	if err := g.Index.Date(ctx, facts); err != nil {
		return err
	}
	up, err := g.Packs.Create(ctx)
	if err != nil {
		return err
	}
	w, err := pack.NewWriter(up, g.Writer, g.Now(), pack.Options{})
	if err != nil {
		return err
	}
	c := &batch{facts: facts}
	if c.pack, err = sealPack(ctx, w, nil, facts); err != nil {
		return err
	}
	return g.commit(ctx, c)
}
