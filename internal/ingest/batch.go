package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

const (
	batchRawBytes  = 48 << 20          // raw bytes of a pack, roughly
	batchRowBytes  = 19 << 20          // memory of the rows and other records of a transaction, roughly
	batchHeldBytes = 2 * batchRowBytes // that with their terms, which take less than the rows unless texts hardly repeat a word
	batchMaxAge    = 2 * time.Second
	// versionOverhead is the memory that a version takes besides its rows, roughly: itself and its line in the manifest.
	versionOverhead = 1000
)

// commits hands batches from the batcher to the goroutine that commits them.
type commits struct {
	batches chan *batch
	busy    atomic.Bool   // one is being committed
	done    chan struct{} // wakes the batcher after a commit
}

func newCommits() *commits { return &commits{batches: make(chan *batch), done: make(chan struct{}, 1)} }

// each yields the batches; a batch is committed when the loop comes for the next.
func (k *commits) each(yield func(*batch) bool) {
	for c := range k.batches {
		k.busy.Store(true)
		ok := yield(c)
		k.busy.Store(false)
		select {
		case k.done <- struct{}{}:
		default:
		}
		if !ok {
			return
		}
	}
}

// batcher puts deliveries into packs. A batch is one pack and one transaction; the next batch fills while the last one is
// committed.
type batcher struct {
	g             *Ingester
	ctx           context.Context
	commits       *commits
	facts         []blob.Fact // for the first pack
	current       *batch
	previous      *sealedPack // the pack before, which may not be committed yet; nil at first
	sealed        int         // how many packs
	waitingCopies []*piece    // copies of content that is still in flight
}

// sealedPack is a durable pack, with what it holds.
type sealedPack struct {
	name string
	*pack.Writer
}

// batch is a pack being written, and then its transaction.
type batch struct {
	writer    *pack.Writer
	started   time.Time
	versions  []blob.Version
	facts     []blob.Fact
	pieces    []*piece
	rawBytes  int64
	rowBytes  int
	heldBytes int   // memory of rows and their terms
	budget    int64 // that its deliveries have acquired: see rowBudget
	pack      *index.PackRow
}

// ensureBatch begins a batch unless there is one.
func (b *batcher) ensureBatch() error {
	if b.current != nil {
		return nil
	}
	w, err := b.g.beginPack(b.ctx)
	if err != nil {
		return err
	}
	b.current = &batch{writer: w, started: time.Now(), facts: b.facts}
	b.facts = nil
	return nil
}

// beginPack begins a pack.
func (g *Ingester) beginPack(ctx context.Context) (*pack.Writer, error) {
	return pack.Begin(ctx, g.Packs, g.Writer, g.Now(), pack.Options{})
}

