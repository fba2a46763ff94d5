package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
)

// ErrTooOld is returned to a reader when the index must first be migrated, which only a writer can do.
var ErrTooOld = errors.New("index is older than this program")

// Reader answers queries. All results are streamed: leaving a range early releases its resources, and an error
// ends it.
type Reader interface {
	// Find yields the hits of a query, newest first.
	Find(ctx context.Context, q *query.Tree, page Page) iter.Seq2[Hit, error]
	// Runs yields runs, the latest start first.
	Runs(ctx context.Context, of Selection, page Page) iter.Seq2[Run, error]
	// RunIDs returns only the ids of what Runs yields, without the sums that most of a run takes.
	RunIDs(ctx context.Context, of Selection, page Page) ([]string, error)
	// Conversations yields the conversations of a run, by start.
	Conversations(ctx context.Context, run string) iter.Seq2[Conversation, error]
	// Events yields the rows of one conversation in order.
	Events(ctx context.Context, conversation string, span Span) iter.Seq2[Event, error]
	// Links yields the links that begin or end in a node, the oldest first.
	Links(ctx context.Context, of Node) iter.Seq2[Link, error]
}

// ConversationLister lists the conversations of many runs.
type ConversationLister interface {
	// ConversationsOf yields the conversations of runs that count, or with AllVersions all, in the order of their runs.
	ConversationsOf(ctx context.Context, of Selection, page Page) iter.Seq2[RunConversation, error]
}

// RunConversation is a conversation with its run, which conversations may share.
type RunConversation struct {
	Conversation
	Of *Run
}

// Lookup finds a single item by its public id or by any unique prefix of it. Errors: ErrNotFound, ErrAmbiguous.
type Lookup interface {
	Run(ctx context.Context, prefix string) (Run, error)
	Conversation(ctx context.Context, prefix string) (Conversation, error)
	// Event returns the rows of one event, or the row of one part when the id names a part.
	Event(ctx context.Context, id string) ([]Event, error)
	// Result returns the row with the result of a tool call. call is the id of the row with the call.
	Result(ctx context.Context, call string) (Event, error)
	// Receipt returns the place of a receipt. The id is <run id>/<receipt key>.
	Receipt(ctx context.Context, id string) (Place, error)
}

// Originals tells which original bytes the archive has and where they are stored.
type Originals interface {
	// Versions yields versions of originals by path, source and number.
	Versions(ctx context.Context, of VersionFilter) iter.Seq2[FileVersion, error]
	// Locate returns where bytes of a chain are stored, in order and without gaps. ErrNotFound when the chain has
	// no such bytes.
	Locate(ctx context.Context, chain, offset, length int64) ([]Piece, error)
	// LocateAll is Locate for several places at once. A place that is nowhere, or in an inner layer of an original
	// (Origin.Inner), has no pieces.
	LocateAll(ctx context.Context, places []Place) ([][]Piece, error)
}

// Statistics has the figures of the stats command. Problems are those of the newest version of each file.
type Statistics interface {
	Totals(ctx context.Context) (Stats, error)
	// Tables returns the size of each table in the index's file, the largest first. It reads most of the file.
	Tables(ctx context.Context) ([]Table, error)
	Problems(ctx context.Context) iter.Seq2[Problem, error]
}

// UnsupportedError reports a part of a query that an index cannot answer.
type UnsupportedError struct {
	What string // the part, in query syntax
	Why  string
	Hint string // what to write instead, "" when there is nothing
}

func (e *UnsupportedError) Error() string { return e.What + ": " + e.Why }

// Console runs SQL that people write. Statements are read-only and limited in time and rows.
type Console interface {
	// Query runs one statement. columns is called once, before any row. An error of columns or row ends the query
	// and is returned. Values are nil, int64, float64, string or []byte, and row may keep them.
	//
	// Errors: *SQLError when the statement is wrong or not allowed; ErrLimit when it was stopped by a limit, after
	// the rows up to the limit were passed to row.
	Query(ctx context.Context, q Question, columns func([]string) error, row func([]any) error) error
}

// ConsoleTime is the default time limit of a statement.
const ConsoleTime = 5 * time.Minute

