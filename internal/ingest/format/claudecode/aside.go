package claudecode

import (
	"errors"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints: alone in the run that they are of, followed by the id of a sub-agent in its session's.
const (
	hintAgent   = "agent"
	hintTitle   = "title"
	hintProject = "project"
)

func hint(out *format.Sink, run, key, value string, at transcript.Origin) {
	if value != "" {
		out.Emit(&transcript.Hint{Run: run, Key: key, Value: value, Origin: at})
	}
}

// parseMeta reads the note beside a sub-agent.
func parseMeta(in format.Input, out *format.Sink) {
	p := placeOf(in.Path)
	id := agentRun(p.session, p.agent)
	doc, at := out.Document(in.Reader, func(pr *transcript.Problem) { out.Problem(id, pr) })
	if !doc.Exists() {
		return
	}
	name, title := doc.Get("agentType").Str(), shorten(doc.Get("description").Str())
	out.Emit(&transcript.Run{ID: id, Rank: 1, Named: true, Child: true, Agent: name, Title: title})
	hint(out, id, hintAgent, name, at)
	hint(out, id, hintTitle, title, at)
	out.Emit(&transcript.Event{
		Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: "meta", Origin: at,
		Parts: []transcript.Part{{Text: textOf(doc)}},
	})
}

// parseTitle reads the title that the user gave a session, which not every version repeats in its transcript.
func parseTitle(in format.Input, out *format.Sink) {
	id := placeOf(in.Path).session
	doc, at := out.Document(in.Reader, func(pr *transcript.Problem) { out.Problem(id, pr) })
	if !doc.Exists() {
		return
	}
	title := shorten(doc.Get("customTitle").Str())
	out.Emit(&transcript.Run{ID: id, Rank: 1, Named: true, Title: title})
	hint(out, id, hintTitle, title, at)
	out.Emit(&transcript.Event{
		Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: "custom-title", Origin: at,
		Parts: []transcript.Part{{Text: textOf(doc)}},
	})
}

// parseJournal reads the journal of a workflow: what it did stands in its sub-agents' files, so its lines are only
// found.
func parseJournal(in format.Input, out *format.Sink) {
	id := placeOf(in.Path).session
	problem := func(p *transcript.Problem) {
		p.Run = id
		out.Emit(p)
	}
	first := true
	for o := range out.Each(format.Objects(in.Reader, "", problem)) {
		if first {
			out.Emit(&transcript.Run{ID: id, Named: true})
			first = false
		}
		out.Emit(&transcript.Event{
			Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindLifecycle, Type: "journal",
			Time: stamp(o.Value.Get("timestamp")), Origin: o.Origin, Parts: []transcript.Part{{Text: textOf(o.Value)}},
		})
	}
}

// maxAside is the largest text beside the transcripts, in bytes, whose words are found.
const maxAside = 16 << 20

// parseText reads a file that is one text: what a tool gave back that was too long for the transcript, which has its beginning only,
// or what was pasted into a prompt.
func parseText(in format.Input, out *format.Sink, e transcript.Event) {
	raw, err := format.ReadAll(in.Reader, maxAside)
	if errors.Is(err, format.ErrTooLarge) {
		return
	}
	if err != nil {
		out.Fail(err)
		return
	}
	out.Emit(&transcript.Run{ID: e.Run, Named: true})
	e.Verdict, e.Origin = transcript.Uncounted, transcript.Origin{Length: int64(len(raw))}
	e.Parts = []transcript.Part{{Text: format.LooseText(raw)}}
	out.Emit(&e)
}

// Resolve names sub-agents by the note beside their file, or else by the call that started them, and sessions by theirs. What a
// session is about its sub-agents are about.
func (claudeCode) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		if !c.Child {
			title(c, f.Hints)
			project(c, f.Hints)
			continue
		}
		for _, hints := range f.Related {
			name(c, hints, " "+c.ID)
			project(c, hints)
		}
		name(c, f.Hints, "")
	}
}

func title(c *transcript.FamilyConversation, hints []*transcript.Hint) {
	for _, h := range hints {
		if h.Key == hintTitle {
			c.Title = h.Value
		}
	}
}

func project(c *transcript.FamilyConversation, hints []*transcript.Hint) {
	for _, h := range hints {
		if h.Key == hintProject {
			c.Project = h.Value
		}
	}
}

func name(c *transcript.FamilyConversation, hints []*transcript.Hint, of string) {
	for _, h := range hints {
		switch h.Key {
		case hintAgent + of:
			c.Agent = h.Value
		case hintTitle + of:
			c.Title = h.Value
		}
	}
}
