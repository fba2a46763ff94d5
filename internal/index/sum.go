package index

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Accounts sums usage and its cost.
type Accounts interface {
	// Sum yields the usage that counts, summed by group, in an arbitrary order. A group may be split over several
	// rows.
	Sum(ctx context.Context, q SumQuery) iter.Seq2[Sum, error]
	// Usage yields usage records one by one, by time (those without one first) and then by id.
	Usage(ctx context.Context, of UsageFilter) iter.Seq2[Usage, error]
	// Reprice computes the cost of every request by a book and updates the records that differ, in one
	// transaction. It returns how many changed.
	Reprice(ctx context.Context, book *price.Book) (changed int64, err error)
}

// Dimension is what usage is grouped by, apart from time.
type Dimension string

// The dimensions. What a usage record does not state itself is taken from its conversation, then from its run;
// the model is only ever the one that was priced. Run and conversation are public ids.
const (
	ByModel        Dimension = "model"
	ByAgent        Dimension = "agent"
	ByFormat       Dimension = "format"
	ByProject      Dimension = "project"
	ByRun          Dimension = "run"
	ByConversation Dimension = "conversation"
	ByFlow         Dimension = "flow"
	ByStep         Dimension = "step"
	// ByTool is the names of the tools that a request called, sorted and joined by commas: the calls in its original
	// since the request before it.
	ByTool   Dimension = "tool"
	ByStatus Dimension = "status"
	BySource Dimension = "source"
	// ByUsage makes each record a group of its own, keyed by its public id.
	ByUsage Dimension = "usage"
)

// Unit is the resolution of time in a sum.
type Unit uint8

// The units of time. Days and hours are those of SumQuery.Location.
const (
	NoTime  Unit = iota
	Day          // Sum.Time is the local day since 1970
	Hour         // Sum.Time is the start of the hour in seconds since 1970 UTC
	Instant      // Sum.Time is microseconds since 1970 UTC
)

// SumQuery selects what is summed, and how it is grouped.
type SumQuery struct {
	UsageFilter
	By       []Dimension
	Unit     Unit
	Location *time.Location // nil is UTC
}

// UsageFilter selects usage. Zero fields match all usage that counts.
type UsageFilter struct {
	// Query may use fields, numbers and times. Errors: *UnsupportedError for parts that do not apply to usage,
	// such as text.
	Query *query.Tree
	// From and To bound the time: from included, to excluded; zero is open. Usage without a time is outside of any
	// bounded window.
	From, To time.Time
	// Undated includes the usage that states no time, excludes it, or selects nothing else.
	Undated Undated
	// FileTimes gives usage that states no time that of its file: when it was last changed.
	FileTimes bool
	// Runs are public ids; nil is every run.
	Runs []string
	// Conversation and ID are public ids, "" for any.
	Conversation, ID string
	// All adds what does not count: copies, totals of other records, usage that no receipt confirms.
	All bool
}

// Undated says what is done with usage that states no time.
type Undated uint8

// The values of Undated.
const (
	WithUndated Undated = iota
	NoUndated
	// OnlyUndated ignores From and To, and Sum also the time bounds that apply to the whole Query, unless FileTimes makes
	// them meaningful.
	OnlyUndated
)

// Twin marks the records of a pair in one conversation that describe the same spending: one has its tokens, the
// other its reported cost.
type Twin uint8

// The kinds of twins.
const (
	NoTwin Twin = iota
	TokenTwin
	CostTwin
)

// Sum is a row of summed usage of one group. Records of a group whose cost is determined differently (by Model,
// Reason, HasReported or Twin) are in separate rows.
type Sum struct {
	Keys  []Key            // in the order of SumQuery.By
	Time  transcript.Count // by SumQuery.Unit
	Model string
	Spent
	Reason      string // why there is no calculated cost, "" when there is one
	HasReported bool
	Twin        Twin
}

// Key is the value of a dimension; Valid is false where nothing states it.
type Key struct {
	Text  string
	Valid bool
}

// Spent has the figures that are summed. Unknown values add nothing.
type Spent struct {
	Records    int64
	Requests   int64 // a record that does not say how many requests it covers is one
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64 // 5 minutes, or of unstated lifetime
	CacheLong  int64 // 1 hour
	Reasoning  int64 // a part of Output
	Reported   int64 // nano-USD
	Calculated int64 // nano-USD
}

// Usage is one usage record of the index.
type Usage struct {
	transcript.Usage        // Run and Conversation are native ids; Verdict is the archive's
	ID               string // public
	RunID            string // public
	ConversationID   string // public, "" where no such conversation is archived
	Of               string // the record that counts instead, "" where the verdict names none
	Calculated       transcript.Count
	PriceModel       string // row of the price table
	PriceTable       string // day of the price table
	PriceNote        string // why there is no price, or what was assumed
	Twin             Twin
	Place            Place
	FileTime         transcript.Time // when the original was last changed
}

// Plus returns the sum of both. Sums that overflow saturate.
func (s Spent) Plus(o Spent) Spent {
	return Spent{SaturatingAdd(s.Records, o.Records), SaturatingAdd(s.Requests, o.Requests), SaturatingAdd(s.Input, o.Input), SaturatingAdd(s.Output, o.Output),
		SaturatingAdd(s.CacheRead, o.CacheRead), SaturatingAdd(s.CacheWrite, o.CacheWrite), SaturatingAdd(s.CacheLong, o.CacheLong), SaturatingAdd(s.Reasoning, o.Reasoning),
		SaturatingAdd(s.Reported, o.Reported), SaturatingAdd(s.Calculated, o.Calculated)}
}

// Minus returns the negative of s.
func (s Spent) Minus() Spent {
	return Spent{-s.Records, -s.Requests, -s.Input, -s.Output, -s.CacheRead, -s.CacheWrite, -s.CacheLong, -s.Reasoning, -s.Reported, -s.Calculated}
}

// SaturatingAdd returns a+b, or the limit that it would exceed.
func SaturatingAdd(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return -math.MaxInt64
	default:
		return sum
	}
}

// Limits of one usage record: more than any request has, and small enough that sums of millions of records do not
// overflow.
const (
	MaxTokens = 1 << 40
	MaxNano   = 1_000_000_000_000_000 // nano-USD: a million dollars
)
