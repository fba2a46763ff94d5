package index

import (
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/transcript"
)

// VersionKey names one version of one original.
type VersionKey struct {
	Source string
	Path   string
	Number int
}

// Subject is the version that is parsed and how much of it the index has already.
type Subject struct {
	VersionKey
	Format string
	Role   string
	Parser int    // version of the format
	Claim  string // root directory of the format
	Size   int64  // bytes of the version
	SHA256 blob.Ref
	// From is where the new records begin: those before it are indexed and only counted again.
	From    int64
	ModTime int64  // microseconds UTC; stands in for events without any time
	Host    string // of runs that name none, where the source is known to be of another machine
}

// Parsed is what one parse of one version says, or a stretch of it, ready for an engine.
type Parsed struct {
	Subject
	First bool  // the first stretch of a parse
	Last  bool  // the parse reached the end of the version
	Until int64 // records before this offset are now known: what the next parse starts From

	Runs          []*transcript.Run
	Again         map[string]bool // native ids of runs of which an earlier stretch has told more: what is said here completes it
	Conversations []Transcript
	Rows          []Row  // in the order of the original
	Words         *Words // what the numbers in Rows mean
	Usage         []*transcript.Usage
	Receipts      []*transcript.Receipt
	Steps         []*transcript.Step
	Links         []*transcript.Link
	Hints         []*transcript.Hint
	Problems      []*transcript.Problem
	Unsaid        int64 // problems beside these, that one of kind MoreProblems counts
	Bytes         int   // memory that all of these hold, roughly, but for Words
	Held          int   // and that Words took since the last stretch
}

// Transcript is what a version holds of one conversation.
type Transcript struct {
	transcript.Conversation
	Aside bool // made for uncounted rows of the run
	Again bool // an earlier stretch has told more of it, as of Parsed.Again

	// What the version holds of it up to Until, indexed earlier or not.
	LastSeq   int64
	TotalRows int64
}

// Row is one part of one event.
type Row struct {
	*Labels
	Conversation int   // index in Parsed.Conversations
	Seq          int64 // in the conversation's part that this version holds, from 1
	Part, Parts  int
	Verdict      transcript.Verdict
	Time         transcript.Time
	Near         int64 // the time that places the row: its own or the nearest known one, microseconds
	Inner        string
	Offset       int64
	Length       int64
	Line         int
	TextBytes    int
	EID          int64    // EventHash of the native event id, compared inside a conversation; 0 where there is none
	Global       int      // of the native id: 0 unique in the conversation, 2 in the format, 1 and first written here
	Native       NativeID // of the event; in the first of its rows, or all when there is an EID
	Attributes   string   // JSON, in the first row
	Prompt       int64    // hash of what of the event is Retold, in the first row; 0: nothing
	T            []uint32 // terms for search, as numbers in Parsed.Words: facets, then words with the parts of identifiers (Same)
	Call         *transcript.Call
	Result       *transcript.Result
}

// Labels is what a row says that many others say as well: they share one, as far as one Collector has made them.
type Labels struct {
	Kind             transcript.Kind
	Role, Type, Tool string
	Scene
}
