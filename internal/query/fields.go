package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/typo"
)

// Type is the type of a field's values.
type Type uint8

// The types of fields.
const (
	Text Type = iota
	Time
	Number
)

// Info describes a field, for help, completion and documents.
type Info struct {
	Name    string
	Type    Type
	Help    string
	Example string
	Values  []string // the values it accepts; nil if it accepts any
}

var fields = []Info{
	{Name: "role", Help: "who speaks: user, assistant, system, tool, or as written", Example: "role:user,assistant"},
	{Name: "kind", Help: "what an event is", Example: "kind:tool_result", Values: []string{
		"message", "reasoning", "tool_call", "tool_result", "system", "notice", "error", "compaction", "lifecycle", "unknown"}},
	{Name: "type", Help: "native type of an event, as its producer writes it", Example: "type:function_call"},
	{Name: "tool", Help: "name of the tool of a call or result", Example: "tool:Bash"},
	{Name: "agent", Help: "program or persona that acted", Example: "agent:reviewer"},
	{Name: "engine", Help: "engine that ran a step", Example: "engine:claude"},
	{Name: "model", Help: "model that answered", Example: "model:claude-*"},
	{Name: "format", Help: "transcript format", Example: "format:codex"},
	{Name: "project", Help: "directory or repository that the work was about", Example: "project:*payments*"},
	{Name: "group", Help: "what runs are grouped by: a thread, a workflow", Example: "group:nightly"},
	{Name: "run", Help: "native id or short id of a run", Example: "run:fix-login"},
	{Name: "flow", Help: "name of a workflow or flow", Example: "flow:build"},
	{Name: "step", Help: "name of a step of a flow", Example: "step:review"},
	{Name: "status", Help: "how a run or step ended, as written", Example: "status:ok"},
	{Name: "outcome", Help: "how a run or step ended, in words that all formats share", Example: "outcome:failed", Values: []string{
		"running", "succeeded", "failed", "cancelled", "other"}},
	{Name: "tag", Help: "tag that was put on a run", Example: "tag:release"},
	{Name: "from", Help: "sender of a message between runs or agents", Example: "from:planner"},
	{Name: "path", Help: "path of the original file", Example: "path:*2026/11*"},
	{Name: "touches", Help: "file that a tool call names", Example: "touches:*src/health.py"},
	{Name: "attr", Help: "any other attribute that a producer states", Example: "attr:stop_reason=max_tokens"},
	{Name: "id", Help: "id of a conversation or event, or the beginning of one", Example: "id:3f9c2a"},
	{Name: "source", Help: "name of a source", Example: "source:runs"},
	{Name: "conversation", Help: "native id or short id of a conversation", Example: "conversation:3f9c2a"},
	{Name: "is", Help: "state of an event or of its run", Example: "is:error", Values: []string{"error", "stub", "child", "pinned", "held", "truncated"}},
	{Name: "has", Help: "what is known", Example: "has:cost", Values: []string{"cost", "usage", "problem"}},
	{Name: "after", Type: Time, Help: "at or after the beginning of a date, or younger than an age", Example: "after:7d"},
	{Name: "before", Type: Time, Help: "before the beginning of a date, or older than an age", Example: "before:2026-11-20"},
	{Name: "during", Type: Time, Help: "within a date, word or range", Example: "during:2026-11..2026-12"},
	{Name: "on", Type: Time, Help: "the same as during", Example: "on:yesterday"},
	{Name: "cost", Type: Number, Help: "cost in USD", Example: "cost>0.5"},
	{Name: "tokens", Type: Number, Help: "all tokens of a request", Example: "tokens>=10k"},
	{Name: "input", Type: Number, Help: "input tokens", Example: "input>100k"},
	{Name: "output", Type: Number, Help: "output tokens", Example: "output<100"},
	{Name: "duration", Type: Number, Help: "time that a call or step took", Example: "duration>30s"},
	{Name: "events", Type: Number, Help: "events in the conversation", Example: "events>10"},
}

// Fields returns all fields in the order in which help should show them.
func Fields() []Info { return slices.Clone(fields) }

func lookup(name string) (Info, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
	}
	return Info{}, false
}

// synonyms maps names that other tools or people use to the fields of this language.
var synonyms = map[string]string{
	"file": "path: or touches:", "filename": "path:", "dir": "path:", "author": "from:", "sender": "from:", "to": "from:",
	"session": "conversation:", "thread": "group:", "chat": "conversation:", "repo": "project:", "repository": "project:", "cwd": "project:",
	"since": "after:", "newer": "after:", "until": "before:", "older": "before:", "date": "on:", "created": "on:", "time": "during:",
	"error": "is:error", "user": "role:user", "assistant": "role:assistant", "in": "project: or path:", "label": "tag:", "workflow": "flow:",
	"provider": "engine:", "name": "tool: or project:", "subject": "no field", "price": "cost>", "attribute": "attr:",
	"sort": "--sort", "limit": "--limit",
}

// Named returns the field of a name, or the one that other programs call so, with its colon; "" if there is none.
func Named(name string) string {
	switch f, ok := lookup(name); {
	case ok && f.Type == Number:
		return name + ">"
	case ok:
		return name + ":"
	case strings.HasSuffix(synonyms[name], ":"):
		return synonyms[name]
	}
	return ""
}

// nearest returns the field that name was probably meant for, with its colon, or "" if none is close.
func nearest(name string) string {
	if m, ok := synonyms[name]; ok {
		return m
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	best := typo.Nearest(name, names)
	if best == "" {
		return ""
	}
	if f, _ := lookup(best); f.Type == Number {
		return best + ">"
	}
	return best + ":"
}

// condition matches a word that looks like a condition: a name, an operator and a value.
var condition = lazyregexp.New(`^([A-Za-z]+)(:?(?:>=|<=|==|[=<>])|:)([^:=<>].*)$`)

// Meant returns the conditions that a word such as model=gpt, Tool:Bash or after>2026 may have been meant to be, the most probable one
// first; none for any other word.
func Meant(word string) []string {
	m := condition.FindStringSubmatch(word)
	if m == nil {
		return nil
	}
	name, op, value := strings.ToLower(m[1]), strings.TrimPrefix(m[2], ":"), m[3]
	f, known := lookup(name)
	equal := op == "" || op == "=" || op == "=="
	switch {
	case !known:
		return nil
	case f.Type == Number:
		return []string{name + cmp.Or(strings.Replace(op, "==", "=", 1), ":") + value}
	case f.Type == Time && !equal && name != "after" && name != "before":
		return []string{map[byte]string{'>': "after:", '<': "before:"}[op[0]] + value}
	case f.Type == Time:
		return []string{name + ":" + value}
	case !equal:
		return nil
	case f.Values != nil || strings.ContainsAny(value, `*"`):
		return []string{name + ":" + value}
	}
	return []string{name + ":" + value, name + ":*" + value + "*"}
}
