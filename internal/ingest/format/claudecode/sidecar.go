package claudecode

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parseMeta reads the metadata of a sub-agent.
func parseMeta(in format.Input, out *format.Sink) {
	p := placeOf(in.Path)
	id := agentRun(p.session, p.agent)
	doc, at := out.Document(in.Reader, func(pr *transcript.Problem) { out.Problem(id, pr) })
	if !doc.Exists() {
		return
	}
	name, title := doc.Get("agentType").Str(), shorten(doc.Get("description").Str())
	out.Emit(&transcript.Run{ID: id, Rank: 1, Named: true, Child: true, Agent: name, Title: title})
	out.Hint(id, hintAgent, name, at)
	out.Hint(id, hintTitle, title, at)
	out.Emit(&transcript.Event{
		Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: "meta", Origin: at,
		Parts: []transcript.Part{{Text: textOf(doc)}},
	})
}

// parseTitle reads the title that the user gave a session, which not every version repeats in the transcript.
func parseTitle(in format.Input, out *format.Sink) {
	id := placeOf(in.Path).session
	doc, at := out.Document(in.Reader, func(pr *transcript.Problem) { out.Problem(id, pr) })
	if !doc.Exists() {
		return
	}
	title := shorten(doc.Get("customTitle").Str())
	out.Emit(&transcript.Run{ID: id, Rank: 1, Named: true, Title: title})
	out.Hint(id, hintTitle, title, at)
	out.Emit(&transcript.Event{
		Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: "custom-title", Origin: at,
		Parts: []transcript.Part{{Text: textOf(doc)}},
	})
}

// parseJournal reads the journal of a workflow. What the workflow did is in its sub-agents' files, so the lines are only
// searchable.
func parseJournal(in format.Input, out *format.Sink) {
	id := placeOf(in.Path).session
	problem := func(p *transcript.Problem) {
		p.Run = id
		out.Emit(p)
	}
	first := true
	for o := range out.Each(jsontext.Objects(in.Reader, "", problem)) {
		if first {
			out.Emit(&transcript.Run{ID: id, Named: true})
			first = false
		}
		out.Emit(&transcript.Event{
			Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindLifecycle, Type: "journal",
			Time: o.Value.Get("timestamp").TimeOrMilli(), Origin: o.Origin, Parts: []transcript.Part{{Text: textOf(o.Value)}},
		})
	}
}

// parseText reads a file that is one text: a tool's output that was too long for the transcript, which has only its
// beginning, a text pasted into a prompt, or a plan, whose heading is its title.
func parseText(in format.Input, out *format.Sink, e transcript.Event) {
	if !out.TextFile(in.Reader, &e) {
		return
	}
	run := &transcript.Run{ID: e.Run, Named: true}
	if in.Role == rolePlan {
		run.Title = format.Heading(e.Parts[0].Text)
	}
	out.Emit(run)
	out.Emit(&e)
}
