package devflow

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// transcript parses an inflated transcript.json.
func (p *parser) transcript(r io.Reader) {
	b, doc, ok := p.read(r)
	if !ok {
		return
	}
	meta := doc.Get("metadata")
	id := p.runID(doc, meta)
	if id == "" {
		p.emitNoRun(b)
		return
	}
	p.ended = meta.Get("endedAt").Time()
	run := p.run(id, meta, p.transcriptRank())
	turns := doc.Get("turns")
	run.Title = title(turns)
	conversation := &transcript.Conversation{
		Run: id, Rank: p.rank(), Title: run.Title, Flow: run.Flow, Step: meta.Get("nodeId").Str(), Status: run.Status,
		Started: run.Started, Ended: run.Ended,
	}
	if !p.Emit(run) || !p.Emit(conversation) {
		return
	}
	if !turns.IsNull() && !turns.IsArray() {
		p.Emit(&transcript.Problem{Run: id, Kind: "no turns", Reason: `"turns" is no array`, Origin: p.origin(b, turns)})
	}
	t := turnReader{parser: p, b: b, run: id, ids: map[string]bool{}}
	events := p.metadataRows(b, id, meta)
	for turn := range turns.Items() {
		events = append(events, t.event(turn))
	}
	// Metadata usually precede turns, but the format does not require it.
	slices.SortStableFunc(events, byOffset)
	for _, event := range events {
		if !p.Emit(event) {
			return
		}
	}
	p.totals(b, meta, run)
	for n, turn := range turns.Numbered() {
		for _, record := range t.turnRecords(turn, n+1) {
			if !p.Emit(record) {
				return
			}
		}
	}
}

// title returns the first line of the first user turn.
func title(turns jsontext.Value) string {
	for turn := range turns.Items() {
		if turn.Get("role").Str() != "user" {
			continue
		}
		return format.Title(turn.Get("content").Str())
	}
	return ""
}

// turnReader converts turns to events, in order.
type turnReader struct {
	*parser
	b     []byte
	run   string
	ids   map[string]bool // ids of calls so far
	calls int
}

// event returns the event of a turn: a part for the turn itself, and one for each call and each result in it.
func (t *turnReader) event(turn jsontext.Value) *transcript.Event {
	role := turn.Get("role").Str()
	event := &transcript.Event{
		Run: t.run, Kind: transcript.KindMessage, Role: role, Type: "turn",
		Time: turn.Get("timestamp").Time(), Origin: t.origin(t.b, turn), Seq: turn.Get("id").Count(),
		Attributes: transcript.Attributes{}, Parts: []transcript.Part{{Text: partText(turn.Raw(), 0)}},
	}
	switch {
	case !turn.IsObject():
		event.Kind, event.Type = transcript.KindUnknown, ""
	case role == "system" && nodeTurn.MatchString(turn.Get("content").Str()):
		event.Kind = transcript.KindLifecycle
	case role == "system":
		event.Kind = transcript.KindSystem
	}
	for key, name := range map[string]string{"durationMs": "duration_ms", "tokensIn": "tokens_in", "tokensOut": "tokens_out"} {
		if n := turn.Get(key).Count(); n.Known {
			event.Attributes[name] = n.N
		}
	}
	for call := range turn.Get("toolCalls").Items() {
		event.Parts = t.appendCall(event.Parts, turn, call)
	}
	return event
}

// turnRecords returns the records of a turn besides its event: its share of the run's tokens, and the step of a node that
// ended.
func (t *turnReader) turnRecords(turn jsontext.Value, n int) []transcript.Record {
	var records []transcript.Record
	in, out := turn.Get("tokensIn").Count(), turn.Get("tokensOut").Count()
	inTotals, outside := splitTokens(turn.Get("role").Str(), in, out)
	for _, u := range []*transcript.Usage{inTotals, outside} {
		if u == nil {
			continue
		}
		u.Run, u.Rank, u.Time, u.Origin = t.run, int64(t.transcriptRank()), turn.Get("timestamp").Time(), t.origin(t.b, turn)
		u.Key = fmt.Sprintf("%s#%d %s", t.run, n, u.Verdict)
		records = append(records, u)
	}
	if m := nodeTurn.FindStringSubmatch(turn.Get("content").Str()); m != nil && turn.Get("role").Str() == "system" {
		records = append(records, t.node(turn, n, m))
	}
	return records
}

// splitTokens splits a turn's tokens into those that the run's totals contain (input of system and user turns, output of
// assistant turns) and those in no total. Neither part is added to anything.
func splitTokens(role string, in, out transcript.Count) (inTotals, outside *transcript.Usage) {
	put := func(u **transcript.Usage, verdict transcript.Verdict, in, out transcript.Count) {
		if !in.Known && !out.Known {
			return
		}
		if *u == nil {
			*u = &transcript.Usage{Verdict: verdict}
		}
		if in.Known {
			(*u).Input = in
		}
		if out.Known {
			(*u).Output = out
		}
	}
	none := transcript.Count{}
	if role == "system" || role == "user" {
		put(&inTotals, transcript.DerivedTotal, in, none)
	} else {
		put(&outside, transcript.OutsideReceipt, in, none)
	}
	if role == "assistant" {
		put(&inTotals, transcript.DerivedTotal, none, out)
	} else {
		put(&outside, transcript.OutsideReceipt, none, out)
	}
	return inTotals, outside
}

// nodeTurn matches the text that the wrapper around a flow's nodes writes when a node ends.
var nodeTurn = lazyregexp.New(`(?s)^Node (\S+) (?:(completed) in (\S+)|(failed): (.*))$`)

// node returns a step for the turn that ended it. m is its match of nodeTurn.
func (t *turnReader) node(turn jsontext.Value, n int, m []string) *transcript.Step {
	step := &transcript.Step{
		Run: t.run, Key: fmt.Sprintf("node:%d", n), Name: m[1], Kind: "node", Status: m[2] + m[4], Error: m[5],
		Outcome: outcome(m[2] + m[4]), Ended: turn.Get("timestamp").Time(),
		Rank: t.transcriptRank(), Origin: t.origin(t.b, turn),
	}
	if d, err := time.ParseDuration(m[3]); err == nil && d >= 0 {
		step.Duration = transcript.Known(d.Microseconds())
	}
	return step
}
