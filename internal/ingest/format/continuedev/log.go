package continuedev

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// logRun is the run of requests in logs that name no session.
const logRun = "dev_data"

// log yields the records of a log: requests with their tokens, or with what was said.
func (p *parser) log() {
	problem := func(pr *transcript.Problem) {
		pr.Run = logRun
		p.Emit(pr)
	}
	named := map[string]bool{}
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", problem)) {
		v := o.Value
		at := timeOf(cmp.Or(v.Get("timestamp"), v.Get("createdAt")))
		p.id, p.start = cmp.Or(v.Get("sessionId").Text(), logRun), o.Origin.Offset-v.Offset()
		run := &transcript.Run{ID: p.id, Rank: transcript.RankHistory, Named: true}
		if p.id != logRun {
			run.Started, run.Ended = at, at
		}
		if !named[p.id] || run.Started.Valid {
			named[p.id] = true
			p.Emit(run)
		}
		if v.Get("promptTokens").Exists() || v.Get("generatedTokens").Exists() {
			p.tokens(v, o.Origin, at)
			continue
		}
		p.lend.Reset()
		e := p.lend.Event(transcript.Event{
			Run: p.id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: v.Get("eventName").Word(), Time: at, Origin: o.Origin,
			Model: cmp.Or(v.Get("modelName").Str(), v.Get("modelTitle").Str()),
		})
		e.Parts[0].Text = p.lend.Text(func(dst []byte) []byte { return appendText(dst, v) })
		p.Emit(e)
	}
}

// tokens yields a line of generated tokens. It says neither in which session they were generated nor what the provider counted.
func (p *parser) tokens(v jsontext.Value, origin transcript.Origin, at transcript.Time) {
	p.Emit(&transcript.Usage{
		Run: p.id, Verdict: transcript.OutsideReceipt, Estimated: true, Origin: origin, Time: at, Requests: transcript.Known(1),
		Model: v.Get("model").Str(), Provider: v.Get("provider").Str(), Input: count(v.Get("promptTokens")), Output: count(v.Get("generatedTokens")),
	})
}
