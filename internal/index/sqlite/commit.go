package sqlite

import (
	"context"
	"fmt"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
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
	c := newCommit(db, t, batch)
	if c.seen, err = t.Seen(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
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

	// What must be resolved: rows of run_names; usage, by the number of its id; events, by the hash of their native ids. A
	// value of true has all rows of an entry looked at, even if it is a single one, because other rows may have gone or changed.
	touched map[int64]bool
	keys    map[int64]bool
	eids    map[int64]bool
	deleted bool // statements were deleted: names may belong to no run any more

	seen        *write.Seen
	usages      *write.Inserter // flushed before anything reads the table
	usageBefore int64           // the last row id of usage before this commit; below 0 if unknown

	stored     map[blob.Ref]packPlace // content in packs of this commit, if any of them replace others
	replaced   map[string]bool        // packs that any of this commit replace; of several that gc writes, the last one names them
	sources    map[string]int64
	formats    map[int64]string
	files      map[fileKey]int64 // 0: there is no such file
	knownNames map[runName]int64
	runs       map[string]int64 // by public id
	identified map[int64]int64  // runs by names that this commit has added and written with their run

	addedRuns     map[int64]*touchedName
	addedVersions map[index.VersionKey]int64 // without statements so far, and without a tombstone
	begun         map[int64]bool             // versions of which a stretch was written

	namesOf    map[int64][]int64 // touched names by run
	groups     map[int64]bool    // names of runs that describe their group
	hearsay    map[int64]bool    // runs with originals of transcript.RankHistory
	claimCache map[int64]*claimCache
	candidates map[int64]*candidate // in claimCache
	changed    map[int64]*candidate // transcripts whose conversation or verdict is new, or another one than before
	wasNewest  map[int64]bool       // versions that were the newest of their files until now
	successors map[int64]int64      // by transcript: a new one, of the next version of its file, that takes its place
	cachedRuns map[int64]bool       // runs that are resolved from claimCache
	brief      map[int64]bool       // those of them that are brief
	knownIn    []int64              // transcripts whose events' ids are in temp.known_ids
	unread     int                  // how many other runs are touched

	rows       []write.Row
	bounds     map[int64]*bounds // by version
	callHalves halves            // of calls in rows
	runNames   map[int64]runName
	held       map[int64]heldTranscript
	paths      map[int64][]string // that calls touch, by the hash of the list
	linking    []int64            // versions that state links
	truncated  map[int64]bool     // transcripts of which the beginning was pruned

	bulkRows int
	slots    int64
	bulk     bool // the words of the rows became segments
	indexing *words.Adding

	lossy         map[index.VersionKey]bool // versions of which bytes are lost; nil: not looked up
	noTombstones  *bool                     // nil: not looked up, as nothingPruned
	nothingPruned *bool
	rootsNamed    map[uint64]bool // by tombstones: see tombstonedRoots
}

func newCommit(db *DB, t *write.Tx, batch index.Batch) *commit {
	t.BufferRows()
	return &commit{
		Tx: t, batch: batch, bulkRows: db.bulkRows, slots: db.slots,
		touched: map[int64]bool{}, keys: map[int64]bool{}, eids: map[int64]bool{},
		usages: t.Inserter("OR FAIL INTO usage", usageFields), usageBefore: -1,
		sources: map[string]int64{}, formats: map[int64]string{}, files: map[fileKey]int64{}, knownNames: map[runName]int64{},
		runs: map[string]int64{}, identified: map[int64]int64{},
		addedRuns: map[int64]*touchedName{}, addedVersions: map[index.VersionKey]int64{}, begun: map[int64]bool{},
		namesOf: map[int64][]int64{}, groups: map[int64]bool{}, hearsay: map[int64]bool{},
		claimCache: map[int64]*claimCache{}, candidates: map[int64]*candidate{},
		changed: map[int64]*candidate{}, successors: map[int64]int64{}, wasNewest: map[int64]bool{},
		bounds: map[int64]*bounds{}, callHalves: halves{},
		brief: map[int64]bool{}, runNames: map[int64]runName{}, held: map[int64]heldTranscript{}, truncated: map[int64]bool{},
		indexing: db.words.Begin(),
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
	if err := c.identifyNew(); err != nil {
		return fmt.Errorf("identify runs: %w", err)
	}
	if err := c.writeRows(); err != nil {
		return fmt.Errorf("events: %w", err)
	}
	if err := c.writeBounds(); err != nil {
		return fmt.Errorf("bounds: %w", err)
	}
	if err := c.countPartial(); err != nil {
		return err
	}
	if err := c.resolve(); err != nil {
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
