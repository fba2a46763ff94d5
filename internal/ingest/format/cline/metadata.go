package cline

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// emitNote yields a whole file as one uncounted row of the run.
func (p *parser) emitNote(at transcript.Time) {
	p.emit(&transcript.Event{
		Run: p.task, Verdict: transcript.Uncounted, Kind: transcript.KindLifecycle, Type: p.in.Role, Time: at, Origin: p.docOrigin,
		Parts: []transcript.Part{{Text: blockText(p.doc)}},
	})
}

// metadata yields the models in task_metadata.json (Cline). Like every file of a task it yields a conversation without
// events, for tasks of which only this file is left.
func (p *parser) metadata() {
	p.emitTask(transcript.Conversation{})
	if !p.document() {
		return
	}
	run := &transcript.Run{ID: p.task}
	at := transcript.Time{}
	for use := range p.doc.Get("model_usage").Items() {
		run.Model = use.Get("model_id").Str()
		p.modelHint(use.Get("ts"), run.Model)
		if ms, ok := use.Get("ts").Int(); ok {
			at = timestamp.UnixMilli(ms)
		}
	}
	p.emit(run)
	p.emitNote(at)
}

// history yields what history_item.json (Roo, Kilo) states about its task, its parent and its children.
func (p *parser) history() {
	p.emitTask(transcript.Conversation{})
	if !p.document() {
		return
	}
	v := p.doc
	run := &transcript.Run{
		ID: p.task, Rank: 2, Project: v.Get("workspace").Str(), Status: v.Get("status").Str(), Attributes: transcript.Attributes{},
	}
	for name, key := range map[string]string{"mode": "mode", "profile": "apiConfigName"} {
		run.Attributes.Set(name, v.Get(key).Str())
	}
	p.emit(&transcript.Run{ID: p.task, Title: format.Title(v.Get("task").Str())}) // rank 0: the first prompt in ui_messages.json outranks it
	parent := v.Get("parentTaskId").Str()
	run.Child = parent != "" && parent != p.task
	p.emit(run)
	if run.Child {
		p.link(parent, p.task)
	}
	for child := range v.Get("childIds").Items() {
		if id := child.Str(); id != "" && id != p.task {
			p.link(p.task, id)
		}
	}
	at := v.Get("ts").MilliTime()
	p.emitNote(at)
	u := &transcript.Usage{
		Run: p.task, Conversation: p.task, Key: p.task + ":total", Verdict: transcript.DerivedTotal, Time: at, Origin: p.docOrigin,
		Input: v.Get("tokensIn").Count(), Output: v.Get("tokensOut").Count(), CacheRead: v.Get("cacheReads").Count(),
		CacheWrite: v.Get("cacheWrites").Count(), Cost: v.Get("totalCost").NanoUSD(),
	}
	format.ExcludeCache(u)
	if u.Cost.Known {
		u.CostSource = "totalCost"
	}
	if u.Input.Known {
		p.emit(u)
	}
}

func (p *parser) link(parent, child string) {
	p.emit(&transcript.Link{
		Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(child), Origin: p.docOrigin,
	})
}

// manifest yields what <session>.json states about its session.
func (p *parser) manifest() {
	if !p.document() {
		return
	}
	v := p.doc
	run := &transcript.Run{
		ID: p.task, Rank: 2, Named: true, Model: v.Get("model").Str(), Status: v.Get("status").Str(), Title: v.Get("title").Str(),
		Project: v.Get("cwd").Str(), Started: v.Get("started_at").Time(), Ended: v.Get("ended_at").Time(),
	}
	if run.Project == "" {
		run.Project = v.Get("workspace_root").Str()
	}
	if title := v.Get("metadata", "title").Str(); run.Title == "" {
		run.Title = title
	}
	p.modelHint(jsontext.Value{}, run.Model)
	fork := v.Get("metadata", "fork")
	copied := fork.Get("forkedAt").Time()
	if imported := v.Get("metadata", "importedFrom", "importedAt").Time(); imported.Valid && (!copied.Valid || imported.UnixMicro > copied.UnixMicro) {
		copied = imported
	}
	if copied.Valid {
		p.out.Hint(p.task, hintForked, fmt.Sprint(copied.UnixMicro/1000), p.docOrigin)
	}
	p.emit(run)
	if origin := fork.Get("forkedFromSessionId").Str(); origin != "" && origin != p.task {
		p.emit(&transcript.Link{
			Kind: "fork", From: transcript.RunEnd(origin), To: transcript.RunEnd(p.task), Origin: p.docOrigin,
		})
	}
	p.emitNote(run.Started)
}
