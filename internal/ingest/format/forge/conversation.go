package forge

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// row yields the records of one row of the database.
func (p *parser) row(v jsontext.Value) {
	id, context := v.Get("conversation_id").Text(), v.Get("context")
	p.Session, p.Begun, p.Named, p.seen = id, false, false, map[string]int{}
	switch {
	case id == "":
		p.problem("no conversation", "the row names no conversation")
	case !v.Get("table").Is(tableConversation):
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, v.Get("table").Word(), transcript.Time{})
	case context.IsNull(): // nobody has said anything yet
		p.run(v, context, true)
	case !context.IsObject() || context.Get("messages").Exists() && !context.Get("messages").IsArray():
		p.problem("not a conversation", "the context is no JSON object with a list of messages")
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, "conversation", transcript.Time{})
	default:
		p.context(v, context)
	}
}

func (p *parser) problem(kind, reason string) {
	p.Emit(&transcript.Problem{Run: p.Session, Kind: kind, Reason: reason, Origin: p.Row.Origin})
}

// context yields a conversation with messages.
func (p *parser) context(v, context jsontext.Value) {
	p.origin = p.Session
	if created := v.Get("created_at").Str(); strings.Contains(created, ".") { // to fractions of a second
		p.origin = created
	}
	of := context.Get("conversation_id").Str()
	p.home = of == "" || of == p.Session
	p.run(v, context, !context.Get("messages").HasItems())
	if !p.home {
		p.Emit(&transcript.Run{ID: of, Named: true})
		p.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(of), To: transcript.RunEnd(p.Session), Origin: p.Row.Origin})
	}
	at, model := createdAt(v), modelOf(context)
	stated := false
	for entry := range context.Get("messages").Items() {
		if p.Done() {
			return
		}
		p.Within(entry, func(entry jsontext.Value) {
			hash := p.message(entry)
			stated = p.usage(entry, hash, at, model) || stated
		})
	}
	if usage := context.Get("usage"); !stated && usage.IsObject() {
		p.Within(usage, func(v jsontext.Value) { p.lastRequest(v, at, model) })
	}
	if todos := v.Get("todos"); todos.HasItems() {
		p.Within(todos, func(jsontext.Value) { p.Uncounted(transcript.KindNotice, "todos", transcript.Time{}) })
	}
}

// run yields the run and its conversation. Without messages it does not count.
func (p *parser) run(v, context jsontext.Value, isEmpty bool) {
	run := &transcript.Run{
		ID: p.Session, Named: isEmpty, Title: format.Title(v.Get("title").Str()), Project: projectOf(context), Model: modelOf(context),
		Started: createdAt(v), Ended: v.Get("updated_at").Time(),
	}
	run.Attributes.Set("workspace", v.Get("workspace_id").Text())
	run.Attributes.Set("thinking_effort", context.Get("reasoning", "effort").Str())
	p.Emit(run)
	if isEmpty {
		return
	}
	p.Begun = true
	p.Emit(&transcript.Conversation{
		ID: conversation, Run: p.Session, Title: run.Title, Model: run.Model, Project: run.Project, Started: run.Started, Ended: run.Ended,
	})
}

func createdAt(v jsontext.Value) transcript.Time {
	return cmp.Or(v.Get("created_at").Time(), v.Get("metrics", "started_at").Time())
}

// modelOf returns the model of a conversation, if all its answers have the same.
func modelOf(context jsontext.Value) (model string) {
	for entry := range context.Get("messages").Items() {
		text := inner(entry).Get("text")
		name := text.Get("model").Str()
		if name == "" || !text.Get("role").Is("Assistant") {
			continue
		}
		if model != "" && name != model {
			return ""
		}
		model = name
	}
	return model
}

// projectOf returns the directory that the first messages name: the row has only a hash of it.
func projectOf(context jsontext.Value) string {
	for n, entry := range context.Get("messages").Numbered() {
		if n == 4 {
			break
		}
		_, after, ok := strings.Cut(inner(entry).Get("text", "content").Str(), "<current_working_directory>")
		if dir, _, closed := strings.Cut(after, "</current_working_directory>"); ok && closed {
			return strings.TrimSpace(dir)
		}
	}
	return ""
}

// inner returns the message in an entry: early versions wrote it without the member around it.
func inner(entry jsontext.Value) jsontext.Value {
	if m := entry.Get("message"); m.IsObject() {
		return m
	}
	return entry
}
