// Package continuedev reads the sessions of Continue: sessions/<id>.json, which its extensions for VS Code and JetBrains and its command
// line program cn write, the list of them (sessions.json), and the extensions' logs of requests (dev_data).
//
// Producer: checked in November 2026 against the history manager, the types and the data logger of Continue's core from the end of 2023 on,
// and the session manager of cn. Layout and counting: docs/formats/continue.md.
//
// Identity: a session is a run with one conversation, identified by its id. Messages have no ids and no times: they are identified by their
// number in the session, which is rewritten as a whole.
//
// Usage: cn writes the sum of a session's requests, in which what was read from and written to a cache is apart from the prompt, as its own
// price formula has it. Only sessions without a sum count by the usage of their messages. The log of generated tokens
// counts with the program's own tokenizer, names no session, and includes completions: it does not count.
package continuedev

import (
	"iter"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return continuedev{} }

type continuedev struct{}

var (
	_ format.Placed        = continuedev{}
	_ format.UsageResolver = continuedev{}
	_ format.Withholder    = continuedev{}
)

// Name returns "continue".
func (continuedev) Name() string { return "continue" }

// Version counts changes of what Parse yields.
func (continuedev) Version() int { return 2 }

// The roles of the files.
const (
	roleSession = "session"
	roleList    = "list" // of all sessions
	roleLog     = "log"  // of requests
)

// Places returns where Continue keeps sessions and logs. Completions are logged beside them and not claimed.
func (continuedev) Places() []format.Place {
	sessions := format.Place{Name: "continue", Deletes: "sessions that are deleted"}
	all := sessions.At("~/"+dataDir+"/"+sessionsDir, "$CONTINUE_GLOBAL_DIR/"+sessionsDir)
	return append(all, format.Place{Name: "continue"}.At("~/"+dataDir+"/"+logDir, "$CONTINUE_GLOBAL_DIR/"+logDir)...)
}

// Parse yields the records of one file.
func (continuedev) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in}
		switch in.Role {
		case roleSession:
			p.document()
		case roleList:
			p.list()
		case roleLog:
			p.log()
		}
	}
}

// Text returns the text of one part of an event.
func (continuedev) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendText))
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	in   format.Input
	lend format.Lender

	id       string // of the session
	doc      jsontext.Value
	start    int64           // of the document in the file
	answered map[string]bool // ids of calls whose result is a message of its own
	calls    map[string]call // by id
}

// call is what other messages need to know of a call.
type call struct{ name, status string }

// conversation is the id of the only conversation in a session.
const conversation = "main"

// projectOf returns the path of a directory, which some versions write as a URI.
func projectOf(dir string) string {
	if strings.HasPrefix(dir, "file:") {
		return format.FileURI(dir)
	}
	return dir
}
