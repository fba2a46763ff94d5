// Package codex reads the files that OpenAI's Codex CLI (and its editor extensions) leave in $CODEX_HOME: rollouts, one
// file per thread, as .jsonl or .jsonl.zst, in sessions/YYYY/MM/DD and archived_sessions; history.jsonl and
// session_index.jsonl; what the program notes of threads, in memories; and, wherever somebody saved it, what "codex exec --json" printed.
//
// Producer: versions 0.1 (a JSON document, April 2025; bare lines from May on) to 0.158 were seen; checked in November 2026 against the program's rollout
// writer. docs/formats/codex.md describes layout and counting.
//
// A run and its conversation are a thread, identified by the id in its first session_meta, wherever the file lies. Every
// line is an event. The model-visible items (response_item) of the types named in item.go count. Everything else in a
// rollout is an uncounted row: without text if it only repeats a counted one, otherwise with its text, and of kind unknown
// if the type is new.
//
// Where readers of these files disagree: usage is the growth of total_token_usage, since the same token_count is written
// again and again (the sum of last_token_usage gave up to twice the truth). It is computed along the whole file, so what a
// fork copied from its origin is the baseline of its first own request. Which lines are copied can only be told from the
// origin's turns: see Resolve.
//
// The program's first version, in TypeScript, wrote rollouts as one JSON document: see document.go.
//
// Every Code (just-every/code, code-rs/core/src/rollout and codex/session.rs, checked in November 2026) writes rollouts with all events that it shows,
// in lines of type event: an event_msg with an id and a number around it.
//
// What codex exec prints (codex-rs/exec, exec_events.rs and event_processor_with_jsonl_output.rs, to 0.159) has neither ids nor times that a
// rollout has, so it cannot be matched line by line: it is a conversation of its own, and all of it is a copy as soon as there is a rollout of
// the thread. The usage of a turn.completed is, whatever its comment says, the total of the thread (usage_from_last_total), which a process
// that resumes the thread takes from the rollout (openai/codex issue 16212); input includes cached tokens, output includes reasoning. In
// autumn 2025 it was that of the process alone, which nothing in the output tells.
package codex

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return codex{} }

type codex struct{}

var (
	_ format.Resolver = codex{}
	_ format.Placed   = codex{}
)

// Name returns "codex".
func (codex) Name() string { return "codex" }

// Version counts changes of what Parse yields.
func (codex) Version() int { return 17 }

// The roles of the files.
const (
	roleRollout = "rollout"
	rolePacked  = "rollout-zst"   // a rollout that the program has compressed
	roleWhole   = "rollout-json"  // one of the program's first version: a JSON document
	roleHistory = "history"       // history.jsonl: every prompt typed
	roleNames   = "session-index" // session_index.jsonl: names of threads
	roleSummary = "summary"       // of a thread, in memories/rollout_summaries
	roleMemory  = "memory"        // of all threads, in memories
	roleStream  = "stream"        // what codex exec --json printed
)

// Places returns the directories where the program keeps its files, and where its forks do: TraeX, the CLI of Trae since its version 2.0, and Every
// Code.
func (codex) Places() []format.Place {
	own := format.Place{Name: "codex"}.At("~/.codex", "$CODEX_HOME", "~/Library/Developer/Xcode/CodingAssistant/codex")
	own = append(own, format.Place{Name: "traex"}.At("~/.trae/cli/sessions", "~/.trae/cli/history.jsonl")...)
	return append(own, format.Place{Name: "every-code"}.At("~/.code/sessions", "~/.code/history.jsonl", "$CODE_HOME/sessions", "$CODE_HOME/history.jsonl")...)
}

// Parse yields the records of one file.
func (codex) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in}
		switch in.Role {
		case roleRollout:
			p.rollout(in.Reader, "")
		case rolePacked:
			p.rollout(layer.Zstd(in.Reader), "zstd")
		case roleWhole:
			p.document()
		case roleHistory, roleNames:
			p.history()
		case roleSummary, roleMemory:
			p.memory()
		case roleStream:
			p.stream()
		}
	}
}

// Text returns the text of one part of an event.
func (codex) Text(role string, raw []byte, part int) (string, error) {
	switch role {
	case roleHistory, roleNames:
		return format.TextOf(role, raw, historyText)
	case roleSummary, roleMemory:
		return format.LooseText(raw), nil
	case roleStream:
		return format.TextOf(role, raw, streamText)
	}
	return format.TextOf(role, raw, lineText)
}

// parser parses one file.
type parser struct {
	in format.Input
	format.Sink
	inner string

	thread       string // native id; "" until a line needs it
	conversation string // this file's: the thread, or a continuation of it
	inherits     bool   // the parent's lines come first, up to an ordinal
	replays      bool   // they come first, as far as its turns
	hasTitle     bool
	model        string
	effort       string
	tier         string // service tier of the current turn
	nextTier     string // service tier of later turns
	answered     bool   // the model has written anything in this turn
	head         sessionMeta
	headRead     bool              // head was read
	fromFileName bool              // thread comes from the file's name
	calls        map[string]string // tool names of the calls so far, by call id
	prompts      map[uint64]bool   // hashes of the user messages so far
	turns        turns
	process      process              // of a stream
	streams      map[string]*streamed // by thread
	meter        meter
	lend         format.Lender // allocates the event of the current line
}

// problem yields a problem. Before the head it belongs to the thread in the file's name.
func (p *parser) problem(pr *transcript.Problem) {
	if pr.Run = p.thread; pr.Run == "" {
		if id := threadOf(p.in.Path); threadID.MatchString(id) {
			pr.Run = id
		}
	}
	pr.Alone = true
	p.Emit(pr)
}
