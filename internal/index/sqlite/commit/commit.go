// Package commit writes a batch into the index: packs, versions and their extents, facts, tombstones and ledgers, and what
// originals state. What follows from several originals is resolve's, and what becomes of words is words'.
package commit

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/resolve"
	"github.com/txarchive/txarchive/internal/index/sqlite/words"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// Options say how rows are written. The zero value is the usual way.
type Options struct {
	BulkRows int   // batches of as many rows become segments
	HourRows int64 // that one hour takes
}

// Run writes a batch: what its packs store, what its originals state, and then what follows from both for the runs that
// were touched. bulk reports whether the words of its rows became segments.
func Run(t *write.Tx, batch index.Batch, adding *words.Adding, o Options) (bulk bool, err error) {
	seen, err := t.Seen()
	if err != nil {
		return false, err
	}
	t.BufferRows()
	c := &commit{
		Tx: t, batch: batch, options: o, adding: adding, seen: seen, changes: resolve.New(t, &batch, seen.Runs),
		usages:  t.Inserter("OR FAIL INTO usage", usageFields),
		sources: map[string]int64{}, files: map[fileKey]int64{}, knownNames: map[resolve.RunName]int64{},
		addedVersions: map[index.VersionKey]int64{}, begun: map[int64]bool{},
		bounds: map[int64]*bounds{}, callHalves: halves{},
	}
	err = c.run()
	return c.bulk, err
}

// commit is the state of one batch. Maps from names to ids hold what was looked up or added so far.
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

	options Options
	adding  *words.Adding
	bulk    bool // the words of the rows became segments

	noTombstones  *bool // nil: not looked up, as nothingPruned
	nothingPruned *bool
	rootsNamed    map[uint64]bool // by tombstones: see tombstonedRoots
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
