package resolve

import (
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Most runs are new, and only originals of this commit state anything of them. They are resolved from memory: writing those
// rows, reading and parsing them again, and updating them took longer than everything else in resolving them.

// claimCache holds the claims and transcripts under a run name that this commit has added.
type claimCache struct {
	claims     []claim
	candidates []*candidate
	unsure     bool // reading the rows would give something else
}

// Original is a version whose statements are written. file is 0 if it is unknown.
type Original struct {
	*index.Parsed
	Version, File int64
}

// CacheClaim keeps a claim as loadClaims would read it.
func (c *Changes) CacheClaim(o *Original, name int64, r *transcript.Run, stated string) {
	h := c.claimCache[name]
	if h == nil {
		return
	}
	said := *r
	said.Guess, said.Started, said.Ended = false, roundTripTime(r.Started), roundTripTime(r.Ended)
	h.unsure = !roundTrip(stated, &said.Attributes) || o.File == 0 || h.unsure
	h.claims = append(h.claims, claim{name: name, file: o.File, number: int64(o.Number), Run: &said, stated: stated})
}

// CacheCandidate keeps a transcript as loadCandidates would read it.
func (c *Changes) CacheCandidate(o *Original, id, name int64, native, stated string, v *index.Transcript, indexed bool) {
	h := c.claimCache[name]
	if h == nil {
		return
	}
	t := &candidate{id: id, runName: name, version: o.Version, file: o.File, number: int64(o.Number), native: native, judgement: judgement{indexed: int(write.Flag(indexed))},
		shared: v.Shared, aside: v.Uncounted, order: v.Order, rank: int64(v.Rank), lastSeq: v.LastSeq, rows: v.TotalRows,
		sha: o.SHA256[:], parsed: o.Last, source: o.Source, path: o.Path, Conversation: v.Conversation}
	t.Started, t.Ended = roundTripTime(v.Started), roundTripTime(v.Ended)
	h.unsure = !roundTrip(stated, &t.Attributes) || h.unsure
	h.candidates = append(h.candidates, t)
	c.candidates[id] = t
}

// roundTrip turns attributes into what they are after being written as JSON and read again. It reports whether everything that
// is stated survives that unchanged.
func roundTrip(stated string, a *transcript.Attributes) bool {
	const exact = 1 << 53 // bound of the integers that JSON preserves
	if strings.Contains(stated, `\ufffd`) {
		return false // bytes that are not UTF-8
	}
	if *a == nil {
		return true
	}
	read := make(transcript.Attributes, len(*a))
	for key, v := range *a {
		switch n := v.(type) {
		case string, bool, float64:
		case int64:
			if v = float64(n); n > exact || n < -exact {
				return false
			}
		default:
			return false
		}
		read[key] = v
	}
	*a = read
	return true
}

// roundTripTime returns a time as it is after being written and read again: nothing is left of an unknown one.
func roundTripTime(t transcript.Time) transcript.Time {
	if !t.Valid {
		return transcript.Time{}
	}
	return t
}

// splitCached fills cachedRuns with the runs of which everything is in memory, and returns the others.
func (c *Changes) splitCached(runs []int64) (rest []int64) {
	c.cachedRuns = map[int64]bool{}
	for _, run := range runs {
		if c.addedRuns[run] != nil && !c.deleted && len(c.truncated) == 0 && c.allCached(c.namesOf[run]) {
			c.cachedRuns[run] = true
		} else {
			rest = append(rest, run)
		}
	}
	return rest
}

func (c *Changes) allCached(names []int64) bool {
	for _, name := range names {
		if h := c.claimCache[name]; h == nil || h.unsure {
			return false
		}
	}
	return true
}

// cachedCandidates are the transcripts of a run that is in memory.
func (c *Changes) cachedCandidates(run int64, lossy map[index.VersionKey]bool) (all []*candidate, err error) {
	isNew := c.addedRuns[run]
	format, err := c.formatName(isNew.Format)
	if err != nil {
		return nil, err
	}
	for _, name := range c.namesOf[run] {
		for _, t := range c.claimCache[name].candidates {
			t.run, t.key.format, t.key.native, t.key.anchor = run, format, isNew.key, isNew.anchor
			t.lossy = lossy[index.VersionKey{Source: t.source, Path: t.path, Number: int(t.number)}]
			t.was.indexed = t.indexed
			all = append(all, t)
		}
	}
	return all, nil
}
