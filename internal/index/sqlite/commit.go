package sqlite

import (
	"context"
	"fmt"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/resolve"
	"github.com/txarchive/txarchive/internal/index/sqlite/words"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

var _ index.Writer = (*DB)(nil)

// Commit adds a batch in one transaction: what the pack stores, what its originals state, and then what follows from both for
// the runs that were touched.
func (db *DB) Commit(ctx context.Context, batch index.Batch) error {
	t, err := db.w.Begin(ctx)
	if err != nil {
		return err
	}
	defer t.Rollback()
	seen, err := t.Seen()
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	c := newCommit(db, t, seen, batch)
	if err := c.run(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	c.indexing.Keep()
	if !c.bulk {
		return nil
	}
	// Large batches follow each other: if merging were left to Tidy, there would be too many segments by then.
	if _, err := db.mergeSegments(ctx, words.Kept); err != nil {
		return fmt.Errorf("merge segments: %w", engine.Damage(err))
	}
	return nil
}

// commit is the state of one Commit. Maps from names to ids hold what was looked up or added so far.
type commit struct {
	*write.Tx
	batch index.Batch
	sites index.Sites // of all sources

	changes *resolve.Changes

	seen   *write.Seen
	usages *write.Inserter // flushed before anything reads the table

	stored     map[blob.Ref]packPlace // content in packs of this commit, if any of them replace others
	replaced   map[string]bool        // packs that any of this commit replace; of several that gc writes, the last one names them
	sources    map[string]int64
	files      map[fileKey]int64 // 0: there is no such file
	knownNames map[resolve.RunName]int64

	addedVersions map[index.VersionKey]int64 // without statements so far, and without a tombstone
	begun         map[int64]bool             // versions of which a stretch was written

	rows       []write.Row
	bounds     map[int64]*bounds  // by version
	callHalves halves             // of calls in rows
	paths      map[int64][]string // that calls touch, by the hash of the list

	bulkRows int
	slots    int64
	bulk     bool // the words of the rows became segments
	indexing *words.Adding

	noTombstones  *bool // nil: not looked up, as nothingPruned
	nothingPruned *bool
	rootsNamed    map[uint64]bool // by tombstones: see tombstonedRoots
}

func newCommit(db *DB, t *write.Tx, seen *write.Seen, batch index.Batch) *commit {
	t.BufferRows()
	return &commit{
		Tx: t, batch: batch, bulkRows: db.bulkRows, slots: db.slots, seen: seen, changes: resolve.New(t, &batch, seen.Runs),
		usages:  t.Inserter("OR FAIL INTO usage", usageFields),
		sources: map[string]int64{}, files: map[fileKey]int64{}, knownNames: map[resolve.RunName]int64{},
		addedVersions: map[index.VersionKey]int64{}, begun: map[int64]bool{},
		bounds: map[int64]*bounds{}, callHalves: halves{}, indexing: db.words.Begin(),
	}
}

func (c *commit) run() error {
	fresh, err := c.unknown()
	if err != nil || len(fresh) == 0 && len(c.batch.All()) > 0 {
		return err
	}
	// Tombstones come before packs, because a version that they hide gives way to its replacement. Losses do too, because lost
	// bytes are not looked for.
	if err := c.facts(true); err != nil {
		return err
	}
	if err := c.packs(fresh); err != nil {
		return err
	}
	if err := c.facts(false); err != nil {
		return err
	}
	for i, p := range c.batch.Parsed {
		if i%write.Lot == 0 {
			if err := c.lookUpNames(c.batch.Parsed[i:min(i+write.Lot, len(c.batch.Parsed))]); err != nil {
				return err
			}
		}
		if err := c.parsed(p); err != nil {
			return fmt.Errorf("%s/%s: %w", p.Source, p.Path, err)
		}
	}
	if err := c.usages.Flush(); err != nil {
		return fmt.Errorf("usage: %w", err)
	}
	if err := c.changes.IdentifyNew(); err != nil {
		return fmt.Errorf("identify runs: %w", err)
	}
	if err := c.writeRows(); err != nil {
		return fmt.Errorf("events: %w", err)
	}
	if err := c.writeBounds(); err != nil {
		return fmt.Errorf("bounds: %w", err)
	}
	if err := c.changes.Resolve(c.rows); err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	return c.Flush()
}

// facts applies either the sources, tombstones and losses of the batch (first), or all other facts. Sources come first because
// the identity of a run may depend on where its source lies.
func (c *commit) facts(first bool) error {
	var fresh []blob.Fact
	for _, f := range c.batch.Facts {
		if (f.Kind == "source" || f.Kind == blob.FactTombstone || f.Kind == blob.FactLost) != first {
			continue
		}
		if err := c.loss(f.Fact); err != nil {
			return fmt.Errorf("loss: %w", err)
		}
		newest, err := c.fact(f)
		if err != nil {
			return fmt.Errorf("fact %s: %w", f.Kind, err)
		}
		if newest {
			fresh = append(fresh, f.Fact)
		}
	}
	if first {
		var err error
		if c.sites, err = ask.Sites(c.Queryer()); err != nil {
			return fmt.Errorf("sites: %w", err)
		}
	}
	if err := c.settleFacts(fresh); err != nil {
		return fmt.Errorf("tombstones: %w", err)
	}
	return nil
}

// unknown returns the packs of the batch that the index does not have.
func (c *commit) unknown() (fresh []*index.PackRow, err error) {
	for _, p := range c.batch.All() {
		known, err := c.Exists("SELECT 1 FROM packs WHERE name = ?", p.Name)
		if err != nil {
			return nil, err
		}
		if !known {
			fresh = append(fresh, p)
		}
	}
	return fresh, nil
}
