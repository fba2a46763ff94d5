package jan

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// thread yields what is noted about a thread. Its times are not taken: the program sets them anew with each change.
func (p *parser) thread(in format.Input) {
	v, at := p.Document(in.Reader, p.SessionProblem)
	if !v.Exists() {
		return
	}
	if !v.IsObject() {
		p.SessionProblem(&transcript.Problem{Kind: "not a thread", Reason: "no object", Origin: at})
		return
	}
	p.Row = jsontext.Object{Origin: at, Value: v}
	run := transcript.Run{
		ID: p.Session, Rank: rankThread, Named: true, Title: titleOf(v.Get("title").Str()),
		Group: v.Get("metadata", "project", "name").Str(),
	}
	var assistant jsontext.Value // the first: others are not used
	for assistant = range v.Get("assistants").Items() {
		break
	}
	var provider string
	run.Model, provider = modelOf(assistant.Get("model"))
	if run.Model == "" {
		run.Model, provider = modelOf(v.Get("model"))
	}
	run.Attributes.Set("provider", provider)
	run.Attributes.Set("assistant", assistant.First("name", "assistant_name").Str())
	if v.Get("metadata", "is_favorite").Bool() == transcript.Yes {
		run.Attributes.Set("favorite", true)
	}
	p.Emit(&run)
	if said := assistant.Get("instructions"); !said.IsBlank() && said.IsString() {
		p.Within(said, func(jsontext.Value) { p.Uncounted(transcript.KindSystem, "instructions", transcript.Time{}) })
	}
}

// titleOf returns the title of a thread, "" for what the program calls it until it has one.
func titleOf(stated string) string {
	if strings.EqualFold(stated, "New Thread") {
		return ""
	}
	return format.Title(stated)
}

// modelOf returns a model and its provider; "*" stands for any.
func modelOf(v jsontext.Value) (model, provider string) {
	if model = cmp.Or(v.Str(), v.Get("id").Str()); model == "*" {
		return "", ""
	}
	return model, v.First("engine", "provider").Str()
}

// timeOf returns a time in milliseconds, or in seconds as the program has written before, with or without decimals. It has
// written 0 for none.
func timeOf(v jsontext.Value) transcript.Time {
	n, whole := v.Int()
	switch {
	case v.IsString():
		return v.Time()
	case !whole:
		return v.UnixTime()
	case n <= 0:
		return transcript.Time{}
	}
	return timestamp.Epoch(n)
}
