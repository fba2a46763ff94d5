// Package aider reads what Aider leaves in a repository: .aider.chat.history.md, to which each start of the program appends a heading
// and all that is then said, and beside it .aider.input.history (what was typed, with times) and, where it was asked for,
// .aider.llm.history (what went to the model, and came back). Checked in November 2026 against the program's InputOutput and Coder of
// 0.5 to 0.86. Layout and counting: docs/formats/aider.md.
//
// What it promises: a run and its one conversation are what follows a heading, known by the time in it and its first prompt, since programs that are
// started in the same second write to several files. Its events are known by their place in it, so that it is the same when the file
// grows, when older conversations are cut off its head, and in copies of the repository.
//
// Where readers of these files disagree: the program ends each line of its own, and of a prompt, with two spaces, and a quotation or a
// heading in an answer has none. Conversations without such spaces are told apart by the beginnings of lines alone, outside of code.
// Tokens are what the program printed: rounded, and all requests of one prompt together.
package aider

import (
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
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

// The roles of the files.
const (
	roleChat  = "chat"
	roleInput = "input" // what was typed
	roleModel = "model" // what went to the model, and came back
)

// Places names the files that the program is told to write elsewhere. By itself it writes to the repository in which it is started.
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
			p.entries(isTyped, "prompt")
		case roleModel:
			p.entries(isSent, "model")
		}
	}
}

// Text gives the text of one part of an event.
func (aider) Text(role string, raw []byte, _ int) (string, error) {
	switch role {
	case roleChat:
		return saidText(raw), nil
	case roleInput, roleModel:
		return entryText(raw), nil
	}
	return "", fmt.Errorf("no text of a file of role %q", role)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	talk talk  // what follows the last heading
	open block // the lines that belong together and have no end yet
	torn bool  // the last line has no end
}

// nobody is the run of what no heading, or no conversation, tells whose it is.
const nobody = "aider"

// lines gives each every line of the file, and cut those that are too long for a text to go on behind them.
func (p *parser) lines(each func(format.Line), cut func()) {
	for line, err := range format.Lines(p.in.Reader, "") {
		if err != nil {
			p.Fail(err)
			return
		}
		if line.Long {
			cut()
			p.Emit(&transcript.Problem{Run: nobody, Kind: "line too long", Reason: fmt.Sprintf("more than %d bytes", format.MaxLine), Origin: line.Origin})
			continue
		}
		p.torn = line.Torn
		if each(line); p.Done() {
			return
		}
	}
}
