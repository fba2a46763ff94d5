package policy

import (
	"time"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Run is what a policy may depend on. Zero values are unknown.
type Run struct {
	ID      string             `json:"id"`      // public id
	Native  string             `json:"native"`  // the producer's own id, such as a directory name
	Format  string             `json:"format"`  //
	Source  string             `json:"source"`  // name of the source
	Group   string             `json:"group"`   // thread, workflow or project family
	Project string             `json:"project"` //
	Flow    string             `json:"flow"`
	Agent   string             `json:"agent"`
	Status  string             `json:"status"` // as written
	Outcome transcript.Outcome `json:"outcome"`
	Tags    []string           `json:"tags"`
	Model   string             `json:"model"`
	Title   string             `json:"title"`

	Started      time.Time `json:"started"`
	Ended        time.Time `json:"ended"`
	LastActivity time.Time `json:"last_activity"`

	Bytes        int64            `json:"bytes"`         // stored
	SearchBytes  int64            `json:"search_bytes"`  // what TierSearch frees, in packs or in the index
	PayloadBytes int64            `json:"payload_bytes"` // what TierPayloads frees, if known
	CostNanoUSD  transcript.Count `json:"cost"`

	Earlier      int64 `json:"earlier"`       // how many earlier versions of its originals TierVersions removes
	EarlierBytes int64 `json:"earlier_bytes"` // their stored bytes

	Pinned  bool   `json:"pinned"`
	Holds   []Hold `json:"holds"`
	Parent  string `json:"parent"`  // ID of the run that made this one, "" for none
	Thinned Tier   `json:"thinned"` // the tier to which it has been thinned already, but for TierVersions
}

// Hold keeps a run, whatever the policy says, until it expires.
type Hold struct {
	Owner   string    `json:"owner"`
	Reason  string    `json:"reason"`
	Expires time.Time `json:"expires"` // zero: never
}

// Decision is what happens to one run.
type Decision struct {
	RunID  string          `json:"run_id"`
	Action Action          `json:"action"`
	Tier   Tier            `json:"tier"` // for Thin
	Over   int64           `json:"over"` // size in bytes, for TierPayloads
	Rule   transcript.Text `json:"rule"` // "" if none matched, or if a pin or hold decided
	Group  transcript.Text `json:"group"`
	Ledger bool            `json:"ledger"` // keep totals of usage and cost

	// Reasons says why, most important first; there is at least one.
	Reasons []string `json:"reasons"`
	// Until is when the decision may change just because time passes; none for never (newer runs may still change
	// it).
	Until Moment `json:"until"`
	// Bytes is how much is removed: the stored bytes of a pruned run, what the run states for a tier, 0 for a kept
	// run.
	Bytes int64 `json:"bytes"`

	versions bool // TierVersions is due as well
}

// Moment is a time that may be none: null in JSON.
type Moment struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (m Moment) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return m.Time.MarshalJSON()
}

// ThinnedTo says why thinning the run to a tier would remove nothing, "" if it would. Earlier versions may come at any time,
// so whether any are left decides on TierVersions, whatever else the run has lost.
func (r *Run) ThinnedTo(t Tier) (why string) {
	switch {
	case t == TierVersions && r.Earlier == 0:
		return "no earlier version to remove"
	case t != TierVersions && r.Thinned != "" && severity(Thin, r.Thinned) >= severity(Thin, t):
		return "already thinned to tier " + string(r.Thinned)
	}
	return ""
}

// clock returns the time of clock c or, if the run does not state it, of the next best clock. It is zero if the run
// states no time.
func (r *Run) clock(c Clock) time.Time {
	order := [3]time.Time{r.LastActivity, r.Ended, r.Started}
	switch c {
	case ByEnded:
		order = [3]time.Time{r.Ended, r.LastActivity, r.Started}
	case ByStarted:
		order = [3]time.Time{r.Started, r.Ended, r.LastActivity}
	}
	for _, t := range order {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

func (r *Run) groupKey(g Grouping) string {
	switch g {
	case PerThread:
		return r.Format + "\x00" + r.Group // a thread belongs to its format
	case PerProject:
		return r.Project
	case PerFlow:
		return r.Format + "\x00" + r.Flow
	case PerSource:
		return r.Source
	case PerFormat:
		return r.Format
	}
	return ""
}

// groupName returns the name of the group for display.
func (r *Run) groupName(g Grouping) string {
	switch g {
	case PerThread:
		return r.Format + " thread " + orNone(r.Group)
	case PerProject:
		return "project " + orNone(r.Project)
	case PerFlow:
		return r.Format + " flow " + orNone(r.Flow)
	case PerSource:
		return "source " + orNone(r.Source)
	case PerFormat:
		return "format " + orNone(r.Format)
	}
	return ""
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
