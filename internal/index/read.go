package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
)

// ErrTooOld is what a reader gives when only a writer can bring the index up to date.
var ErrTooOld = errors.New("index is older than this program")

// Reader is an index that is asked. Everything streams; a range that is left early frees what it holds, and an
// error ends it.
type Reader interface {
	// Find yields the hits of a query, newest first.
	Find(ctx context.Context, q *query.Tree, page Page) iter.Seq2[Hit, error]
	// Runs yields runs, the latest start first.
	Runs(ctx context.Context, of Selection, page Page) iter.Seq2[Run, error]
	// Conversations yields those of a run, in the order of their starts.
	Conversations(ctx context.Context, run string) iter.Seq2[Conversation, error]
	// Events yields the rows of one conversation in order.
	Events(ctx context.Context, conversation string, span Span) iter.Seq2[Event, error]
	// Links yields the links that touch something, the oldest first.
	Links(ctx context.Context, of Node) iter.Seq2[Link, error]
}

// Lookup finds one thing by its public id, or by so much of the beginning of it that no other has it.
// Errors: ErrNotFound, ErrAmbiguous.
type Lookup interface {
	Run(ctx context.Context, prefix string) (Run, error)
	Conversation(ctx context.Context, prefix string) (Conversation, error)
	// Event gives the rows of one event, or of one part of it when the id ends in one.
	Event(ctx context.Context, id string) ([]Event, error)
	// Result gives the row with the result of a tool call. call is the id of the row with the call.
	Result(ctx context.Context, call string) (Event, error)
	// Receipt gives the place of a receipt, by the id of its run, a slash and its key.
	Receipt(ctx context.Context, id string) (Place, error)
}

// Originals says which original bytes the archive has and where they lie.
type Originals interface {
	// Versions yields versions of originals by path, source and number.
	Versions(ctx context.Context, of VersionFilter) iter.Seq2[FileVersion, error]
	// Locate returns where bytes of a chain lie, in order and without gaps. ErrNotFound when the chain has
	// no such bytes.
	Locate(ctx context.Context, chain, offset, length int64) ([]Piece, error)
	// LocateAll is Locate of the bytes at several places, layers of originals aside: those that are nowhere have no pieces.
	LocateAll(ctx context.Context, places []Place) ([][]Piece, error)
}

// Statistics is what there is, as stats counts it. Problems are of the newest version of each file.
type Statistics interface {
	Totals(ctx context.Context) (Stats, error)
	// Tables returns what each table takes in the index's file, the largest first. It reads most of the file.
	Tables(ctx context.Context) ([]Table, error)
	Problems(ctx context.Context) iter.Seq2[Problem, error]
}

// UnsupportedError says that an index cannot answer a part of a query.
type UnsupportedError struct {
	What string // the part, as a query writes it
	Why  string
	Hint string // what to do instead, "" when the language has it
}

func (e *UnsupportedError) Error() string { return e.What + ": " + e.Why }

// Console answers SQL that people write. It only reads, and it ends.
type Console interface {
	// Query runs one statement. columns is called once, before any row; what it or row returns ends the query
	// and is returned. Values are nil, int64, float64, string or []byte, and row may keep them.
	//
	// Errors: *SQLError when the statement is wrong or not allowed, ErrLimit when it was stopped for one of
	// the limits; the rows until then were given.
	Query(ctx context.Context, q Question, columns func([]string) error, row func([]any) error) error
}

// ConsoleTime is how long a statement may take where the question says nothing.
const ConsoleTime = 5 * time.Minute

// Question is a statement and its limits; 0 means the console's own.
type Question struct {
	SQL    string
	Params map[string]any // for :name in the statement
	Spare  bool           // Params may have names that the statement does not
	Rows   int
	Time   time.Duration
}

// ErrLimit says that a query was stopped for a limit.
var ErrLimit = errors.New("limit reached")

// SQLError says what is wrong with a statement. Line and Column count from 1 (Column in characters) and are 0
// where the engine does not say.
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
	After string // Cursor of the last item that was seen, "" for the beginning
	// AllVersions adds what does not count: earlier versions, copies, copied history.
	AllVersions bool
	// First says that the first items are wanted soon and all of them hardly ever, though nobody can tell how many: as with
	// a Limit.
	First bool
}

