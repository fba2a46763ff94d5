package zed

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// row yields the records of one row of the database.
func (p *parser) row(v jsontext.Value) {
	p.lend.Reset()
	p.thread, p.prompt, p.steps = v.Get("id").Text(), "", 0
	clear(p.seen)
	clear(p.calls)
	data := v.Get("data")
	switch messages := data.Get("messages"); {
	case p.thread == "":
		p.Emit(&transcript.Problem{Kind: "no thread", Reason: "the row names no thread", Origin: p.at})
	case !v.Get("table").Is(tableThread):
		p.unreadable(v.Get("table").Word())
	case !messages.IsArray():
		p.Emit(&transcript.Problem{Run: p.thread, Kind: "not a thread", Reason: "the data is no JSON object with a list of messages", Origin: p.at})
		p.unreadable("thread")
	default:
		p.threadRow(v, data)
	}
}

// unreadable yields a row that is only found by search.
func (p *parser) unreadable(typ string) {
	p.Emit(&transcript.Run{ID: p.thread, Named: true})
	p.uncounted(transcript.KindUnknown, typ, p.base)
}

// uncounted yields a row of the thread that is not counted.
func (p *parser) uncounted(kind transcript.Kind, typ string, v jsontext.Value) {
	e := p.lend.Event(transcript.Event{Run: p.thread, Verdict: transcript.Uncounted, Kind: kind, Type: typ, Origin: p.origin(v)})
	e.Parts[0] = p.part(v, v)
	p.Emit(e)
}

// threadRow yields the records of a thread.
func (p *parser) threadRow(v, data jsontext.Value) {
	started := p.run(v, data)
	p.parent(cmp.Or(v.Get("parent_id").Str(), data.Get("subagent_context", "parent_thread_id").Str()), data.Get("subagent_context", "tool_use_id").Str())
	p.usage(data, started)
	for key, member := range data.Fields() {
		switch key {
		case "messages":
			for m := range member.Items() {
				if p.Done() {
					return
				}
				p.lend.Reset()
				p.message(m)
			}
		case "detailed_summary", "detailed_summary_state":
			if member.Get("Generated").Exists() || !member.IsObject() && !member.IsBlank() && !member.Is("NotGenerated") && !member.Is("Generating") {
				p.uncounted(transcript.KindNotice, key, member)
			}
		case "draft_prompt":
			if !member.IsNull() {
				p.uncounted(transcript.KindNotice, key, member)
			}
		}
	}
}

// run yields the thread and its conversation, and returns when it began. A thread without a message does not count.
func (p *parser) run(v, data jsontext.Value) transcript.Time {
	title := titleOf(v.Get("summary"), data)
	folder, branch := firstTree(data)
	folders := strings.Split(v.Get("folder_paths").Str(), "\n")
	started, ended := startOf(v, data), v.Get("updated_at").Time()
	isEmpty := !data.Get("messages").HasItems()
	run := &transcript.Run{
		ID: p.thread, Named: isEmpty, Title: title, Project: cmp.Or(folders[0], folder), Branch: branch, Model: data.Get("model", "model").Str(),
		Started: started, Ended: ended, Child: v.Get("parent_id").Str() != "" || data.Get("subagent_context").IsObject(),
	}
	if len(folders) > 1 {
		run.Attributes.Set("folders", strings.Join(folders, ", "))
	}
	for _, key := range []string{"thinking_effort", "speed"} {
		run.Attributes.Set(key, data.Get(key).Str())
	}
	run.Attributes.Set("provider", data.Get("model", "provider").Str())
	if data.Get("imported").Bool() == transcript.Yes {
		run.Attributes.Set("imported", true)
	}
	p.Emit(run)
	if !isEmpty {
		p.Emit(&transcript.Conversation{
			ID: conversation, Run: p.thread, Title: title, Model: run.Model, Mode: data.Get("profile").Str(), Project: run.Project, Branch: branch,
			Started: started, Ended: ended, Child: run.Child,
		})
	}
	return cmp.Or(started, ended)
}

// titleOf returns the name of a thread, or else its first prompt.
func titleOf(summary, data jsontext.Value) string {
	for _, name := range []jsontext.Value{summary, data.Get("title"), data.Get("summary")} {
		if title := format.Title(name.Str()); title != "" && title != "New Thread" { // what Zed calls a thread until a model has named it
			return title
		}
	}
	return format.Title(firstPrompt(data))
}

// firstPrompt returns the first text that the user wrote.
func firstPrompt(data jsontext.Value) string {
	for m := range data.Get("messages").Items() {
		user, key := m.Get("User"), "Text"
		if m.Get("role").Is("user") && m.Get("is_hidden").Bool() != transcript.Yes {
			user, key = m, "text"
		}
		for _, content := range []jsontext.Value{user.Get("text"), user.Get("content"), user.Get("segments")} {
			if !content.IsBlank() {
				return content.Str()
			}
			for item := range content.Items() {
				if text := item.Get(key); !text.IsBlank() {
					return text.Str()
				}
			}
		}
	}
	return ""
}

// startOf returns when a thread began: Zed looks at the project then. The time in its row is that of the first save; in rows older than that
// column, that of the last one.
func startOf(v, data jsontext.Value) transcript.Time {
	return cmp.Or(data.Get("initial_project_snapshot", "timestamp").Time(), v.Get("created_at").Time())
}

// firstTree returns the first directory that Zed saw when a thread began, and its branch.
func firstTree(data jsontext.Value) (dir, branch string) {
	for tree := range data.Get("initial_project_snapshot", "worktree_snapshots").Items() {
		return tree.Get("worktree_path").Str(), tree.Get("git_state", "current_branch").Str()
	}
	return "", ""
}

// parent yields the link from the thread that started this one as a sub-agent.
func (p *parser) parent(of, call string) {
	if of != "" && of != p.thread {
		p.Emit(&transcript.Run{ID: of, Named: true})
		p.link(of, p.thread, call, p.base)
	}
}

func (p *parser) link(from, to, call string, v jsontext.Value) {
	l := &transcript.Link{Kind: "parent", From: transcript.RunEnd(from), To: transcript.RunEnd(to), Origin: p.origin(v)}
	l.Attributes.Set("call", call)
	p.Emit(l)
}
