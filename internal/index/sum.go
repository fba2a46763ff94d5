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

// Accounts is an index that adds usage up.
type Accounts interface {
	// Sum yields the usage that counts, added up in groups, in no order that means anything. A group may be told in
	// several rows.
	Sum(ctx context.Context, q SumQuery) iter.Seq2[Sum, error]
	// Usage yields usage records one by one, by time (those without one first) and then by id.
	Usage(ctx context.Context, of UsageFilter) iter.Seq2[Usage, error]
	// Reprice computes what every request costs by a book and writes what differs, in one transaction. It
	// returns how many records changed.
	Reprice(ctx context.Context, book *price.Book) (changed int64, err error)
}

// Dimension is something that usage is grouped by, apart from time.
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
	// ByTool is the tools that a request called, by name and joined by commas: the calls of its original that
	// stand since the request before it.
	ByTool   Dimension = "tool"
	ByStatus Dimension = "status"
	BySource Dimension = "source"
	// ByUsage is each record by itself, by its public id.
	ByUsage Dimension = "usage"
)

// Unit is how finely a sum tells times apart.
type Unit uint8

// The units of time. Days and hours are those of SumQuery.Location.
const (
	NoTime  Unit = iota
	Day          // Sum.Time is the local day since 1970
	Hour         // Sum.Time is the begin of the hour in seconds since 1970 UTC
	Instant      // Sum.Time is microseconds since 1970 UTC
)

// SumQuery says what is added up, and how.
type SumQuery struct {
	UsageFilter
	By       []Dimension
	Unit     Unit
	Location *time.Location // nil is UTC
}

// UsageFilter picks usage. Zero fields match all that counts.
type UsageFilter struct {
	// Query may ask for fields, numbers and times. Errors: *UnsupportedError for what says nothing of usage,
	// text for example.
	Query *query.Tree
	// From and To bound the time: from included, to excluded; zero is open. Usage without a time is in no
	// bounded time.
	From, To time.Time
	// Undated is what states no time, in the place of what lies in a window: From and To are left aside then, and Sum does
	// so with those that hold for the whole Query.
	Undated bool
	// Runs are public ids; nil is every run.
	Runs []string
	// Conversation and ID are public ids, "" for any.
	Conversation, ID string
	// All adds what does not count: copies, totals of others, what no receipt vouches for.
	All bool
}

// Twin says that two records of one conversation tell of the same spending: one has its tokens, the other its
// reported cost.
type Twin uint8

// The kinds of twins.
const (
	NoTwin Twin = iota
	TokenTwin
	CostTwin
)

// Sum is usage of one group, added up. Records that differ in what follows from them for money are in rows of
// their own.
type Sum struct {
	Keys  []Key            // as SumQuery.By
	Time  transcript.Count // by SumQuery.Unit
	Model string
	Spent
	Reason      string // why there is no calculated cost, "" when there is one
	HasReported bool
	Twin        Twin
}

// Key is the value of a dimension; not Valid where nothing states it.
type Key struct {
	Text  string
	Valid bool
}

// Spent is numbers that add up. What is unknown adds nothing.
type Spent struct {
	Records    int64
	Requests   int64 // a record that does not say how many it stands for is one
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64 // 5 minutes, or not told apart
	CacheLong  int64 // 1 hour
	Reasoning  int64 // a part of Output
	Reported   int64 // nano-USD
	Calculated int64 // nano-USD
}

// Usage is one usage record as the index has it.
type Usage struct {
	transcript.Usage        // Run and Conversation are native ids; Verdict is the one that the archive gave
	ID               string // public
	RunID            string // public
	ConversationID   string // public, "" where the archive holds no such conversation
	Of               string // the record that counts instead, "" where the verdict names none
	Calculated       transcript.Count
	PriceModel       string // row of the price table
	PriceTable       string // its day
	PriceNote        string // why there is no price, or what was assumed
	Twin             Twin
	Place            Place
}

// Plus returns the sum of both. Sums that do not fit stay at the limit.
func (s Spent) Plus(o Spent) Spent {
	return Spent{Add(s.Records, o.Records), Add(s.Requests, o.Requests), Add(s.Input, o.Input), Add(s.Output, o.Output),
		Add(s.CacheRead, o.CacheRead), Add(s.CacheWrite, o.CacheWrite), Add(s.CacheLong, o.CacheLong), Add(s.Reasoning, o.Reasoning),
		Add(s.Reported, o.Reported), Add(s.Calculated, o.Calculated)}
}

// Minus returns what takes s away when it is added.
func (s Spent) Minus() Spent {
	return Spent{-s.Records, -s.Requests, -s.Input, -s.Output, -s.CacheRead, -s.CacheWrite, -s.CacheLong, -s.Reasoning, -s.Reported, -s.Calculated}
}

// Add returns a+b, or the limit that it passes.
func Add(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return -math.MaxInt64
	default:
		return sum
	}
}

// What one usage record may say: more than any request has, and little enough for sums of millions of records.
const (
	MostTokens = 1 << 40
	MostNano   = 1_000_000_000_000_000 // nano-USD: a million dollars
)

// bound takes out of a record what no request can have, so that one broken original does not spoil the sums of others: a
// negative number of tokens or requests is unknown, and what is too large is cut. Money below zero is a credit.
func bound(u *transcript.Usage) {
	for _, n := range [...]*transcript.Count{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.CacheWrite1h, &u.Reasoning, &u.Requests} {
		if n.N = min(n.N, MostTokens); n.N < 0 {
			*n = transcript.Count{}
		}
	}
	u.Cost.N = max(-MostNano, min(u.Cost.N, MostNano))
}
