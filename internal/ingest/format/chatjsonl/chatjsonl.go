// Package chatjsonl reads chats in JSON Lines that may come from anywhere: sets for fine-tuning (messages, or ShareGPT's
// conversations), logs of evaluations, requests and responses of the APIs of OpenAI (Chat Completions and Responses,
// batches) and Anthropic, one per line, and chats with one message per line.
//
// There is no producer; the shapes are those of the API references and of the loaders of fine-tuning tools, checked on
// 2026-11-23. docs/formats/chat-jsonl.md describes shapes and counting.
//
// A line with messages is a run with one conversation, unless it continues an earlier line: then it belongs to that line's
// conversation, and only its new messages are yielded. A line without an id is identified by its content, never by the path
// or its place in the file. The format claims only files that no other format claims, by content alone, and never a
// directory.
//
// Memory is bounded for any file: of the conversations that may continue, about the last sixty thousand are remembered.
package chatjsonl

import (
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return chats{} }

type chats struct{}

// Name returns "chat-jsonl".
func (chats) Name() string { return "chat-jsonl" }

// Version counts changes of what Parse yields.
func (chats) Version() int { return 8 }

const roleLog = "log"

// Detect recognises a file by its first object, which must be a chat. Only one with a list of messages may come later.
func (chats) Detect(h format.Head) format.Claim {
	switch strings.ToLower(path.Ext(h.Path)) {
	case ".jsonl", ".ndjson", ".jsonlines":
	default:
		return format.Claim{}
	}
	if foreignDirs.MatchString(h.Path) {
		return format.Claim{}
	}
	later := false
	for line, whole := range format.ObjectLines(h.Bytes) {
		if !format.MayHave(line, `"messages"`) && (later || !format.MayHave(line, `"role"`, `"from"`, `"choices"`, `"output"`)) {
			later = true
			continue
		}
		v := format.LineStart(line, whole)
		if !v.Exists() {
			continue
		}
		if hasForeignMembers(h.Path, v) {
			break
		}
		if t := exchangeOf(v); len(t.input)+len(t.answer) > 0 && (!later || isMessages(v.Get("messages"))) {
			return format.Claim{Strength: format.Weak, Role: roleLog, Log: true}
		}
		later = true
	}
	return format.Claim{}
}

var (
	// engines matches the ends of the names of Flow Studio's transcripts, whose lines do not identify them.
	engines = lazyregexp.New(`-(claude|gemini)\.jsonl$`)
	// foreignDirs matches directories of programs with a format of their own. Files there are theirs, even those that their
	// format does not know.
	foreignDirs = lazyregexp.New(`(^|/)(\.(claude|codex|gemini|qwen|kimi|kimi-code|copilot|cursor|cline|pi|openclaude|openclaw|clawdbot|moltbot|qclaw|grok|vibe|factory|openhands|leslie|chibi)|swarm/runs|goose/sessions|globalStorage|workspaceStorage)/`)
)

// hasForeignMembers reports whether a file looks like one of a program with a format of its own: a line has members besides
// its role that no other chat has.
func hasForeignMembers(name string, v jsontext.Value) bool {
	for _, key := range []string{"uuid", "parentUuid", "parentId", "sessionId", "entry_type", "payload", "message", "parts", "agentId", "cwd"} {
		if v.Get(key).Exists() {
			return true
		}
	}
	goose := v.Get("created").Exists() && v.Get("content").IsArray()
	vibe := v.Get("message_id").Exists() && path.Base(name) == "messages.jsonl"
	gptme := v.Get("pinned").Exists() && v.Get("hide").Exists()
	return v.Get("role").Exists() && (v.Get("type").Exists() || goose || vibe || gptme || engines.MatchString(name))
}

// Parse yields the records of one file.
func (chats) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := newParser(in, yield)
		all, err := p.reader(in.Reader)
		if err != nil {
			p.Fail(err)
			return
		}
		for o := range p.Each(jsontext.Objects(all, "", func(problem *transcript.Problem) { p.Emit(problem) })) {
			p.line(o)
		}
	}
}

// Text returns the text of one part of an event.
func (chats) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a message", raw, jsontext.Appended(appendPiece))
}