// Question is a statement and its limits; 0 means the console's default.
type Question struct {
	SQL         string
	Params      map[string]any // for :name in the statement
	AllowUnused bool           // Params may have names that the statement does not use
	Rows        int
	Time        time.Duration
}

// ErrLimit is returned when a limit stopped a query.
var ErrLimit = errors.New("limit reached")

// SQLError is an error in a statement. Line and Column count from 1 (Column in characters) and are 0 where the
// engine does not report them.
type SQLError struct {
	Message      string
	Line, Column int
}

func (e *SQLError) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Page bounds a list.
type Page struct {
	Limit int    // 0 is no limit
	After string // Cursor of the last hit of the page before, "" for the beginning. Only Find has pages
	// AllVersions adds what does not count: earlier versions, copies, copied history.
	AllVersions bool
	// First asks to plan for a fast start, as with a Limit: the caller will hardly read all items, but cannot say
	// how many it needs.
	First bool
	// Sort is the order of Runs and ConversationsOf: by "started" (the default), "ended", "duration", "events", "tokens" or "cost", from the highest or,
	// with Reverse, from the lowest. What is unknown is lowest, and equals are in the default order.
	Sort    string
	Reverse bool
}

// Selection selects runs. The zero value selects all runs that count.
type Selection struct {
	Query  *query.Tree // nil matches every run
	Format string
	Group  string
	Run    string // public id
	Named  bool   // also runs that are only mentioned by others
}

// Span is a range of events of a conversation. It never splits the rows of one event.
type Span struct {
	From, To int64 // seq, both included; 0 is open
	Limit    int   // events; 0 is no limit
	Last     bool  // the last Limit events rather than the first
	// Duplicates adds rows that repeat another row of the conversation, and rows of superseded originals.
	Duplicates bool
}

// Place locates the bytes of a record.
type Place struct {
	VersionKey
	Format string
	Role   string // as claimed
	Chain  int64  // private to this index
	transcript.Origin
}

// Event is one row of the index: one part of an event.
type Event struct {
	ID           string // public, with ".part" when the event has several
	Conversation string
	Run          string
	Seq          int64
	Part, Parts  int // Part counts from 0, as in Format.Text
	Counted      bool
	Verdict      transcript.Verdict
	Kind         transcript.Kind
	Role         string
	Type         string
	Tool         string
	Agent, Model string // as the event states them: empty where those of its conversation hold
	Flow, Step   string // likewise
	Time         transcript.Time
	Near         int64 // microseconds: Time, or the nearest known time where the event states none
	TextBytes    int64
	Attributes   string // JSON, "" for none
	Call         string // native id of the tool call, for calls
	Failed       transcript.Truth
	Place        Place
}

// Hit is a row that matches a query.
type Hit struct {
	Event
	Cursor string // Page.After for the hits that follow this one
	Row    int64  // row id, private to this index
}

// Counts counts the contents of a run or conversation.
type Counts struct {
	Conversations, Events, Messages, Calls, Results int64
	Used
}

// Used is what requests used, known only where an original states it: tokens, and micro-USD.
type Used struct {
	Input, Output, CacheRead, CacheCreation, ReportedCost, CostUsed transcript.Count
}

// Run is a run, merged from everything its originals state about it.
type Run struct {
	ID       string // public
	Format   string
	NativeID string
	Anchor   string
	Counted  bool // false: only mentioned by others
	Group, Project, Branch, Flow, Title,
	Agent, Model, Host, Version, Status string
	Outcome        transcript.Outcome
	Error          string
	Started, Ended transcript.Time // Offset is not kept
	Changed        transcript.Time // the last change of its originals, if Started is unknown
	Stub, Child    bool
	Pruned         bool   // only its ledger is left
	Thinned        string // tier to which some of its originals were thinned: search, payloads; or all: ledger; or versions, if earlier ones are gone and nothing more
	Counts         Counts
	Attributes     string
}

// StatedTags returns the tags that the producer of a run states: its attribute "tags".
func (r *Run) StatedTags() []string {
	var stated struct {
		Tags string `json:"tags"`
	}
	if json.Unmarshal([]byte(r.Attributes), &stated) != nil {
		return nil
	}
	return SplitTags(stated.Tags)
}

