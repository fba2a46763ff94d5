package awf

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Export selects the only table of the history.
func (awf) Export(role string) []format.Query {
	if role != roleHistory {
		return nil
	}
	return []format.Query{{Name: "execution_records", SQL: "SELECT * FROM execution_records ORDER BY started_at, id"}}
}

// parseHistory reads the rows of the history. AWF writes a row once: that of a run which failed and was later resumed still
// says failed. So status, exit code and error become history_* attributes.
func parseHistory(in format.Input, out *format.Sink) {
	for o := range out.Each(jsontext.Objects(in.Reader, "", func(p *transcript.Problem) { out.Emit(p) })) {
		historyRow(o, out)
	}
}

func historyRow(o jsontext.Object, out *format.Sink) {
	v := o.Value
	id := cmp.Or(v.Get("workflow_id").Text(), v.Get("id").Text())
	if id == "" {
		out.Emit(&transcript.Problem{Kind: "no run id", Reason: "the row has no id", Origin: o.Origin})
		return
	}
	flow := v.Get("workflow_name").Str()
	run := &transcript.Run{
		ID: id, Rank: rankHistory, Named: true, Group: flow, Flow: flow,
		Started: nanos(v.Get("started_at")), Ended: nanos(v.Get("completed_at")), Attributes: transcript.Attributes{},
	}
	message := v.Get("error_message").Str()
	run.Attributes.Set("history_status", v.Get("status").Str())
	run.Attributes.Set("history_error", message)
	setCount(run.Attributes, "history_exit_code", v.Get("exit_code"))
	setCount(run.Attributes, "history_duration_ms", v.Get("duration_ms"))
	out.Emit(run)
	if message == "" {
		return
	}
	out.Emit(&transcript.Event{
		Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindError, Type: "execution_record",
		Time: run.Started, Origin: o.Origin, Flow: flow, Parts: []transcript.Part{{Text: message}},
	})
}

// nanos reads a time of the history. That of a run which never completed is far below zero, which means unknown.
func nanos(v jsontext.Value) transcript.Time {
	n, _ := v.Int()
	return timestamp.UnixNano(n)
}
