package aider

import (
	"strings"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// asked are the commands whose words the program puts down once more, as the prompt that they then are.
var asked = map[string]bool{"/ask": true, "/code": true, "/architect": true, "/context": true, "/help": true}

// question is one of the program's own, with an answer that it did not understand: that it puts down as if it were a prompt.
var question = lazyregexp.New(`^[^\n]*\? \(Y\)es/\(N\)o[^\n]*\]: [^\n]*$`)

// turn is what the program may say once more as a prompt.
type turn struct {
	words     string // what a command asked
	answer    string // the last one
	architect bool   // that answer goes to another model
}

// prompt tells a prompt from what the program puts down like one: nothing, a question of its own, what it found wrong with a file, the words of the
// command before, and the answer of the architect, which goes to the editor.
func (t *talk) prompt(text string) string {
	last, said := t.turn, squeeze(text)
	switch {
	case text == "<blank>", text == "", question.MatchString(text), strings.HasPrefix(text, "# Fix any errors below, if possible."):
		return aside
	case last.words != "" && strings.HasPrefix(said, last.words):
		t.turn.words = ""
		return aside
	case last.architect && last.answer != "" && squeeze(last.answer) == said:
		t.turn, t.speaker = turn{}, t.editor
		return aside
	}
	t.turn, t.speaker = turn{architect: t.architect}, t.model
	if command, words, _ := strings.Cut(text, " "); asked[command] {
		t.turn.words = squeeze(words)
		t.turn.architect = command == "/architect"
	}
	return prompt
}

// squeeze gives the words of a text, one space between them.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }
