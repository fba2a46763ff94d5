package aider

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// The names of Aider's files. The last has no default name, but many users call it this.
const (
	chatName  = ".aider.chat.history.md"
	inputName = ".aider.input.history"
	modelName = ".aider.llm.history"
)

// Detect claims files by name, and renamed ones by their first line. Each file stands alone and has no root: the directory around it is a
// user's repository.
func (aider) Detect(h format.Head) format.Claim {
	role := map[string]string{chatName: roleChat, inputName: roleInput, modelName: roleModel}[path.Base(h.Path)]
	if role != "" {
		return format.Claim{Strength: format.Certain, Role: role, Log: true}
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(jsontext.TrimBOM(h.Bytes), "\r\n"), []byte("\n"))
	switch name := path.Base(h.Path); {
	case path.Ext(name) == ".md" && startedAt(string(first)) != "":
		return format.Claim{Strength: format.Likely, Role: roleChat, Log: true}
	case strings.Contains(name, "llm") && strings.Contains(name, "history") && isModelHeader(string(first)):
		return format.Claim{Strength: format.Likely, Role: roleModel, Log: true}
	}
	return format.Claim{}
}

var (
	headingLine = lazyregexp.New(`^# aider chat started at ([0-9]{4}-[0-9]{2}-[0-9]{2}[0-9T: .]*)\s*$`)
	modelHeader = lazyregexp.New(`^(TO LLM|LLM RESPONSE) [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+\s*$`)
	inputHeader = lazyregexp.New(`^# [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.]+\s*$`)
)

// startedAt returns the time in a heading line, "" for any other line.
func startedAt(line string) string {
	if !strings.HasPrefix(line, "# aider") {
		return ""
	}
	if m := headingLine.FindStringSubmatch(line); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// isModelHeader reports whether a line heads an entry of the LLM history.
func isModelHeader(line string) bool {
	return (strings.HasPrefix(line, "TO") || strings.HasPrefix(line, "LLM")) && modelHeader.MatchString(line)
}

// isInputHeader reports whether a line heads an entry of the input history.
func isInputHeader(line string) bool {
	return strings.HasPrefix(line, "# ") && inputHeader.MatchString(line)
}
