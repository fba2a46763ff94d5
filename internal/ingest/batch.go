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
	sealed  *sealed  // the pack before, which may not be committed yet
	waiting []*piece // copies of content that is still on its way
}

// sealed is a pack that is durable, with what it holds.
type sealed struct {
	name string
	*pack.Writer
}

// batch is one pack in the making, and then its transaction.
type batch struct {
	writer   *pack.Writer
	began    time.Time
	versions []blob.Version
	facts    []blob.Fact
	pieces   []*piece
	raw      int64
	rows     int
	held     int   // memory of rows and of their words
	room     int64 // that its deliveries have taken of the load
	pack     *index.PackRow
}

func (b *batcher) begin() error {
	if b.current != nil {
		return nil
	}
	w, err := b.g.pack(b.ctx)
	if err != nil {
		return err
	}
	b.current = &batch{writer: w, began: time.Now()}
	return nil
}

// pack begins a pack.
func (g *Ingester) pack(ctx context.Context) (*pack.Writer, error) {
	return pack.Begin(ctx, g.Packs, g.Writer, g.Now(), pack.Options{})
}

// add puts one delivery into the pack, and seals it when it is full.
func (b *batcher) add(d delivery) error {
	if err := b.begin(); err != nil {
		return err
	}
	if d.unit != nil {
		_, err := b.current.writer.Append(d.unit)
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
	v := &p.version
	v.Extents = []blob.Extent{{Size: v.Size, SHA256: v.SHA256}}
	c, e := b.current, &v.Extents[0]
	if of := c.writer.FindContent(e); of != nil {
		err := c.writer.Link(v, e, of)
		if errors.Is(err, pack.ErrNameTaken) { // the next pack tells of it
			if err = errors.Join(b.seal(), b.begin()); err == nil {
				e.CopyOf = &blob.Copy{Pack: c.pack.Name, Raw: of.Raw}
			}
		}
		if err == nil {
			b.place(p)
		}
		return err == nil, err
	}
	if b.sealed != nil {
		if of := b.sealed.FindContent(e); of != nil {
			e.CopyOf = &blob.Copy{Pack: b.sealed.name, Raw: of.Raw}
			b.place(p)
			return true, nil
		}
	}
	stored, err := b.g.stored(b.ctx, v.SHA256)
	if errors.Is(err, index.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v.Root, v.Extents = stored.Root, stored.Extents
	b.place(p)
	return true, nil
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
	if err := b.g.seal(b.ctx, c); err != nil {
		return err
	}
	b.sealed = &sealed{c.pack.Name, c.writer}
	select {
	case b.commits <- c:
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}

func (g *Ingester) seal(ctx context.Context, c *batch) error {
	if err := g.Index.EnsureNewer(ctx, c.facts); err != nil {
		return errors.Join(err, c.writer.Abort())
	}
	m, info, err := c.writer.Seal(ctx, blob.Manifest{Versions: c.versions, Facts: c.facts})
	if err != nil {
		return err
	}
	c.pack = index.NewPackRow(&m, info.Size)
	return nil
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
	w, err := g.pack(ctx)
	if err != nil {
		return err
	}
	c := &batch{writer: w, facts: slices.Clone(facts)}
	if err := g.seal(ctx, c); err != nil {
		return err
	}
	return g.commit(ctx, c)
}
