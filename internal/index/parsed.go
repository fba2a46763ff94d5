package index

import (
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/transcript"
)

// VersionKey names one version of one original.
type VersionKey struct {
	Source string
	Path   string
	Number int
}

// KeyOf returns the key of a version.
func KeyOf(v *blob.Version) VersionKey { return VersionKey{v.Source, v.Path, v.Number} }

// Subject is the version to parse, and how much of it is already indexed.
type Subject struct {
	VersionKey
	Format string
	Role   string
	Parser int    // version of the format
	Claim  string // root directory of the format
	Size   int64  // bytes of the version
	SHA256 blob.Ref
	// From is the offset at which new records begin. Those before it are indexed already and only counted again.
	From    int64
	ModTime int64  // microseconds UTC; stands in for events without any time
	Host    string // default for runs that name none, where the source is known to be of another machine
}

// Parsed is the result of parsing one version, or one chunk of it, ready for an engine.
type Parsed struct {
	Subject
	First bool  // the first chunk of a parse
	Last  bool  // the parse reached the end of the version
	Until int64 // records before this offset are now known: the From of the next parse

	Runs             []*transcript.Run
	Continued        map[string]bool // native ids of runs of which an earlier chunk states more, which these statements complete
	Conversations    []Transcript
	Rows             []Row          // in the order of the original
	Words            *lexicon.Words // the terms of the numbers in Rows
	Usage            []*transcript.Usage
	Receipts         []*transcript.Receipt
	Steps            []*transcript.Step
	Links            []*transcript.Link
	Hints            []*transcript.Hint
	Problems         []*transcript.Problem
	UnlistedProblems int64 // further problems, counted by the one of kind MoreProblems
	Bytes            int   // approximate memory of all of these, without Words
	Held             int   // Bytes, and what Words grew by since the last chunk
}

// Transcript is what a version contains of one conversation.
type Transcript struct {
	transcript.Conversation
	Uncounted bool // it was made for uncounted rows of the run
	Continued bool // an earlier chunk states more of it, as in Parsed.Continued

	// What the version contains of it up to Until, whether indexed earlier or not.
	LastSeq   int64
	TotalRows int64
}

// Row is one part of one event.
type Row struct {
	*Labels
	Conversation int   // index in Parsed.Conversations
	Seq          int64 // from 1, among the conversation's events in this version
	Part, Parts  int
	Verdict      transcript.Verdict
	Time         transcript.Time
	Near         int64 // microseconds: its own time, or the nearest known one; determines the row id
	Inner        string
	Offset       int64
	Length       int64
	Line         int
	TextBytes    int
	EID          int64    // EventHash of the native event id, compared inside a conversation; 0 if there is none
	Global       int      // scope of the native id: 0 unique in the conversation, 2 in the format, 1 in the format and first written here
	Native       NativeID // of the event; in its first row, or in all when there is an EID
	Attributes   string   // JSON, in the event's first row
	Prompt       int64    // hash of transcript.Event.Retold, in the event's first row; 0: none
	T            []uint32 // terms to search, as numbers in Parsed.Words: facets, then words and the parts of identifiers (lexicon.Same)
	Call         *transcript.Call
	Result       *transcript.Result
}

// Labels are the values of a row that many rows have in common. Rows of one original share them.
type Labels struct {
	Kind             transcript.Kind
	Role, Type, Tool string
	Scene
}

// MoreProblems is the kind of the problem that stands for all that are not listed one by one. Every parse that reaches the end of a
// version emits it again.
const MoreProblems = "more problems"
