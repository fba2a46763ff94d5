package sqlite

import (
	"context"
	"fmt"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

var _ index.Writer = (*DB)(nil)

// Commit adds a batch in one transaction: what the pack stores, what its originals say, and then whatever
// follows from it for the runs that were touched.
func (db *DB) Commit(ctx context.Context, batch index.Batch) error {
	t, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer t.Rollback()
	c := &commit{
		tx: t, batch: batch, bulkRows: db.bulkRows, slots: db.slots, told: db.told.take(), telling: map[*index.Words][]uint64{}, usages: usageRows(t), usageBefore: -1,
		named: map[int64]runName{}, held: map[int64]heldTranscript{}, sources: map[string]int64{}, formats: map[int64]string{}, born: map[index.VersionKey]int64{},
		files: map[fileKey]int64{}, knownNames: map[runName]int64{}, runs: map[string]int64{}, bornRuns: map[int64]*touchedName{}, identified: map[int64]int64{}, groups: map[int64]bool{}, claimCache: map[int64]*claimCache{}, candidates: map[int64]*candidate{}, called: map[int64][]int64{}, touched: map[int64]bool{}, keys: map[int64]bool{}, eids: map[int64]bool{}, partial: map[int64]bool{}, hearsay: map[int64]bool{}, bounds: map[int64]*bounds{}, halves: halves{},
	}
	t.buffer = newWriteBuffer(t)
	c.newRuns = &pendingRows{to: &inserter{t: t, into: "OR FAIL INTO runs", columns: columnList(runColumns)}}
	if c.seen, err = t.loadFilters(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := c.run(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	db.told.put(c.telling)
	if !c.bulk {
		return nil
	}
	// Large batches come one after the other: if they all waited for Tidy, there would be too many segments by then.
	if _, err := db.mergeSegments(ctx, segmentsKept); err != nil {
		return fmt.Errorf("merge segments: %w", engine.Damage(err))
	}
	return nil
}

// commit is the work of one Commit.
type commit struct {
	*tx
	batch       index.Batch
	sites       index.Sites    // of all sources
	touched     map[int64]bool // run_names whose runs must be resolved
	keys        map[int64]bool // usage to judge, by the numbers of their ids; false: one row is new, and that is all that is known
	eids        map[int64]bool // event ids to judge; true: even if only one row has it, because others may have gone
	seen        *seenFilters
	usages      *inserter
	usageBefore int64                      // the last row id of usage before any was written; below 0 while nobody has asked
	sources     map[string]int64           // ids by name, as far as they were looked up
	formats     map[int64]string           // names of formats by id, likewise
	files       map[fileKey]int64          // ids of files, likewise; 0 of those that are not there
	knownNames  map[runName]int64          // ids of names of runs, likewise
	runs        map[string]int64           // ids of runs by public id, likewise
	bornRuns    map[int64]*touchedName     // runs that this commit has added, with what makes them
	called      map[int64][]int64          // the touched names of runs
	groups      map[int64]bool             // names of runs that tell of their group
	claimCache  map[int64]*claimCache      // names of runs that this commit has added, with what it was told of them
	candidates  map[int64]*candidate       // transcripts of those
	cachedRuns  map[int64]bool             // runs of which nothing need be read
	hearsay     map[int64]bool             // runs of which an original only tells again what others say
	unread      int                        // how many others are touched
	identified  map[int64]int64            // what names mean that this commit has added, as far as it wrote that with them
	newRuns     *pendingRows               // those of which nothing is written yet
	born        map[index.VersionKey]int64 // versions that this commit has added, of which nothing is said yet and on which no tombstone lies
	rows        []pendingRow
	bounds      map[int64]*bounds        // of the versions of which the commit has numbers
	halves      halves                   // of their calls
	named       map[int64]runName        // names of runs, as far as something was said of them
	held        map[int64]heldTranscript // transcripts, likewise

	paths map[int64][]string // that calls touch, by the hash of all of a call

	bulkRows int
	slots    int64
	bulk     bool                      // the words of the rows became segments
	told     map[*index.Words][]uint64 // before this commit: see told
	telling  map[*index.Words][]uint64 // with what it tells

	lossy     map[index.VersionKey]bool // versions of which bytes are lost, once they were looked up
	unsaid    bool                      // something was taken back: names of runs may mean nothing any more
	graveless *bool                     // there are no tombstones, once that was looked up
	unburied  *bool                     // there are no graves, once that was looked up
	partial   map[int64]bool            // transcripts of which the beginning was pruned
	stating   []int64                   // versions of which the commit has links

	rootsNamed map[uint64]bool // by tombstones, once they were looked up: see graveRoots
}

func (c *commit) run() error {
	fresh, err := c.unknown()
	if err != nil || len(fresh) == 0 && len(c.batch.All()) > 0 {
		return err
	}
	// Tombstones come before the packs, because what they bury makes room for what takes its place, and so do losses: what
	// is lost is looked for nowhere.
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
		if i%lookLot == 0 {
			if err := c.lookUpNames(c.batch.Parsed[i:min(i+lookLot, len(c.batch.Parsed))]); err != nil {
				return err
			}
		}
		if err := c.parsed(p); err != nil {
			return fmt.Errorf("%s/%s: %w", p.Source, p.Path, err)
		}
	}
	if err := c.usages.flush(); err != nil {
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
	return c.flushBuffer()
}

// facts takes in the sources, tombstones and losses of the batch, or all other facts: what a run is called may hang on where its source lies.
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
		if c.sites, err = sitesOf(c.calm, c.tx); err != nil {
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
		var n int
		known, err := c.get("SELECT 1 FROM packs WHERE name = ?", []any{p.Name}, &n)
		if err != nil {
			return nil, err
		}
		if !known {
			fresh = append(fresh, p)
		}
	}
	return fresh, nil
}
