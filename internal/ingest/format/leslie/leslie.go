// Package leslie reads the files that Leslie keeps in a workspace's .leslie directory: transcripts of chats as text files,
// the relations between threads, objectives, logs of workers, runtimes and SDKs, and the documents that threads wrote.
//
// Producer: Leslie's core library (thread_relations.json "version": "1.0"); the layout was checked against writers, readers
// and files on 2026-11-20. Decided where its description and its code differ: no blank line follows "---"; "user:" is a
// marker only before a line "<user_query>"; a marker counts only as the first line of the body or after an empty line, so
// text that imitates one there becomes an entry of its own.
//
// A run is one transcript, identified by its header (thread, chat, time range) and never by its path: inheriting and
// freezing copy whole threads, and the copies are kept but not counted. A thread is a group of runs. What belongs to a
// thread but to none of its transcripts (title, plan, cost of its workers) belongs to a named run "thread:<id>", which does
// not count as a run. docs/formats/leslie.md has the details.
package leslie

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return leslie{} }

type leslie struct{}

// The roles of Leslie's files.
const (
	roleTranscript    = "transcript"
	roleRelations     = "relations"
	roleRelationsBak  = "relations-bak"
	roleObjectives    = "objectives"
	roleObjectivesBak = "objectives-bak"
	roleWorker        = "worker"
	roleSDK           = "sdk"
	roleLog           = "log"
	roleRuntime       = "runtime"
	roleDocument      = "document"
)

// Name is "leslie".
func (leslie) Name() string { return "leslie" }

// Version is the version of Parse.
func (leslie) Version() int { return 7 }

// Parse yields the records of one file. It streams worker, SDK and other logs; the rest is read whole, up to
// format.DocumentLimit.
func (leslie) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		s := &format.Sink{Yield: yield}
		switch in.Role {
		case roleWorker:
			parseWorker(in, s)
		case roleSDK, roleLog, roleRuntime:
			parseLog(in, s)
		case roleTranscript, roleRelations, roleRelationsBak, roleObjectives, roleObjectivesBak, roleDocument:
			parseWhole(in, s)
		}
	}
}

// Text returns the text of an event: an entry without its marker and tags, the strings of a JSON value, and anything else
// unchanged.
func (leslie) Text(role string, raw []byte, _ int) (string, error) {
	if role == roleTranscript {
		e := cutEntry(string(raw))
		return e.text(e.content()), nil
	}
	return format.LooseText(raw), nil
}

func parseWhole(in format.Input, s *format.Sink) {
	text, err := format.ReadText(in.Reader, format.DocumentLimit)
	switch {
	case err != nil && layer.IsContent(err):
		s.Emit(&transcript.Problem{Kind: "too large", Reason: err.Error()})
	case err != nil:
		s.Fail(err)
	case in.Role == roleTranscript:
		parseTranscript(in, text, s)
	case in.Role == roleRelations || in.Role == roleRelationsBak:
		parseRelations(in, []byte(text), s)
	case in.Role == roleDocument:
		parseDocument(in, []byte(text), s)
	default:
		parseObjectives(in, []byte(text), s)
	}
}
