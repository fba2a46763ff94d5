// Package codex reads what OpenAI's Codex CLI (and its editor extensions) leaves in $CODEX_HOME: rollouts, one file a
// thread, as .jsonl or .jsonl.zst, in sessions/YYYY/MM/DD and archived_sessions; history.jsonl and
// session_index.jsonl. Versions 0.1 (bare lines, May 2025) to 0.158 were seen; checked in November 2026 against
// the program's rollout writer and docs/formats/codex.md, which describes layout and counting.
//
// What it promises: a run and a conversation are a thread, known by the id in its first session_meta, wherever the
// file lies. Every line is an event. The model-visible items (response_item) of the kinds that are named in
// item.go count; whatever else a rollout holds is an uncounted row: without text where it only repeats a counted
// one, with its text and, where the type is new, of kind unknown otherwise.
//
// Where readers of these files disagree: usage is the growth of total_token_usage, since the same token_count is
// written again and again (the sum of last_token_usage gave up to twice the truth); it is read along the whole
// file, so that what a fork copied from its origin is the baseline of its first own request. Which lines are
// copied only the origin's turns tell: Resolve.
package codex

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
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
func (codex) Version() int { return 4 }

// The roles of the files.
const (
	roleRollout = "rollout"
	rolePacked  = "rollout-zst"   // the same, compressed by the program
	roleHistory = "history"       // history.jsonl: every prompt typed
	roleNames   = "session-index" // session_index.jsonl: names of threads
)

// Places says where the program keeps its files.
func (codex) Places() []format.Place {
	return format.Place{Name: "codex"}.At("~/.codex", "$CODEX_HOME", "~/Library/Developer/Xcode/CodingAssistant/codex")
}

// Parse yields the records of one file.
func (codex) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in}
		switch in.Role {
		case roleRollout:
			p.rollout(in.Reader, "")
		case rolePacked:
			p.rollout(format.Zstd(in.Reader), "zstd")
		case roleHistory, roleNames:
			p.aside()
		}
	}
}

// Text gives the text of one part of an event.
func (codex) Text(role string, raw []byte, part int) (string, error) {
	if role == roleHistory || role == roleNames {
		return format.TextOf(role, raw, asideText)
	}
	return format.TextOf(role, raw, lineText)
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink
	inner string

	thread       string // native id; "" until a line needs it
	conversation string // of this file: the thread's, or that of a further file
	inherits     bool   // lines of the parent stand first, up to an ordinal
	titled       bool
	model        string
	effort       string
	tier         string // service tier of the turn
	nextTier     string // of the turns after it
	answered     bool   // the model said anything in this turn
	head         sessionMeta
	headed       bool              // head is read
	named        bool              // thread is what the file's name says
	calls        map[string]string // names of the calls so far, by call id
	prompts      map[uint64]bool   // texts of the user messages so far
	turns        turns
	meter        meter
	lend         format.Lender // of the present line
}

// problem reports what could not be read. Before the head it is the thread's that the file's name names.
func (p *parser) problem(pr *transcript.Problem) {
	if pr.Run = p.thread; pr.Run == "" {
		if id := threadOf(p.in.Path); threadID.MatchString(id) {
			pr.Run = id
		}
	}
	pr.Alone = true
	p.Emit(pr)
}