// add puts one delivery into the pack, and seals it when it is full.
func (b *batcher) add(d delivery) error {
	if err := b.ensureBatch(); err != nil {
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
	b.current.budget += d.budget
	for _, p := range d.pieces {
		if p.copy {
			b.waitingCopies = append(b.waitingCopies, p)
			continue
		}
		b.addPiece(p)
	}
	if err := b.settleCopies(); err != nil {
		return err
	}
	if b.current.rawBytes >= batchRawBytes || b.current.rowBytes >= batchRowBytes || b.current.heldBytes >= batchHeldBytes {
		return b.seal()
	}
	return nil
}

// addPiece adds a piece to the batch, and its memory to the totals.
func (b *batcher) addPiece(p *piece) {
	c := b.current
	c.versions = append(c.versions, p.version)
	c.pieces = append(c.pieces, p)
	c.rawBytes += p.size
	c.rowBytes += versionOverhead
	if p.rows != nil {
		c.rowBytes += p.rows.Bytes
		c.heldBytes += p.rows.Held
	}
}

// settleCopies adds the waiting copies whose content is in this pack or an earlier one. The others keep waiting for their
// content.
func (b *batcher) settleCopies() error {
	var left []*piece
	for _, p := range b.waitingCopies {
		ok, err := b.settleCopy(p)
		if err != nil {
			return err
		}
		if !ok {
			left = append(left, p)
		}
	}
	b.waitingCopies = left
	return nil
}

// settleCopy adds a copy to the batch if its content is found, and reports whether it was.
func (b *batcher) settleCopy(p *piece) (bool, error) {
	v := &p.version
	v.Extents = []blob.Extent{{Size: v.Size, SHA256: v.SHA256}}
	c, e := b.current, &v.Extents[0]
	if of := c.writer.FindContent(e); of != nil {
		err := c.writer.Link(v, e, of)
		if errors.Is(err, pack.ErrNameTaken) { // record it in the next pack
			if err = errors.Join(b.seal(), b.ensureBatch()); err == nil {
				e.CopyOf = &blob.Copy{Pack: c.pack.Name, Raw: of.Raw}
			}
		}
		if err == nil {
			b.addPiece(p)
		}
		return err == nil, err
	}
	if b.previous != nil {
		if of := b.previous.FindContent(e); of != nil {
			e.CopyOf = &blob.Copy{Pack: b.previous.name, Raw: of.Raw}
			b.addPiece(p)
			return true, nil
		}
	}
	if p.asked > b.sealed { // the index has no more than it had then
		return false, nil
	}
	stored, err := b.g.findContent(b.ctx, v.SHA256)
	if errors.Is(err, index.ErrNotFound) {
		p.asked = b.sealed + 1
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v.Root, v.Extents = stored.Root, stored.Extents
	b.addPiece(p)
	return true, nil
}

// seal makes the pack durable and sends the batch on to be committed.
func (b *batcher) seal() error {
	c := b.current
	if c == nil {
		return nil
	}
	b.current = nil
	if len(c.versions) == 0 && len(c.facts) == 0 {
		return c.writer.Abort()
	}
	if err := b.g.sealBatch(b.ctx, c); err != nil {
		return err
	}
	b.previous = &sealedPack{c.pack.Name, c.writer}
	b.sealed++
	select {
	case b.commits.batches <- c:
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}

// sealBatch writes the manifest and makes the pack durable.
func (g *Ingester) sealBatch(ctx context.Context, c *batch) error {
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

// sealStale seals the batch if it is old enough, unless another one is still being committed: it would only wait for that, and
// what depends on all originals of a run is worked out once for a batch.
func (b *batcher) sealStale() error {
	if b.current == nil || b.commits.busy.Load() || time.Since(b.current.started) < batchMaxAge {
		return nil
	}
	return b.seal()
}

// commit commits a durable batch to the index.
func (g *Ingester) commit(ctx context.Context, c *batch) error {
	facts := make([]index.FactRow, len(c.facts))
	for i, f := range c.facts {
		facts[i] = index.FactRow{Fact: f, Pack: c.pack.Name}
	}
	in := index.Batch{Pack: c.pack, Facts: facts}
	for _, p := range c.pieces {
		if p.rows != nil {
			in.Parsed = append(in.Parsed, p.rows)
		}
	}
	if err := g.commitRows(ctx, in); err != nil {
		return fmt.Errorf("pack %s is stored and not indexed: %w", c.pack.Name, err)
	}
	return nil
}

// WriteFacts stores facts, which no original holds, in a pack of their own.
func (g *Ingester) WriteFacts(ctx context.Context, facts []blob.Fact) error {
	g.applyDefaults()
	if len(facts) == 0 {
		return nil
	}
	return g.writeManifest(ctx, &batch{facts: slices.Clone(facts)})
}

// writeManifest stores what a batch states about stored originals, in a pack without bytes, and commits it.
func (g *Ingester) writeManifest(ctx context.Context, c *batch) (err error) {
	if c.writer, err = g.beginPack(ctx); err != nil {
		return err
	}
	if err := g.sealBatch(ctx, c); err != nil {
		return err
	}
	return g.commit(ctx, c)
}