// Selection says which runs are meant. The zero value is all that count.
type Selection struct {
	Query  *query.Tree // nil matches every run
	Format string
	Group  string
	Named  bool // also runs that are only named by others
}

// Span is a stretch of a conversation. Rows of one event are never parted.
type Span struct {
	From, To int64 // seq, both included; 0 is open
	Limit    int   // events; 0 is no limit
	Last     bool  // the last Limit events rather than the first
	// Duplicates adds what another row of the conversation says as well, and rows of superseded originals.
	Duplicates bool
}

// Place is where the bytes of a record lie.
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
	Part, Parts  int // Part counts from 0, as Format.Text takes it
	Counted      bool
	Verdict      transcript.Verdict
	Kind         transcript.Kind
	Role         string
	Type         string
	Tool         string
	Time         transcript.Time
	Near         int64 // microseconds: Time, or the nearest known one where none is stated
	TextBytes    int64
	Attributes   string // JSON, "" for none
	Call         string // native id of the tool call, for calls
	Failed       transcript.Truth
	Place        Place
}

// Hit is a row that a query finds.
type Hit struct {
	Event
	Cursor string // Page.After of the next page
	Row    int64  // private to this index
}

// Counts is how much a run or conversation holds. Tokens and money are of runs only, unknown where no
// original states them.
type Counts struct {
	Conversations, Events, Messages, Calls, Results                 int64
	Input, Output, CacheRead, CacheCreation, ReportedCost, CostUsed transcript.Count // tokens, micro-USD
}

// Run is a run as its originals together tell it.
type Run struct {
	ID       string // public
	Format   string
	NativeID string
	Anchor   string
	Counted  bool // false: only named by others
	Group, Project, Branch, Flow, Title,
	Agent, Model, Host, Version, Status string
	Outcome        transcript.Outcome
	Error          string
	Started, Ended transcript.Time // Offset is not kept
	Stub, Child    bool
	Pruned         bool   // only its ledger is left
	Thinned        string // the tier that some of its originals were thinned to: search, payloads
	Counts         Counts
	Attributes     string
}

// Cursor is the Page.After of the runs that follow r.
func (r *Run) Cursor() string { return r.ID }

// Conversation is a conversation as the original that counts tells it.
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
	Versions       int64 // originals and earlier contents that hold it
	Key            VersionKey
	Counts         Counts
	Attributes     string
}

// Node is one end of links: a run, or a group of runs of a format. The zero Node is everything.
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
	Run          string // public, "" where nothing has that name
	ConvID       string // public
	Found        bool   // the archive holds it, and not only its name
}

// Link is one edge, however often it is stated.
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
	Run          string // public id: originals that speak of it; a history of several runs only where one does not count
	Conversation string // public id: originals that hold it, copies too
	Number       int
	Newest       bool
}

// FileVersion is one content of one original. Extents are not filled in: see Locate.
type FileVersion struct {
	blob.Version
	Chain  int64 // private to this index
	Newest bool
	Copies int64 // versions with these bytes, this one included
	Parser int   // version of the parser that made its rows, 0 when it was not parsed
}

// Piece is a stretch of bytes in one pack, with the members to inflate.
type Piece struct {
	Pack    string
	Raw     int64 // of the first byte, in the pack's inflated tar stream
	Size    int64
	Members []blob.Member // without their hashes
}

// Problem is something that could not be read. Scan problems have no format and no place.
type Problem struct {
	ID     string
	Format string
	Kind   string
	Reason string
	Key    VersionKey
	Run    string
	Origin transcript.Origin
}

// Stats is the totals of the archive and of each format.
type Stats struct {
	Totals  Sums            `json:"totals"`
	Formats map[string]Sums `json:"formats"`
}

// Table is a table of an index. All that belongs to the full-text index is one.
type Table struct {
	Name       string `json:"table"`
	Rows       int64  `json:"rows"`
	Bytes      int64  `json:"bytes"`       // pages of the rows themselves
	IndexBytes int64  `json:"index_bytes"` // pages of the table's indexes
}

// Sums is what stats counts. What no original states adds nothing.
type Sums struct {
	Files         int64  `json:"files"`
	Bytes         int64  `json:"bytes"`        // of all versions, as restored
	StoredBytes   int64  `json:"stored_bytes"` // of packs; a format's is its share of the packs that it lies in
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
