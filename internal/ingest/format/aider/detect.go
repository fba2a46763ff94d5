package aider

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// The names that the program gives its files, and many people the last, which has none by itself.
const (
	chatName  = ".aider.chat.history.md"
	inputName = ".aider.input.history"
	modelName = ".aider.llm.history"
)

// Detect claims files by their whole names, and those that people call otherwise by how they begin. Each stands alone: around them is
// somebody's repository.
func (aider) Detect(h format.Head) format.Claim {
	role := map[string]string{chatName: roleChat, inputName: roleInput, modelName: roleModel}[path.Base(h.Path)]
	if role != "" {
		return format.Claim{Strength: format.Certain, Role: role, Log: true}
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(format.TrimBOM(h.Bytes), "\r\n"), []byte("\n"))
	switch name := path.Base(h.Path); {
	case path.Ext(name) == ".md" && startedAt(string(first)) != "":
		return format.Claim{Strength: format.Likely, Role: roleChat, Log: true}
	case strings.Contains(name, "llm") && strings.Contains(name, "history") && isSent(string(first)):
		return format.Claim{Strength: format.Likely, Role: roleModel, Log: true}
	}
	return format.Claim{}
}

var (
	heading = lazyregexp.New(`^# aider chat started at ([0-9]{4}-[0-9]{2}-[0-9]{2}[0-9T: .]*)\s*$`)
	sent    = lazyregexp.New(`^(TO LLM|LLM RESPONSE) [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+\s*$`)
	typed   = lazyregexp.New(`^# [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.]+\s*$`)
)

// startedAt is the time in the heading that a line is, "" for any other.
func startedAt(line string) string {
	if !strings.HasPrefix(line, "# aider") {
		return ""
	}
	if m := heading.FindStringSubmatch(line); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// isSent knows the line before what went to the model or came back, isTyped the one before a prompt.
func isSent(line string) bool {
	return (strings.HasPrefix(line, "TO") || strings.HasPrefix(line, "LLM")) && sent.MatchString(line)
}

func isTyped(line string) bool { return strings.HasPrefix(line, "# ") && typed.MatchString(line) }