// SplitTags returns the tags in an attribute "tags", in which commas separate them.
func SplitTags(stated string) []string {
	if stated == "" {
		return nil
	}
	return strings.Split(stated, ",")
}

// Conversation is a conversation, as stated by the original that counts.
type Conversation struct {
	ID       string // public
	Format   string
	Run      string
	NativeID string
	Verdict  transcript.Verdict
	Of       string // the conversation that counts instead
	Title, Agent, Engine, Model, Flow, Step,
	Mode, Status, Version, Project, Branch string
	Started, Ended transcript.Time
	Child          bool
	Versions       int64 // originals and earlier versions that contain it
	Key            VersionKey
	Counts         Counts
	Attributes     string
}

// Node is a node of the graph of links: a run, or a group of runs of a format. The zero Node matches all links.
type Node struct {
	Run    string // public id
	Format string
	Group  string
}

// End is one end of a link, with what it resolves to.
type End struct {
	Type         string // run, conversation, group, actor
	NativeID     string
	Conversation string // native id
	Run          string // public, "" where it resolves to nothing
	ConvID       string // public
	Found        bool   // it is archived, not only mentioned
}

// Link is one edge, however many records state it.
type Link struct {
	ID         string
	Format     string
	Kind       string
	From, To   End
	Counted    bool
	Statements int64
	Time       transcript.Time
	Key        VersionKey
	Origin     transcript.Origin
	Attributes string
}

// VersionFilter picks versions of originals. Zero fields match all.
type VersionFilter struct {
	Source       string
	Path         string
	Below        string // a file, or a directory above it
	From         string // paths from this one on
	Run          string // public id: originals that describe it; a history of several runs only where one of them does not count
	Conversation string // public id: originals that contain it, copies included
	Number       int
	Newest       bool
}

// FileVersion is one version of one original. Extents are not filled in: see Locate.
type FileVersion struct {
	blob.Version
	Chain  int64 // private to this index
	Newest bool
	Copies int64 // versions with the same bytes, this one included
	Parser int   // version of the parser that made its rows, 0 when it was not parsed
}

// Piece is a contiguous range of bytes in one pack, with the members to inflate.
type Piece struct {
	Pack    string
	Raw     int64 // offset of the first byte in the pack's inflated tar stream
	Size    int64
	Members []blob.Member // without their hashes
}

// Problem is something in an original that could not be read. Problems of a scan have no format and no place.
type Problem struct {
	ID     string
	Format string
	Kind   string
	Reason string
	Key    VersionKey
	Run    string
	Origin transcript.Origin
}

// Stats has the totals of the archive and of each format.
type Stats struct {
	Totals  Sums            `json:"totals"`
	Formats map[string]Sums `json:"formats"`
}

// Table is the size of one table. All tables of the full-text index are counted as one.
type Table struct {
	Name       string `json:"table"`
	Rows       int64  `json:"rows"`
	Bytes      int64  `json:"bytes"`       // pages of the table's rows
	IndexBytes int64  `json:"index_bytes"` // pages of the table's indexes
}

// Sums are the figures of the stats command. Unknown values add nothing.
type Sums struct {
	Files         int64  `json:"files"`
	Bytes         int64  `json:"bytes"`        // of all versions, as restored
	StoredBytes   int64  `json:"stored_bytes"` // of packs; for a format, its share of the packs that contain it
	Runs          int64  `json:"runs"`
	Conversations int64  `json:"conversations"`
	Events        int64  `json:"events"`
	ToolCalls     int64  `json:"tool_calls"`
	ToolResults   int64  `json:"tool_results"`
	Input         *int64 `json:"input_tokens"`
	Output        *int64 `json:"output_tokens"`
	CacheRead     *int64 `json:"cache_read_tokens"`
	CacheCreation *int64 `json:"cache_creation_tokens"`
	ReportedCost  *int64 `json:"reported_cost_microusd"`
	Links         int64  `json:"links"`
	Problems      int64  `json:"problems"`
}
