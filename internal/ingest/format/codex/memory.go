package codex

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

const (
	memoriesDir  = "memories"
	summariesDir = "rollout_summaries"
)

// summaryHead matches the beginning of what the program has noted of a thread.
var summaryHead = lazyregexp.New(`^thread_id: (` + uuid + `)\n`)

// detectMemory claims what the program notes of threads when they are over: a summary of each of the newest ones, and what it has made of
// them all.
func detectMemory(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	home := path.Dir(dir)
	switch {
	case path.Ext(name) != ".md" || !h.IsTextFile():
	case path.Base(dir) == summariesDir && path.Base(home) == memoriesDir && summaryHead.MatchString(string(h.Bytes)):
		return format.Claim{Strength: format.Certain, Role: roleSummary}
	case path.Base(dir) == memoriesDir && (path.Base(home) == ".codex" || home == h.Top()) &&
		(name == "MEMORY.md" || name == "memory_summary.md" || name == "raw_memories.md"):
		return format.Claim{Strength: format.Certain, Role: roleMemory}
	}
	return format.Claim{}
}

// memory yields such a text as a row of its thread, or of a run of its own.
func (p *parser) memory() {
	e := transcript.Event{Run: memoriesDir, Kind: transcript.KindNotice, Type: p.in.Role}
	if !p.TextFile(p.in.Reader, &e) {
		return
	}
	run := &transcript.Run{ID: memoriesDir, Named: true}
	if p.in.Role == roleSummary {
		readSummary(e.Parts[0].Text, run, &e)
	}
	p.Emit(run)
	p.Emit(&e)
}

// readSummary sets what the lines before the first blank one state, and the title: those of a thread of which nothing else is left.
func readSummary(text string, run *transcript.Run, e *transcript.Event) {
	head, body, _ := strings.Cut(text, "\n\n")
	run.Rank, run.Title = transcript.RankHistory, format.Heading(body)
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "thread_id":
			run.ID, e.Run = value, value
		case "updated_at":
			e.Time = timestamp.Parse(value)
		case "cwd":
			run.Project = value
		case "git_branch":
			run.Branch = value
		}
	}
}
