package codex

import (
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// nameRank is the Run.Rank of session_index.jsonl: its title outranks the thread's first prompt.
const nameRank = 2

// history yields the rows of history.jsonl and session_index.jsonl. Both only name threads, whose files may be gone.
func (p *parser) history() {
	yielded := map[string]bool{}
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		e := &transcript.Event{
			Verdict: transcript.Uncounted, Kind: transcript.KindLifecycle, Type: p.in.Role, Origin: o.Origin,
			Parts: []transcript.Part{{Text: historyText(o.Value)}},
		}
		title := ""
		for key, m := range o.Value.Fields() {
			switch key {
			case "session_id", "id":
				e.Run = m.Str()
			case "ts":
				if n, ok := m.Int(); ok {
					e.Time = timestamp.UnixSeconds(n)
				}
			case "updated_at":
				e.Time = m.Time()
			case "thread_name":
				title = m.Str()
			}
		}
		rank := nameRank
		if p.in.Role == roleHistory {
			e.Kind, e.Role, e.Retold, rank = transcript.KindMessage, "user", o.Value.Get("text").Str(), transcript.RankHistory
		}
		if e.Run == "" {
			e.Run = p.in.Role // the line names no thread
		}
		if title != "" || !yielded[e.Run] {
			yielded[e.Run] = true
			p.Emit(&transcript.Run{ID: e.Run, Rank: rank, Named: true, Title: title})
		}
		p.Emit(e)
	}
}

// historyText returns the prompt, or the name of the thread.
func historyText(v jsontext.Value) string {
	var text []byte
	for key, m := range v.Fields() {
		if key != "session_id" && key != "id" && key != "updated_at" {
			text = jsontext.AppendStrings(text, m)
		}
	}
	return string(text)
}
