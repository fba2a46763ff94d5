// Package chibi reads the home directory of Chibi, a command line chat program whose conversations are called contexts. It
// reads the partitioned layout (contexts/<name>/transcript/), that of early 2026, which partitioned the window instead
// (active.jsonl and partitions/ beside transcript.jsonl), the flat one before it (context.jsonl, transcript.jsonl,
// transcript_archive.jsonl), the single context.json before that, and the other files of a context: inboxes, debug logs,
// summaries, prompts and state.json.
//
// A run is a context; its id is the name of the context's directory, unique only below the home. All logs of a context are
// one conversation: an entry that appears in several files is one event, by its id. Resolve decides which files count,
// because no file knows its siblings: where transcript/ exists, context.jsonl is a view of it.
//
// Sources: the program's serializers and readers (state, context and partition modules) as of late 2026, for the entry
// types, the rotation and what compaction rewrites. Where its documentation disagrees (an id and a model in
// response_meta.jsonl, empty content of anchors), this package follows the code, and reads the documented keys as well if
// they occur. docs/formats/chibi.md describes the mapping for users.
package chibi

import (
	"errors"
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return chibi{} }

type chibi struct{}

var (
	_ format.UsageResolver = chibi{}
	_ format.Placed        = chibi{}
)

// The roles of files. The first five hold the conversation.
const (
	roleTranscript = "transcript" // a file of transcript/
	roleArchive    = "archive"    // transcript_archive.jsonl
	roleLog        = "log"        // transcript.jsonl
	roleWindow     = "window"     // context.jsonl, or active.jsonl and partitions/ of the context itself
	roleOldest     = "oldest"     // context.json
	roleReadable   = "readable"   // transcript.md
	roleStray      = "stray"      // recognised as a log by content alone, anywhere
	roleInbox      = "inbox"
	roleUsage      = "usage"    // response_meta.jsonl
	roleRequests   = "requests" // requests.jsonl
	roleSummary    = "summary"
	rolePrompt     = "prompt"
	roleState      = "state"
)

// Name returns "chibi".
func (chibi) Name() string { return "chibi" }

// Version is the version of the parser.
func (chibi) Version() int { return 7 }

// Places returns Chibi's home.
func (chibi) Places() []format.Place {
	place := format.Place{Name: "chibi", Deletes: "contexts on destroy or after a time without use that each context sets; inbox messages at the next prompt; cached tool outputs after 7 days"}
	return place.At("~/.chibi", "$CHIBI_HOME")
}

// Parse yields the records of one file of a Chibi home.
func (chibi) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		out := &emitter{Sink: format.Sink{Yield: yield}, run: contextOf(in)}
		switch in.Role {
		case roleTranscript, roleArchive, roleLog, roleWindow, roleStray:
			parseLog(in, out)
		case roleInbox:
			parseInbox(in, out)
		case roleUsage:
			parseUsage(in, out)
		case roleRequests:
			parseRequests(in, out)
		case roleState:
			parseState(in, out)
		case roleOldest:
			parseOldest(in, out)
		case roleReadable:
			parseReadable(in, out)
		case roleSummary, rolePrompt:
			parseNote(in, out)
		}
	}
}

var errPart = errors.New("no such part")

// Text returns the text of one part of an event from the event's bytes.
func (chibi) Text(role string, raw []byte, part int) (string, error) {
	switch role {
	case roleSummary, rolePrompt:
		return singlePart(part, string(validUTF8(raw)))
	case roleReadable:
		_, text := cutMarker(raw)
		return singlePart(part, string(validUTF8(text)))
	}
	v, err := jsontext.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("text of a chibi %s entry: %w", role, err)
	}
	switch role {
	case roleOldest:
		if parts := messageParts(v); part < len(parts) {
			return parts[part].Text, nil
		}
		return "", errPart
	case roleInbox:
		return singlePart(part, readPending(v).text)
	}
	return singlePart(part, readEntry(v).text)
}

// singlePart returns the text of an event that has one part.
func singlePart(part int, text string) (string, error) {
	if part != 0 {
		return "", errPart
	}
	return text, nil
}

// emitter receives the records of one file.
type emitter struct {
	format.Sink
	run string // the context that the file belongs to, "" if only its entries can tell
}

func (e *emitter) problem(p *transcript.Problem) {
	p.Run = e.run
	e.Emit(p)
}

// emitNamedRun yields the context as a run that is only Named: the file alone does not make it a counted run.
func (e *emitter) emitNamedRun() { e.Emit(&transcript.Run{ID: e.run, Local: true, Named: true}) }
