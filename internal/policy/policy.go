// Package policy decides which runs are kept, thinned or pruned, and says why.
//
// It owns the policy language (YAML), its checks and its evaluation. It deletes nothing, reads nothing and has
// no clock: Decide is a pure function of a policy, the runs and the time. It promises: the same input gives the
// same decisions with the same reasons; every run gets exactly one decision; a pin or an unexpired hold wins
// over every rule; a run that no rule matches is kept; a mistake in a policy is an error with line and column,
// never a rule that silently does something else.
//
// How a policy is read. Rules stand in order; the first rule that matches a run takes it. Within a rule runs
// fall into groups (Per), each sorted newest first. KeepLast and KeepWithin protect; of the rest, a run that is
// over any of MaxAge, MaxCount and MaxBytes gets the rule's action, or every one when the rule states none of
// them.
package policy

import "time"

// Action is what happens to a run.
type Action string

// The actions.
const (
	Keep  Action = "keep"
	Thin  Action = "thin"
	Prune Action = "prune"
)

// Tier is how far a run is thinned; each includes those before it.
type Tier string

// The tiers of thinning.
const (
	TierSearch   Tier = "search"   // search rows go, everything can still be read
	TierPayloads Tier = "payloads" // payloads over a size go: tool output, base64
	TierLedger   Tier = "ledger"   // everything goes but the tree and the ledger of usage and cost
)

// Policy is a parsed and checked policy.
type Policy struct {
	Rules []Rule
}

// Empty says that the policy has no rules, so that it keeps everything. Whoever deletes by it has probably
// read the wrong file.
func (p *Policy) Empty() bool { return len(p.Rules) == 0 }

// Rule is one rule. A nil limit is not stated.
type Rule struct {
	Name string
	Line int // where it begins in the source

	Match Match
	Per   Grouping
	By    Clock

	KeepLast   *int64 // runs of a group
	KeepWithin *time.Duration
	MaxAge     *time.Duration
	MaxCount   *int64
	MaxBytes   *int64 // stored bytes of a group, newest first
	Except     []Exception

	Steps    []Step // what happens, weakest first; none for keep
	Tiered   bool   // Steps came from tiers, each with a time of its own
	Ledger   bool   // totals of usage and cost stay when the run goes
	Children Children
}

// Step is one stage of losing content.
type Step struct {
	After  time.Duration // since the rule's clock; only of tiers
	Action Action        // Thin or Prune
	Tier   Tier          // of Thin
	Over   int64         // bytes, of TierPayloads
}

// Exception gives matching runs of a rule other ages; they stay in the rule and in its counts.
type Exception struct {
	Match      Match
	KeepWithin *time.Duration
	MaxAge     *time.Duration
}

// Grouping is what limits are counted in; "" is all runs of the rule together.
type Grouping string

// The groupings.
const (
	PerThread  Grouping = "thread"
	PerProject Grouping = "project"
	PerFlow    Grouping = "flow"
	PerSource  Grouping = "source"
	PerFormat  Grouping = "format"
)

// Clock is the time from which limits count a run's age.
type Clock string

// The clocks. Each falls back on the others when a run does not state it.
const (
	ByActivity Clock = "activity"
	ByEnded    Clock = "ended"
	ByStarted  Clock = "started"
)

// Children says what becomes of the children of a run that a rule takes.
type Children string

// Follow gives children the decision of their parent; Stay lets the rules judge them by themselves.
const (
	Follow Children = "follow"
	Stay   Children = "stay"
)

// DefaultOver is the size over which payloads go when a rule does not state one.
const DefaultOver = 64_000
