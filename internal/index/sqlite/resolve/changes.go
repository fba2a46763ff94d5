package resolve

import (
	"database/sql"
	"encoding/json"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Changes are what a commit has changed, and what is in memory of it. Maps from names to ids hold what was looked up or added
// so far.
type Changes struct {
	*write.Tx
	resolvers func(format string) index.Resolver
	prices    *price.Book

	// What must be resolved: rows of run_names; usage, by the number of its id; events, by the hash of their native ids. A
	// value of true has all rows of an entry looked at, even if it is a single one, because other rows may have gone or changed.
	touched map[int64]bool
	keys    map[int64]bool
	eids    map[int64]bool
	deleted bool // statements were deleted: names may belong to no run any more

	usageBefore int64       // the last row id of usage before this commit; below 0 if unknown
	rows        []write.Row // of events that were added
	linking     []int64     // versions that state links
	truncated   map[int64]bool
	wasNewest   map[int64]bool            // versions that were the newest of their files until now
	lossy       map[index.VersionKey]bool // versions of which bytes are lost; nil: not looked up
	held        map[int64]heldTranscript  // transcripts that this commit has parsed
	runNames    map[int64]RunName
	claimCache  map[int64]*claimCache
	candidates  map[int64]*candidate // in claimCache

	knownRuns  index.BloomFilter
	formats    map[int64]string
	runs       map[string]int64 // by public id
	identified map[int64]int64  // runs by names that this commit has added and written with their run
	addedRuns  map[int64]*touchedName
	namesOf    map[int64][]int64 // touched names by run
	cachedRuns map[int64]bool    // runs that are resolved from claimCache
	brief      map[int64]bool    // those of them that are brief
	unread     int               // how many other runs are touched

	groups     map[int64]bool       // names of runs that describe their group
	hearsay    map[int64]bool       // runs with originals of transcript.RankHistory
	changed    map[int64]*candidate // transcripts whose conversation or verdict is new, or another one than before
	successors map[int64]int64      // by transcript: a new one, of the next version of its file, that takes its place
	copying    map[int64]bool       // transcripts that may have copied events of another run than before
	knownIn    []int64              // transcripts whose events' ids are in temp.known_ids
}

// New returns the changes of a transaction. knownRuns has the runs that the index may have.
func New(t *write.Tx, batch *index.Batch, knownRuns index.BloomFilter) *Changes {
	return &Changes{
		Tx: t, resolvers: batch.Resolvers, prices: batch.Prices, knownRuns: knownRuns,
		touched: map[int64]bool{}, keys: map[int64]bool{}, eids: map[int64]bool{}, usageBefore: -1,
		truncated: map[int64]bool{}, wasNewest: map[int64]bool{}, held: map[int64]heldTranscript{}, runNames: map[int64]RunName{},
		claimCache: map[int64]*claimCache{}, candidates: map[int64]*candidate{},
		formats: map[int64]string{}, runs: map[string]int64{}, identified: map[int64]int64{}, addedRuns: map[int64]*touchedName{},
		namesOf: map[int64][]int64{}, brief: map[int64]bool{}, groups: map[int64]bool{}, hearsay: map[int64]bool{},
		changed: map[int64]*candidate{}, successors: map[int64]int64{}, copying: map[int64]bool{},
	}
}

// Resolver returns the resolver of a format.
func (c *Changes) Resolver(format string) index.Resolver {
	if c.resolvers == nil {
		return index.Resolver{}
	}
	return c.resolvers(format)
}

// TouchRun has the run of a name resolved again.
func (c *Changes) TouchRun(name int64) { c.touched[name] = true }

// touchRuns has the runs resolved again whose names a query yields.
func (c *Changes) touchRuns(query string, args ...any) error {
	return c.Each(query, write.IntoSet(c.touched), args...)
}

// TouchEvent has the events with the hash of an id judged. whole has all rows of it looked at, even a single one.
func (c *Changes) TouchEvent(eid int64, whole bool) { c.eids[eid] = c.eids[eid] || whole }

// TouchUsage has the usage with the number of an id judged. whole has all rows of it looked at, even a single one.
func (c *Changes) TouchUsage(key int64, whole bool) { c.keys[key] = c.keys[key] || whole }

// TouchUsageOf has the usage judged whose ids a query yields, whether other rows have them or not.
func (c *Changes) TouchUsageOf(query string, args ...any) error {
	return c.Each(query, c.toJudge, args...)
}

// toJudge marks the usage_id of a row to be judged, whether other rows have it or not.
func (c *Changes) toJudge(r *sql.Rows) error {
	var key int64
	err := r.Scan(usageIDScanner{&key})
	c.keys[key] = true
	return err
}

// TouchVersion has the runs and the usage of a version resolved again.
func (c *Changes) TouchVersion(version int64) error {
	const names = `SELECT run_name FROM run_claims WHERE version = ?1 UNION SELECT run_name FROM transcripts WHERE version = ?1
		UNION SELECT run_name FROM usage WHERE version = ?1 UNION SELECT run_name FROM receipts WHERE version = ?1
		UNION SELECT run_name FROM steps WHERE version = ?1 UNION SELECT run_name FROM hints WHERE version = ?1
		UNION SELECT run_name FROM graves WHERE version = ?1 UNION SELECT run_name FROM problems WHERE version = ?1 AND run_name IS NOT NULL`
	c.deleted = true
	if err := c.touchRuns(names, version); err != nil {
		return err
	}
	if err := c.TouchUsageOf("SELECT usage_id FROM usage WHERE version = ?", version); err != nil {
		return err
	}
	return c.Each("SELECT alias FROM usage WHERE version = ? AND alias IS NOT NULL", write.IntoSet(c.keys), version)
}

// Supersede has the statements of a version judged again that was the newest of its file.
func (c *Changes) Supersede(version int64) error {
	c.wasNewest[version] = true
	const names = `SELECT run_name FROM run_claims WHERE version = ?1 UNION SELECT run_name FROM transcripts WHERE version = ?1
		UNION SELECT run_name FROM usage WHERE version = ?1`
	if err := c.touchRuns(names, version); err != nil {
		return err
	}
	return c.Each("SELECT DISTINCT usage_id FROM usage WHERE version = ?", func(r *sql.Rows) error {
		var key int64
		err := r.Scan(usageIDScanner{&key})
		c.TouchUsage(key, false) // as that of a new row
		return err
	}, version)
}

// TouchEventsOf has all events of a transcript judged again.
func (c *Changes) TouchEventsOf(transcript int64) error {
	return c.Each("SELECT eid FROM events WHERE transcript = ? AND eid IS NOT NULL", write.IntoSet(c.eids), transcript)
}

// DeleteRows deletes the event rows of a transcript and their words.
func (c *Changes) DeleteRows(transcript int64) error {
	if err := c.TouchEventsOf(transcript); err != nil {
		return err
	}
	for _, query := range []string{
		"DELETE FROM fts WHERE rowid IN (SELECT id FROM events WHERE transcript = ?)",
		"DELETE FROM calls WHERE event IN (SELECT id FROM events WHERE transcript = ?)",
		"DELETE FROM results WHERE event IN (SELECT id FROM events WHERE transcript = ?)",
		"DELETE FROM prompts WHERE event IN (SELECT id FROM events WHERE transcript = ?)",
		"DELETE FROM events WHERE transcript = ?",
		"UPDATE transcripts SET events = 0, messages = 0, calls = 0, results = 0, indexed = 0 WHERE id = ?",
	} {
		if err := c.Exec(query, transcript); err != nil {
			return err
		}
	}
	return nil
}

// NameRun tells what a row of run_names names.
func (c *Changes) NameRun(id int64, name RunName) { c.runNames[id] = name }

// StateRun notes that a version states something of the run of a name: the first that uses it, if it is fresh. isNew says that
// the index has no statements of the version.
func (c *Changes) StateRun(name int64, fresh, isNew bool) {
	c.touched[name] = true
	if fresh {
		c.claimCache[name] = &claimCache{}
	}
	if h := c.claimCache[name]; h != nil && !isNew {
		h.unsure = true
	}
}

// StateGroup notes that a run may describe its group.
func (c *Changes) StateGroup(name int64, r *transcript.Run) {
	if describesGroup(r) {
		c.groups[name] = true
	}
}

// StateLinks notes that a version states links.
func (c *Changes) StateLinks(version int64) { c.linking = append(c.linking, version) }

// Hold notes of which version a transcript is that is being parsed, of which run by name, and which conversation it holds. shared
// says that other versions hold parts of it.
func (c *Changes) Hold(transcript, version, name int64, native string, shared bool) {
	c.held[transcript] = heldTranscript{name, version, native, shared}
}

// SetTimes sets when the events of a transcript that was added begin and end.
func (c *Changes) SetTimes(transcript int64, first, last *int64) {
	if t := c.candidates[transcript]; t != nil {
		t.first, t.last = write.NullInt(first), write.NullInt(last)
	}
}

// Truncate notes that the beginning of a transcript was pruned.
func (c *Changes) Truncate(transcript int64) { c.truncated[transcript] = true }

// BeforeUsage must be called before usage is added.
func (c *Changes) BeforeUsage() error {
	if c.usageBefore >= 0 {
		return nil
	}
	_, err := c.GetDirect("SELECT coalesce(max(id), 0) FROM usage", nil, &c.usageBefore)
	return err
}

// LossyVersions returns the versions of which bytes are lost. No other version has the same rows as they, whatever its hash.
func (c *Changes) LossyVersions() (map[index.VersionKey]bool, error) {
	if c.lossy != nil {
		return c.lossy, nil
	}
	all := map[index.VersionKey]bool{}
	err := c.EachBeside("SELECT value FROM facts WHERE kind = ? AND value IS NOT NULL", func(r *sql.Rows) error {
		var value string
		err := r.Scan(&value)
		if l, bad := blob.ParseLoss(blob.Fact{Kind: blob.FactLost, Value: json.RawMessage(value)}); bad == nil {
			all[index.VersionKey{Source: l.Source, Path: l.Path, Number: l.Number}] = true
		}
		return err
	}, blob.FactLost)
	if err == nil {
		c.lossy = all
	}
	return all, err
}

// countPartial recounts the rows of transcripts whose beginning was pruned: the counts that their versions state include it.
func (c *Changes) countPartial() error {
	for _, id := range write.Sorted(c.truncated) {
		if err := c.Exec("UPDATE transcripts SET rows = (SELECT count(*) FROM events e WHERE e.transcript = ?1) WHERE id = ?1 AND indexed = 1", id); err != nil {
			return err
		}
	}
	return nil
}
