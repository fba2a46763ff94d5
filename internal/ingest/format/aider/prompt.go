package aider

import (
	"strings"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// echoed are the commands whose argument Aider writes again, as a prompt.
var echoed = map[string]bool{"/ask": true, "/code": true, "/architect": true, "/context": true, "/help": true}

// question matches a question of Aider with an answer that it did not understand, which it writes like a prompt.
var question = lazyregexp.New(`^[^\n]*\? \(Y\)es/\(N\)o[^\n]*\]: [^\n]*$`)

// turn is the text that Aider may write again as a prompt.
type turn struct {
	argument   string // the argument of a command
	lastAnswer string // the last answer
	architect  bool   // the answer is passed to the editor model
}

// promptKind returns the kind of a prompt-like block: kindPrompt, or kindAside for what Aider wrote itself. Asides are an empty prompt, a question of
// Aider, what it found wrong with a file, the repeated argument of the command before, and the architect's answer as passed to the editor.
func (t *session) promptKind(text string) string {
	last, words := t.turn, collapseSpace(text)
	switch {
	case text == "<blank>", text == "", question.MatchString(text), strings.HasPrefix(text, "# Fix any errors below, if possible."):
		return kindAside
	case last.argument != "" && strings.HasPrefix(words, last.argument):
		t.turn.argument = ""
		return kindAside
	case last.architect && last.lastAnswer != "" && collapseSpace(last.lastAnswer) == words:
		t.turn, t.speaker = turn{}, t.editor
		return kindAside
	}
	t.turn, t.speaker = turn{architect: t.architect}, t.model
	if command, words, _ := strings.Cut(text, " "); echoed[command] {
		t.turn.argument = collapseSpace(words)
		t.turn.architect = command == "/architect"
	}
	return kindPrompt
}

// collapseSpace returns the words of a text with one space between them.
func collapseSpace(text string) string { return strings.Join(strings.Fields(text), " ") }
