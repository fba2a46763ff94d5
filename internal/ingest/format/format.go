// Package format is the contract between the archive and the formats of agent systems, and what all of these share:
// tests of a file's first bytes, a sink for records with reusable memory for them, and parts of resolvers. What they read with is in
// jsontext, layer, protobuf and timestamp.
//
// A format is a pure function from bytes to records. It opens no file, reads no clock and keeps no state: the
// same bytes at the same path give the same records on every machine, and the bytes of an event alone give
// its text (Text). What it cannot read it reports as a transcript.Problem; the bytes are stored in any case.
package format

import (
	"io"
	"iter"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/protobuf"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Format is a transcript layout with its parser.
type Format interface {
	// Name is the format's name in facets, views and stats: "awf", "flow-studio".
	Name() string
	// Version is the version of Parse. It increases with each change that gives other records for the same bytes, and makes the
	// archive parse the originals of this format again, from its packs.
	Version() int
	// Detect returns the format's claim on a file, from its path and first bytes, without I/O. The zero Claim means
	// that the file is not of this format.
	Detect(Head) Claim
	// Parse yields the records of one whole original in file order. In a document that is a tree, the events of a conversation come in
	// reading order. An event, with its parts and their texts, is valid until the next record
	// is yielded: see transcript.Clone. The error is the reader's, never about content; it ends the sequence.
	Parse(Input) iter.Seq2[transcript.Record, error]
	// Text returns the text of one part of an event from the event's own bytes (its Origin's range, or the
	// part's range if the part states one): the same text that Parse put into Part.Text. role is the
	// Claim's.
	Text(role string, raw []byte, part int) (string, error)
}

// Withholder is a Format that keeps files out of the archive even if another format claims them: its own claim on such a file has Skip
// set.
type Withholder interface {
	// Withholds reports whether Detect is to be called on a file that another format claims as Certain.
	Withholds(Head) bool
}

// Head is what Detect knows of a file.
type Head struct {
	Path  string // slash-separated, from the root of the file system: directories above the source may identify the format, too
	Dir   string // the source's root, a prefix of Path; "" if it is unknown, and then Path is relative to it
	Size  int64
	Bytes []byte // the first bytes, up to HeadSize
}

// HeadSize is the number of bytes at the start of a file that Detect sees.
const HeadSize = 8 << 10

// Strength orders the claims on one file: the strongest wins; of equal ones, the format that is first in the registry.
type Strength int

// The strengths of a claim.
const (
	None    Strength = iota
	Weak             // content that other programs write too, or a file extension
	Likely           // content with this format's fields
	Certain          // a path that only this format uses, or path and content together
)

// Claim is what Detect states about a file.
type Claim struct {
	Strength Strength
	// Role tells Parse and Text which kind of file of the format this is.
	Role string
	// Root is a directory that belongs to the format because of this file: every file below it is archived,
	// with the role Other if no format claims it. It is a prefix of Path, "." for the whole of a relative Path, or ""
	// for a file that stands alone. It may lie above the source.
	Root string
	// Database marks an SQLite file: Parse reads the rows that Export selects, one JSON object per line. The database of a
	// Splitter is stored as originals of its rows instead.
	Database bool
	// Secret marks a database that also holds credentials: it is never stored as a file, not even if SQLite cannot read it.
	Secret bool
	// Log marks an append-only original: when it grows, only the records after the indexed ones are
	// new. Without it every change makes a new version, which is parsed as a whole.
	Log bool
	// Skip keeps the file out of the archive (a lock file that changes all the time, a credential).
	Skip bool
}

// Other is the role of files below a root that no format claims: they are stored and found by name, but not parsed.
const Other = "other"

// Input is one original to parse.
type Input struct {
	Path string // as in Head
	Dir  string // as in Head
	Root string // the claim's root
	Role string
	Size int64 // bytes that Reader has
	// Reader has the whole original from its start. Compressed originals come as stored: see package layer.
	Reader io.Reader
}

// Resolver is a Format that needs several originals of a run to name its records or to decide which of them count.
type Resolver interface {
	// Resolve edits the family in place. It is a pure function of the family.
	Resolve(*transcript.Family)
}

// UsageResolver is a Resolver that edits usage, too. Only for these formats the index keeps, with each usage row, what the original
// states.
type UsageResolver interface {
	Resolver
	// ResolvesUsage does nothing: it marks the type.
	ResolvesUsage()
}

// Query is one table of a database original. Parse reads its rows as JSON objects, one per line, whose first member is "table" with the
// Name, followed by the columns.
type Query struct {
	Name string
	SQL  string
	// JSON names columns whose text is JSON. Where it is valid it becomes a JSON value in the row and not a string.
	JSON []string
	// Zstd names columns whose bytes are a zstd frame of text. The row has that text.
	Zstd []string
	// Protobuf has columns whose bytes are a protobuf message. The row has an object of the fields that are known.
	Protobuf map[string]protobuf.Message
	// Msgpack has columns whose bytes are a MessagePack value. The row has it as JSON, or the member of it that the names lead to;
	// of other bytes an object with them.
	Msgpack map[string][]string
}

// Exporter is a Format with originals that are SQLite databases.
type Exporter interface {
	// Export returns the tables to read of a database with the given role; none for other roles.
	Export(role string) []Query
}

// Zipped is a Format whose transcripts users download in a zip, among other files: the data export of an account. Such a zip is not stored
// as a file: each file in it becomes an original below the path of the zip.
type Zipped interface {
	// InZip reports whether a file in the zip, by its name without the directory, may be a transcript. Detect, called with the path of the
	// file in the zip, decides. All other files in the zip have the role Other.
	InZip(name string) bool
}

// Splitter is a Format with databases that change with every message. Such a database is not stored as a file: its rows
// are split into originals below its path, each of which is stored again only when its rows have changed.
type Splitter interface {
	// Split returns how databases of a role are split, nil for a role that is stored whole.
	Split(role string) []Split
	// Apart reports whether originals of a role were never files at their paths: the rows of a split database, or a database that
	// could not be split.
	Apart(role string) bool
}

// Split is one kind of original that a database is split into.
type Split struct {
	Role string // of the originals; they are no databases
	Log  bool   // rows are only ever appended to an original: see Claim.Log
	// Any lists tables, of which a database with such originals has at least one: different generations of the program use different tables.
	// None means any database.
	Any []string
	// With lists tables that a later version of the program added. If one is missing there are no such originals, which is no
	// problem.
	With []string
	// Without lists tables whose rows another Split covers: if one exists, this Split is not used.
	Without []string
	// Keys is an SQL query with a row for each original and four columns: its name (a path below the database's, to which ".ndjson" is
	// added), a time in milliseconds and a number of rows, which together change whenever the original's rows do, and the key of these rows.
	Keys string
	Rows []Query // the rows of one original; parameter ?1 is the key
}

// IfTable returns the Split with another table that it depends on.
func (s Split) IfTable(name string) Split {
	s.With = append(slices.Clip(s.With), name)
	return s
}

// UnlessTable returns the Split with another table that covers its rows.
func (s Split) UnlessTable(name string) Split {
	s.Without = append(slices.Clip(s.Without), name)
	return s
}
