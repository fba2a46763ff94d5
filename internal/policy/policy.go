// Package policy decides which runs are kept, thinned or pruned, and says why.
//
// It owns the policy language (YAML), its checks and its evaluation. It deletes nothing, reads nothing and has no
// clock: Decide is a pure function of a policy, the runs and the time. It promises: the same input gives the same
// decisions with the same reasons; every run gets exactly one decision; a pin or an unexpired hold overrides every
// rule; a run that no rule matches is kept; a mistake in a policy is an error with line and column, never a rule that
// silently does something else.
//
// How a policy is evaluated. Rules are tried in order; the first rule that matches a run applies to it. Within a
// rule, runs form groups (Per), each sorted newest first. KeepLast and KeepWithin protect runs; of the others, a run
// that exceeds any of MaxAge, MaxCount and MaxBytes gets the rule's action, or every run if the rule states none of
// these limits.
package policy

import (
	"time"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Action is what happens to a run.
type Action string

// The actions.
const (
	Keep  Action = "keep"
	Thin  Action = "thin"
	Prune Action = "prune"
)

// Tier is how far a run is thinned. From TierSearch on, each tier includes the previous ones; TierVersions is about other
// content than the words of TierSearch and the payloads of TierPayloads, and goes with each of them.
type Tier string

// MarshalJSON implements json.Marshaler. No tier is null.
func (t Tier) MarshalJSON() ([]byte, error) { return transcript.Text(t).MarshalJSON() }

// The tiers of thinning.
const (
	TierVersions Tier = "versions" // removes earlier versions of originals from which nothing counts
	TierSearch   Tier = "search"   // removes search rows; everything can still be read
	TierPayloads Tier = "payloads" // removes payloads over a size: tool output, base64
	TierLedger   Tier = "ledger"   // removes everything except the tree and the ledger of usage and cost
)

// Policy is a parsed and checked policy.
type Policy struct {
	Rules []Rule
}

// Empty reports whether the policy has no rules, so that it keeps everything. Someone who prunes with it has probably
// read the wrong file.
func (p *Policy) Empty() bool { return len(p.Rules) == 0 }

// Rule is one rule. A nil limit is not set.
type Rule struct {
	Name string
	Line int // where it begins in the source

	Match Match
	Per   Grouping
	By    Clock

	KeepLast   *int64 // per group
	KeepWithin *time.Duration
	MaxAge     *time.Duration
	MaxCount   *int64
	MaxBytes   *int64 // stored bytes of a group, newest first
	Except     []Exception

	Steps    []Step // what to do, weakest first; none for keep
	Tiered   bool   // Steps are tiers, each with its own After
	Ledger   bool   // keep totals of usage and cost when the run is pruned
	Children Children
}

// Step is one stage of removing content.
type Step struct {
	After  time.Duration // since the rule's clock; for tiers only
	Action Action        // Thin or Prune
	Tier   Tier          // for Thin
	Over   int64         // size in bytes, for TierPayloads
}

// Exception gives other ages to matching runs of a rule. They stay in the rule and in its counts.
type Exception struct {
	Match      Match
	KeepWithin *time.Duration
	MaxAge     *time.Duration
}

// Grouping says how the runs of a rule are grouped for its limits; "" is a single group.
type Grouping string

// The groupings.
const (
	PerThread  Grouping = "thread"
	PerProject Grouping = "project"
	PerFlow    Grouping = "flow"
	PerSource  Grouping = "source"
	PerFormat  Grouping = "format"
)

// Clock is the time from which a rule computes a run's age.
type Clock string

// The clocks. Each falls back to the others if a run does not state it.
const (
	ByActivity Clock = "activity"
	ByEnded    Clock = "ended"
	ByStarted  Clock = "started"
)

// Children says how the children of a run that a rule matches are decided on.
type Children string

// Follow gives children the decision on their parent; with Stay the rules decide on them independently.
const (
	Follow Children = "follow"
	Stay   Children = "stay"
)

// DefaultOver is the size in bytes over which payloads are removed if a rule does not state one.
const DefaultOver = 64_000
