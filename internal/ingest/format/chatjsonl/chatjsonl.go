// Package chatjsonl reads chats that anybody may have written as JSON Lines: sets for fine-tuning (messages, or ShareGPT's
// conversations), logs of evaluations, requests and responses of the APIs of OpenAI (Chat Completions and Responses, batches) and
// Anthropic, one to a line, and chats with a message to a line. There is no producer; the shapes are those of the API references and of
// the loaders of fine-tuning tools, as they were on 2026-11-23. Layout and counting: docs/formats/chat-jsonl.md.
//
// What it promises: a line with messages is a run with one conversation, unless it goes on where another line ended; then it
// belongs to that one, and only what is new in it is told. A line without an id is known by what is in it, never by the path or the
// place of the file. It claims only what no other format does, by content alone, and never a directory.
//
// Memory is bounded whatever a file holds: of the conversations that may still go on the last sixty thousand or so are known.
package chatjsonl

import (
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return chats{} }

type chats struct{}

// Name returns "chat-jsonl".
func (chats) Name() string { return "chat-jsonl" }

// Version counts changes of what Parse yields.
func (chats) Version() int { return 4 }

const roleLog = "log"

// Detect knows a file by its first object, which must be a chat. Only one with a list of messages may come later.
func (chats) Detect(h format.Head) format.Claim {
	switch strings.ToLower(path.Ext(h.Path)) {
	case ".jsonl", ".ndjson", ".jsonlines":
	default:
		return format.Claim{}
	}
	if homes.MatchString(h.Path) {
		return format.Claim{}
	}
	later := false
	for line, whole := range format.ObjectLines(h.Bytes) {
		if !format.MayHave(line, `"messages"`) && (later || !format.MayHave(line, `"role"`, `"from"`, `"choices"`, `"output"`)) {
			later = true
			continue
		}
		var v format.Value
		if v = format.ParseStart(line); whole {
			var err error
			if v, err = format.ParseJSON(line); err != nil {
				continue
			}
		}
		if foreign(h.Path, v) {
			break
		}
		if t := talkOf(v); len(t.said)+len(t.answer) > 0 && (!later || isMessages(v.Get("messages"))) {
			return format.Claim{Strength: format.Weak, Role: roleLog, Log: true}
		}
		later = true
	}
	return format.Claim{}
}

var (
	// engines end the names of Flow Studio's transcripts, whose lines alone do not say whose they are.
	engines = lazyregexp.New(`-(claude|gemini)\.jsonl$`)
	// homes are directories of programs with a format of their own: what they keep there is theirs, also where that format does not know it.
	homes = lazyregexp.New(`(^|/)(\.(claude|codex|gemini|qwen|kimi|kimi-code|copilot|cursor|cline|pi|openclaw|clawdbot|moltbot|leslie|chibi)|swarm/runs|goose/sessions|globalStorage|workspaceStorage)/`)
)

// foreign reports whether a file is like those that programs with a format of their own write: a line has members beside its role
// that nobody else has.
func foreign(name string, v format.Value) bool {
	for _, key := range []string{"uuid", "parentUuid", "parentId", "sessionId", "entry_type", "payload", "message", "parts", "agentId", "cwd"} {
		if v.Get(key).Exists() {
			return true
		}
	}
	goose := v.Get("created").Exists() && v.Get("content").IsArray()
	return v.Get("role").Exists() && (v.Get("type").Exists() || goose || engines.MatchString(name))
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
		for o := range p.Each(format.Objects(all, "", func(problem *transcript.Problem) { p.Emit(problem) })) {
			p.line(o)
		}
	}
}

// Text gives the text of one part of an event.
func (chats) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a message", raw, func(v format.Value) string { return string(appendPiece(nil, v)) })
}
