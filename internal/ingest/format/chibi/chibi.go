// Package chibi reads the home directory of Chibi, a command line chat program whose conversations are called
// contexts. It owns the partitioned layout (contexts/<name>/transcript/), the one of early 2026 that cut the window
// into partitions instead (active.jsonl and partitions/ beside transcript.jsonl), the flat one before it
// (context.jsonl, transcript.jsonl, transcript_archive.jsonl), the single context.json before that, and what
// lies beside them: inboxes, debug logs, summaries, prompts and state.json.
//
// A run is a context; its id is the name of the context's directory, unique only below the home. All logs of a
// context are one conversation: an entry that stands in several files is one event, by its id. Which files
// count is decided by Resolve, because no file knows its siblings: where transcript/ exists, context.jsonl is
// a view of it.
//
// Sources: the program's serializers and readers (state, context and partition modules) as of late 2026, for
// the entry types, the rotation and what compaction rewrites. Where its documentation disagrees (an id and a
// model in response_meta.jsonl, empty content of anchors), the code was followed and the documented keys are
// read as well when they occur. docs/formats/chibi.md tells the mapping to users.
package chibi

import (
	"errors"
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Format is the Chibi format.
type Format struct{}

var (
	_ format.Format        = Format{}
	_ format.UsageResolver = Format{}
	_ format.Placed        = Format{}
)

// The roles of files. The first five hold the conversation.
const (
	roleTranscript = "transcript" // a file of transcript/
	roleArchive    = "archive"    // transcript_archive.jsonl
	roleLog        = "log"        // transcript.jsonl
	roleWindow     = "window"     // context.jsonl, or active.jsonl and partitions/ of the context itself
	roleOldest     = "oldest"     // context.json
	roleReadable   = "readable"   // transcript.md
	roleStray      = "stray"      // a log by content alone, anywhere
	roleInbox      = "inbox"
	roleUsage      = "usage"    // response_meta.jsonl
	roleRequests   = "requests" // requests.jsonl
	roleSummary    = "summary"
	rolePrompt     = "prompt"
	roleState      = "state"
)

// Name returns "chibi".
func (Format) Name() string { return "chibi" }

// Version is the version of the parser.
func (Format) Version() int { return 4 }

// Places returns Chibi's home.
func (Format) Places() []format.Place {
	place := format.Place{Name: "chibi", Deletes: "contexts on destroy or after a time without use that each context sets; inbox messages at the next prompt; cached tool outputs after 7 days"}
	return place.At("~/.chibi", "$CHIBI_HOME")
}

// Parse yields the records of one file of a Chibi home.
func (Format) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
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

// Text gives the text of one part of an event from the event's bytes.
func (Format) Text(role string, raw []byte, part int) (string, error) {
	switch role {
	case roleSummary, rolePrompt:
		return only(part, string(repaired(raw)))
	case roleReadable:
		_, text := cutMarker(raw)
		return only(part, string(repaired(text)))
	}
	v, err := format.ParseJSON(raw)
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
		return only(part, readPending(v).text)
	}
	return only(part, readEntry(v).text)
}

func only(part int, text string) (string, error) {
	if part != 0 {
		return "", errPart
	}
	return text, nil
}

// emitter is where the records of one file go.
type emitter struct {
	format.Sink
	run string // the context that the file belongs to, "" where only its entries can tell
}

func (e *emitter) problem(p *transcript.Problem) {
	p.Run = e.run
	e.Emit(p)
}

// named says that a context exists, which alone makes no counted run of it.
func (e *emitter) named() { e.Emit(&transcript.Run{ID: e.run, Local: true, Named: true}) }
