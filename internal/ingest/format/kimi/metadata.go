package kimi

import (
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints.
const (
	hintOwn      = "own"    // offset of the first line that was not written when the file was created
	hintOrigin   = "origin" // run that this one was forked from
	hintMigrated = "made"   // run of Kimi CLI that this one was migrated from
)

// document reads state.json or meta.json: one JSON object.
func (p *parser) document(read func(doc jsontext.Value, at transcript.Origin)) {
	p.identify(line{})
	doc, at := p.Document(p.in.Reader, func(pr *transcript.Problem) { p.Problem(p.run, pr) })
	if !doc.Exists() {
		return
	}
	read(doc, at)
	p.Emit(&transcript.Event{
		Run: p.run, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: p.in.Role, Time: parseTime(doc.Get("createdAt")), Origin: at,
		Parts: []transcript.Part{{Text: textOf(doc)}},
	})
}

// placeholderTitles are titles that the programs give to a session before it has one.
var placeholderTitles = []string{"", "New Session", "Untitled", "Imported session"}

// state reads state.json, the metadata of a session.
func (p *parser) state(doc jsontext.Value, at transcript.Origin) {
	title := doc.Get("title").Str()
	if !doc.Get("isCustomTitle").Exists() {
		if custom := doc.Get("customTitle").Str(); custom != "" {
			title = custom
		}
	}
	if custom := doc.Get("custom_title").Str(); custom != "" {
		title = custom
	}
	if title = format.Title(title); slices.Contains(placeholderTitles, title) {
		title = ""
	}
	project := doc.Get("workDir").Str()
	for _, v := range []jsontext.Value{doc.Get("cwd"), doc.Get("custom", "cwd"), doc.Get("worktree_path")} {
		if project == "" {
			project = v.Str()
		}
	}
	r := &transcript.Run{
		ID: p.run, Rank: rankMetadata, Named: true, Group: p.loc.bucket, Title: title, Project: project, Started: parseTime(doc.Get("createdAt")),
	}
	if doc.Get("archived").Bool() == transcript.Yes || doc.Get("custom", "archived").Bool() == transcript.Yes {
		r.Attributes.Set("archived", true)
	}
	p.Emit(r)
	origin := doc.Get("forkedFrom").Str()
	p.emitFork(hintOrigin, origin, p.run, at, false)
	p.emitFork(hintMigrated, doc.Get("custom", "kimi_cli_session_id").Str(), p.run, at, false)
	for id, agent := range doc.Get("agents").Fields() {
		if id == "main" || id == "" {
			continue
		}
		child := agentRun(p.session, id)
		p.Emit(&transcript.Run{ID: child, Named: true, Child: true, Rank: rankMetadata, Group: p.loc.bucket, Project: project})
		if parent := agent.Get("parentAgentId").Str(); parent != "" && parent != "main" {
			p.Emit(&transcript.Link{Kind: "call", From: transcript.RunEnd(agentRun(p.session, parent)), To: transcript.RunEnd(child), Origin: at, Uncounted: true})
		}
		if origin != "" {
			p.emitFork(hintOrigin, agentRun(origin, id), child, at, true)
		}
	}
}

// emitFork states that a run was made from another one.
func (p *parser) emitFork(key, from, to string, at transcript.Origin, uncounted bool) {
	if from == "" || from == to {
		return
	}
	p.Hint(to, key, from, at)
	p.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(from), To: transcript.RunEnd(to), Origin: at, Uncounted: uncounted})
}

// meta reads meta.json, which Kimi CLI writes for a subagent.
func (p *parser) meta(doc jsontext.Value, at transcript.Origin) {
	status := doc.Get("status").Str()
	r := &transcript.Run{
		ID: p.run, Rank: rankMetadata, Named: true, Child: true, Group: p.loc.bucket, Title: format.Title(doc.Get("description").Str()),
		Agent: doc.Get("subagent_type").Str(), Model: doc.Get("launch_spec", "effective_model").Str(), Status: status, Outcome: outcomes[status], Started: parseTime(doc.Get("created_at")),
		Project: doc.Get("launch_spec", "work_dir").Str(),
	}
	p.Emit(r)
}

var outcomes = map[string]transcript.Outcome{
	"idle": transcript.Succeeded, "completed": transcript.Succeeded, "failed": transcript.Failed, "killed": transcript.Cancelled,
	"running_foreground": transcript.Running, "running_background": transcript.Running,
}
