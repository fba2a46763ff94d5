package ibmbob

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// migrated begins the ids of tasks that Bob 2 has taken over from Bob 1, whose own files stay.
const migrated = "legacy-bob-code-"

func isMigrated(task string) bool { return strings.HasPrefix(task, migrated) }

// task yields what is known of a task. It does not by itself make a run that counts: a draft has no message.
func (p *parser) task(v jsontext.Value) {
	parent, started := format.ShortID(v.Get("parent_id").Text()), v.Get("created_at").MilliTime()
	env, costs := v.Get("env"), v.Get("costs")
	run := &transcript.Run{
		ID: p.Session, Named: !p.Begun, Title: format.Title(cmp.Or(strings.TrimSpace(v.Get("title").Str()), v.Get("first_message").Str())),
		Project: cmp.Or(dirOf(v.Get("directory").Str()), dirOf(v.Get("project_id").Str())), Branch: v.Get("git_branch").Str(), Model: costs.Get("model").Str(),
		Version: v.Get("version").Str(), Status: v.Get("status").Str(), Error: errorOf(v.Get("last_error")), Started: started, Child: parent != "",
	}
	switch run.Status {
	case "running", "compacting":
		run.Outcome = transcript.Running
	case "completed":
		run.Outcome = transcript.Succeeded
	case "error":
		run.Outcome = transcript.Failed
	}
	run.Attributes.Set("mode", env.Get("modeId").Str())
	if typ := v.Get("task_type").Str(); typ != "normal" {
		run.Attributes.Set("type", typ)
	}
	if n, _ := v.Get("is_pinned").Int(); n != 0 {
		run.Attributes.Set("pinned", true)
	}
	if v.Get("time_archived").MilliTime().Valid {
		run.Attributes.Set("archived", true)
	}
	p.Emit(run)
	p.Named, p.Titled = true, run.Title != ""
	if parent != "" {
		p.parent(parent, p.Session, "")
	}
	p.Uncounted(transcript.KindLifecycle, "task", started)
	p.sum(costs, cmp.Or(v.Get("updated_at").MilliTime(), started))
}

// parent yields the edge from a task to one that it has started, by a call if that is known.
func (p *parser) parent(from, to, call string) {
	other := from
	if from == p.Session {
		other = to
	}
	p.Emit(&transcript.Run{ID: other, Named: true, Child: other == to})
	l := &transcript.Link{Kind: "parent", From: transcript.RunEnd(from), To: transcript.RunEnd(to), Origin: p.Row.Origin}
	l.Attributes.Set("call", call)
	p.Emit(l)
}

// dirOf returns the directory that a task states, as a path or as an address (file:/home/ada/shop); "" if it is no directory.
func dirOf(s string) string {
	address, ok := strings.CutPrefix(s, "file:")
	if !ok {
		if scheme, _, found := strings.Cut(s, ":"); found && len(scheme) > 1 {
			return ""
		}
		return s
	}
	return format.FileURI("file://" + strings.TrimPrefix(address, "//"))
}

// errorOf returns how a task has failed. The program writes null as JSON if it has not.
func errorOf(v jsontext.Value) string {
	if v.IsNull() || v.Is("null") {
		return ""
	}
	if message := v.Get("message").Str(); message != "" {
		return message
	}
	return jsontext.AllStrings(v)
}

// Resolve sets the fields of a conversation from the row of its task. What a task states in sum counts if no request of it is known, and of a task
// that was taken over from Bob 1, nothing does.
func (bob) Resolve(f *transcript.Family) {
	mode, _ := f.Run.Attributes["mode"].(string)
	for _, c := range f.Conversations {
		c.Title, c.Project, c.Branch, c.Model, c.Mode, c.Status, c.Child = f.Run.Title, f.Run.Project, f.Run.Branch, f.Run.Model, mode, f.Run.Status, f.Run.Child
	}
	requests := false
	for _, u := range f.Usage {
		requests = requests || !isSum(u)
	}
	for _, u := range f.Usage {
		u.Model = cmp.Or(u.Model, f.Run.Model)
		if u.Verdict = transcript.Counted; isMigrated(f.Run.ID) || isSum(u) && requests {
			u.Verdict = transcript.DerivedTotal
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (bob) ResolvesUsage() {}
