package cline

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// note yields a whole file as one uncounted row of the run.
func (p *parser) note(at transcript.Time) {
	p.emit(&transcript.Event{
		Run: p.task, Verdict: transcript.Uncounted, Kind: transcript.KindLifecycle, Type: p.in.Role, Time: at, Origin: p.at,
		Parts: []transcript.Part{{Text: blockText(p.whole)}},
	})
}

// metadata yields what task_metadata.json (Cline) says of the models. Like all files of a task it makes a conversation
// without a word, for tasks of which nothing else is left.
func (p *parser) metadata() {
	p.say(transcript.Conversation{})
	if !p.document() {
		return
	}
	run := &transcript.Run{ID: p.task}
	at := transcript.Time{}
	for use := range p.whole.Get("model_usage").Items() {
		run.Model = use.Get("model_id").Str()
		p.hint(use.Get("ts"), run.Model)
		if ms, ok := use.Get("ts").Int(); ok {
			at = format.UnixMilli(ms)
		}
	}
	p.emit(run)
	p.note(at)
}

// history yields what history_item.json (Roo, Kilo) says of its task, and of the tasks around it.
func (p *parser) history() {
	p.say(transcript.Conversation{})
	if !p.document() {
		return
	}
	v := p.whole
	run := &transcript.Run{
		ID: p.task, Rank: 2, Project: v.Get("workspace").Str(), Status: v.Get("status").Str(), Attributes: transcript.Attributes{},
	}
	for name, key := range map[string]string{"mode": "mode", "profile": "apiConfigName"} {
		run.Attributes.Set(name, v.Get(key).Str())
	}
	p.emit(&transcript.Run{ID: p.task, Title: format.Title(v.Get("task").Str())}) // the first prompt's own words weigh more
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
	at := transcript.Time{}
	if ms, ok := v.Get("ts").Int(); ok {
		at = format.UnixMilli(ms)
	}
	p.note(at)
	u := &transcript.Usage{
		Run: p.task, Conversation: p.task, Key: p.task + ":total", Verdict: transcript.DerivedTotal, Time: at, Origin: p.at,
		Input: v.Get("tokensIn").Count(), Output: v.Get("tokensOut").Count(), CacheRead: v.Get("cacheReads").Count(),
		CacheWrite: v.Get("cacheWrites").Count(), Cost: v.Get("totalCost").NanoUSD(),
	}
	if cached := u.CacheRead.N + u.CacheWrite.N; u.Input.N >= cached {
		u.Input.N -= cached
	}
	if u.Cost.Known {
		u.CostSource = "totalCost"
	}
	if u.Input.Known {
		p.emit(u)
	}
}

func (p *parser) link(parent, child string) {
	p.emit(&transcript.Link{
		Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(child), Origin: p.at,
	})
}

// manifest yields what <session>.json says of its session.
func (p *parser) manifest() {
	if !p.document() {
		return
	}
	v := p.whole
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
	p.hint(format.Value{}, run.Model)
	fork := v.Get("metadata", "fork")
	copied := fork.Get("forkedAt").Time()
	if imported := v.Get("metadata", "importedFrom", "importedAt").Time(); imported.Valid && (!copied.Valid || imported.UnixMicro > copied.UnixMicro) {
		copied = imported
	}
	if copied.Valid {
		p.emit(&transcript.Hint{Run: p.task, Key: hintForked, Value: fmt.Sprint(copied.UnixMicro / 1000), Origin: p.at})
	}
	p.emit(run)
	if origin := fork.Get("forkedFromSessionId").Str(); origin != "" && origin != p.task {
		p.emit(&transcript.Link{
			Kind: "fork", From: transcript.RunEnd(origin), To: transcript.RunEnd(p.task), Origin: p.at,
		})
	}
	p.note(run.Started)
}
