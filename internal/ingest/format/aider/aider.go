// Package aider reads what Aider leaves in a repository: .aider.chat.history.md, where each start of the program appends a heading
// and then the conversation; .aider.input.history (the user's input, with times); and, if switched on, .aider.llm.history (what was sent to
// the model and what came back).
//
// Producer: Aider 0.5 to 0.86; checked in November 2026 against its InputOutput and Coder classes. Layout and counting:
// docs/formats/aider.md.
//
// Identity: the block of text after a heading is a run with one conversation, identified by the time in the heading and a hash of the first
// prompt, since two programs started in the same second may write to several files. Events are identified by their place in the conversation.
// So a conversation stays the same when the file grows, when older conversations are cut off its head, and in copies of the repository.
//
// Where readers of these files disagree: Aider ends each line of its own, and of a prompt, with two spaces; a quotation or a
// heading in an answer has none. Conversations without such spaces are split by the beginnings of lines alone, except inside code.
// Token counts are those that Aider printed: rounded, and summed over all requests of one prompt.
package aider

import (
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return aider{} }

type aider struct{}

var _ format.Placed = aider{}

// Name returns "aider".
func (aider) Name() string { return "aider" }

// Version counts changes of what Parse yields.
func (aider) Version() int { return 3 }

// The roles of Aider's files.
const (
	roleChat  = "chat"
	roleInput = "input" // the user's input
	roleModel = "model" // requests and responses of the model
)

// Places returns the files that environment variables name, and those in the home directory. By default Aider writes to the repository in
// which it is started.
func (aider) Places() []format.Place {
	return format.Place{Name: "aider"}.At("$AIDER_CHAT_HISTORY_FILE", "$AIDER_INPUT_HISTORY_FILE", "$AIDER_LLM_HISTORY_FILE", "~/"+chatName, "~/"+inputName)
}

// Parse yields the records of one file.
func (aider) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{in: in, Sink: format.Sink{Yield: yield}}
		switch in.Role {
		case roleChat:
			p.chat()
		case roleInput:
			p.entries(isInputHeader, "prompt")
		case roleModel:
			p.entries(isModelHeader, "model")
		}
	}
}

// Text returns the text of one part of an event.
func (aider) Text(role string, raw []byte, _ int) (string, error) {
	switch role {
	case roleChat:
		return blockText(raw), nil
	case roleInput, roleModel:
		return entryText(raw), nil
	}
	return "", fmt.Errorf("no text of a file of role %q", role)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	session session // the conversation after the last heading
	open    block   // the block that may still grow
	torn    bool    // the last line has no line feed
}

// unknownRun is the run of text that belongs to no conversation, or to one that is not known.
const unknownRun = "aider"

// lines calls each for every line of the file. For a line that is too long it calls cut, so that no block continues across it.
func (p *parser) lines(each func(jsontext.Line), cut func()) {
	for line, err := range jsontext.Lines(p.in.Reader, "") {
		if err != nil {
			p.Fail(err)
			return
		}
		if line.Long {
			cut()
			p.Emit(&transcript.Problem{Run: unknownRun, Kind: "line too long", Reason: fmt.Sprintf("more than %d bytes", jsontext.MaxLine), Origin: line.Origin})
			continue
		}
		p.torn = line.Torn
		if each(line); p.Done() {
			return
		}
	}
}
