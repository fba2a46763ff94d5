// Package format is the contract between the archive and the systems whose files it keeps, and the few
// things that all of them share: readers of lines, JSON, times, gzip, zstd and tar, a sink for records, and room for them.
//
// A format is a pure function from bytes to records. It opens no file, asks no clock and keeps no state: the
// same bytes at the same path give the same records on every machine, and the bytes of one event alone give
// its text back (Text). What it cannot read it says in a transcript.Problem; the bytes are stored either way.
package format

import (
	"io"
	"iter"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Format is one transcript layout with its parser.
type Format interface {
	// Name is the format's name in facets, views and stats: "awf", "flow-studio".
	Name() string
	// Version counts changes of Parse that give other records for the same bytes. A higher one makes the
	// archive parse the originals of this format again, from its packs.
	Version() int
	// Detect says what a file is from its path and first bytes, without I/O. The zero Claim means that it
	// is none of this format's.
	Detect(Head) Claim
	// Parse yields the records of one whole original in file order; of a document that is a tree, the events of one conversation in
	// the order in which they are read. An event with its parts and their texts lives until the
	// next record is asked for: see transcript.Clone. The error is the reader's, never about content; it ends the sequence.
	Parse(Input) iter.Seq2[transcript.Record, error]
	// Text gives the text of one part of an event from the event's own bytes (its Origin's range, or the
	// part's own range where the part states one), the same text that Parse put into Part.Text. role is the
	// Claim's.
	Text(role string, raw []byte, part int) (string, error)
}

// Withholder is a Format that leaves files out of the archive, whoever else claims them: its claim on such a file has Skip set. It is asked
// this alone of a file that another format is certain of.
type Withholder interface {
	Withholds(Head) bool
}

// Head is what Detect may look at.
type Head struct {
	Path  string // slash-separated, from the root of the file system: what lies above the source tells whose a file is, too
	Dir   string // the source's root, which Path begins with; "" where nobody knows it, and Path is relative to it
	Size  int64
	Bytes []byte // up to HeadSize first bytes
}

// HeadSize is how many first bytes of a file Detect gets to see.
const HeadSize = 8 << 10

// Strength orders claims on one file: the strongest wins, then the format that comes first in the registry.
type Strength int

// The strengths of a claim.
const (
	None    Strength = iota
	Weak             // content that others write too, or an extension
	Likely           // content with this format's fields
	Certain          // a path that only this format uses, or path and content together
)

// Claim is what Detect says of a file.
type Claim struct {
	Strength Strength
	// Role tells Parse and Text which of the format's kinds of file this is.
	Role string
	// Root is the directory that this file makes a root of the format: every file below it is archived,
	// with the role Other where no format claims it. It is the beginning of the Path, "." where that is relative and all of it is meant, and ""
	// when the file stands alone. It may lie above the source.
	Root string
	// Database marks an SQLite file: Parse reads the rows that Export names, one JSON object per line; those of a
	// Splitter become originals of their own.
	Database bool
	// Secret marks a database that holds credentials beside its rows: it is never kept as a file, not even when SQLite cannot read it.
	Secret bool
	// Log marks an original that its program only appends to: when it grows, only the records beyond what is
	// indexed are new. Without it every change makes a new version, parsed as a whole.
	Log bool
	// Skip leaves the file out of the archive (a lock that changes all the time, a credential).
	Skip bool
}

// Other is the role of files below a root that no format claims: stored, found by name, not parsed.
const Other = "other"

// Input is one original to parse.
type Input struct {
	Path string // as in Head
	Dir  string // as in Head
	Root string // the claim's root
	Role string
	Size int64 // bytes that Reader will give
	// Reader gives the whole original from its start. Compressed originals come as stored; see Gzip and Zstd.
	Reader io.Reader
}

// Resolver is a format that needs several originals of a run to name or judge what stands in them. It edits
// the Family in place and looks at nothing else.
type Resolver interface {
	Resolve(*transcript.Family)
}

// UsageResolver is a Resolver that looks at usage, too: for these formats alone the index keeps, beside each row, what the
// original states.
type UsageResolver interface {
	Resolver
	ResolvesUsage()
}

// Query is one table of a database original: its rows reach Parse as JSON objects, one a line, with the
// key "table" set to Name before the columns.
type Query struct {
	Name string
	SQL  string
	// JSON names columns whose text is JSON: where it is valid it becomes a value of the row, not a string.
	JSON []string
	// Zstd names columns whose bytes are a zstd frame, of text: that is what the row has.
	Zstd []string
}

// Exporter is a format with originals that are SQLite databases.
type Exporter interface {
	Export(role string) []Query
}

// Zipped is a format whose transcripts come to people in a zip, among other files: what an account has exported. Such a zip is not kept
// as a file: what is in it is, each file an original of its own below the path of the zip.
type Zipped interface {
	// InZip reports whether transcripts have such a name there, without the directory. Whether it is one Detect says, as of a file
	// that lies there. All else in the zip has the role Other.
	InZip(name string) bool
}

// Splitter is a format with databases that change with every message. Such a database is not kept as a file: its rows
// are, taken apart into originals of their own below its path, each stored again only when its rows have changed.
type Splitter interface {
	// Split says how, nil for roles of databases that are kept whole.
	Split(role string) []Split
	// Apart says whether originals of a role were never files where they stand: rows that a database was taken apart into, or
	// one that could not be.
	Apart(role string) bool
}

// Split is one kind of original that a database is taken apart into.
type Split struct {
	Role string // of the originals; they are no databases
	Log  bool   // rows are only ever added to the end of one: see Claim.Log
	// Any are tables of which a database that has such originals has one: another generation of the program wrote others.
	Any []string
	// With are tables that came with a later version of the program: without them there are none, and nothing is amiss.
	With []string
	// Without are tables that say the same in another Split: where one is there, this one is left out.
	Without []string
	// Keys is SQL that gives a row for each: its name (a path below the database's, to which ".ndjson" is added), a time
	// in milliseconds and a number of rows, which together change whenever its rows do, and the key of its rows.
	Keys string
	Rows []Query // of one original; ?1 is the key
}
