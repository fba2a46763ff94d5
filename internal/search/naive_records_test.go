package search

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// naiveReader tells what the rows of one original are, from its records alone. It takes each run and conversation to be
// told once and by this original only, which real ones do not keep to: for those see recall_test.go.
type naiveReader struct {
	o             *indextest.Original
	runs          map[string]*transcript.Run
	conversations map[string]*transcript.Conversation // by run, slash and id
	run           string                              // the last one that a conversation named
	seq, events   map[string]int64                    // by run, slash and conversation: all events, and those that count
	near          int64
	rows          []row
	owners        []string // of the rows: run, slash and conversation
}

func naiveRows(o *indextest.Original) []row {
	n := &naiveReader{o: o, runs: map[string]*transcript.Run{}, conversations: map[string]*transcript.Conversation{}, seq: map[string]int64{}, events: map[string]int64{}}
	for _, rec := range o.Records {
		switch rec := rec.(type) {
		case *transcript.Run:
			n.runs[rec.ID] = rec
		case *transcript.Conversation:
			n.run = rec.Run
			n.conversations[rec.Run+"/"+rec.ID] = rec
			if n.near == 0 && rec.Started.Valid {
				n.near = rec.Started.UnixMicro
			}
		case *transcript.Event:
			n.event(rec)
		}
	}
	for i := range n.rows {
		n.rows[i].events = n.events[n.owners[i]]
		if n.rows[i].at == 0 {
			if n.rows[i].at = n.near; n.near == 0 {
				n.rows[i].at = indextest.Epoch.UnixMicro()
			}
		}
	}
	for _, rec := range o.Records {
		n.beside(rec)
	}
	return n.rows
}

func (n *naiveReader) event(e *transcript.Event) {
	run := e.Run
	if run == "" {
		run = n.run
	}
	owner := run + "/" + e.Conversation
	n.seq[owner]++
	if e.Verdict == "" || e.Verdict == transcript.Counted {
		n.events[owner]++
	}
	if e.Time.Valid {
		if n.near == 0 {
			for i := range n.rows {
				n.rows[i].at = e.Time.UnixMicro
			}
		}
		n.near = e.Time.UnixMicro
	}
	for i, p := range e.Parts {
		r := row{run: run, conversation: e.Conversation, seq: n.seq[owner], part: i, at: n.near, text: p.Text,
			kind: string(e.Kind), role: e.Role, typ: e.Type, format: n.o.Format, source: n.o.Source, path: n.o.Path,
			hidden: e.Verdict != "" && e.Verdict != transcript.Counted && e.Verdict != transcript.Uncounted}
		r.id = fmt.Sprintf(":%d", r.seq)
		if len(e.Parts) > 1 {
			r.id = fmt.Sprintf(":%d.%d", r.seq, i+1)
		}
		n.owner(&r, e)
		if p.Kind != "" {
			r.kind = string(p.Kind)
		}
		if p.Role != "" {
			r.role = p.Role
		}
		if p.Call != nil {
			r.tool, r.touches = p.Call.Name, p.Call.Paths
		}
		if p.Result != nil {
			r.tool, r.failed, r.cut = p.Result.Name, p.Result.Failed == transcript.Yes, p.Result.Cut
		}
		n.rows, n.owners = append(n.rows, r), append(n.owners, owner)
	}
}

// owner fills in what the event, else its conversation, else its run says.
func (n *naiveReader) owner(r *row, e *transcript.Event) {
	run, c := n.runs[r.run], n.conversations[r.run+"/"+r.conversation]
	if run == nil {
		run = &transcript.Run{}
	}
	if c == nil {
		c = &transcript.Conversation{}
	}
	r.agent, r.model = cmp.Or(e.Agent, c.Agent, run.Agent), cmp.Or(e.Model, c.Model, run.Model)
	r.flow, r.step = cmp.Or(e.Flow, c.Flow, run.Flow), cmp.Or(e.Step, c.Step)
	r.engine, r.project, r.group = c.Engine, cmp.Or(c.Project, run.Project), run.Group
	r.statuses, r.outcome, r.stub, r.child = some(run.Status, c.Status), string(run.Outcome), run.Stub, run.Child
	r.attrs = map[string][]string{}
	for _, of := range []transcript.Attributes{e.Attributes, c.Attributes, run.Attributes} {
		for k, v := range of {
			r.attrs[k] = append(r.attrs[k], fmt.Sprint(v))
		}
	}
	for k, v := range map[string]string{"id": e.ID, "agent": e.Agent, "model": e.Model, "flow": e.Flow, "step": e.Step} {
		if v != "" {
			r.attrs[k] = append(r.attrs[k], v)
		}
	}
	if from, ok := e.Attributes["from"].(string); ok {
		r.from = from
	}
}

// beside adds what other records say of rows: tokens, steps, results of calls, problems.
func (n *naiveReader) beside(rec transcript.Record) {
	switch rec := rec.(type) {
	case *transcript.Usage:
		n.each(rec.Origin, func(r *row) { r.usages = append(r.usages, spentOf(rec)) })
	case *transcript.Step:
		n.each(rec.Origin, func(r *row) {
			switch {
			case rec.Duration.Known:
				r.durations = append(r.durations, rec.Duration.N)
			case rec.Started.Valid && rec.Ended.Valid:
				r.durations = append(r.durations, rec.Ended.UnixMicro-rec.Started.UnixMicro)
			}
		})
	case *transcript.Problem:
		for i := range n.rows {
			n.rows[i].problem = true
		}
	case *transcript.Event:
		for _, p := range rec.Parts {
			if p.Result != nil {
				n.took(rec, p.Result)
			}
		}
	}
}

// each calls do for the rows in the bytes of a record.
func (n *naiveReader) each(at transcript.Origin, do func(*row)) {
	i := 0
	for _, rec := range n.o.Records {
		if e, ok := rec.(*transcript.Event); ok {
			for _, p := range e.Parts {
				if offset := e.Origin.Offset + p.Offset; offset >= at.Offset && offset < at.End() {
					do(&n.rows[i])
				}
				i++
			}
		}
	}
}

// took adds how long a call took, to the rows of the call and of its result.
func (n *naiveReader) took(of *transcript.Event, result *transcript.Result) {
	var both []*row
	var times []transcript.Time
	i := 0
	for _, rec := range n.o.Records {
		e, ok := rec.(*transcript.Event)
		if !ok {
			continue
		}
		for _, p := range e.Parts {
			call := p.Call != nil && p.Call.ID == result.Call && e.Run == of.Run && e.Conversation == of.Conversation
			if call || p.Result == result {
				both, times = append(both, &n.rows[i]), append(times, e.Time)
			}
			i++
		}
	}
	took := result.Duration
	if !took.Known && len(both) == 2 && times[0].Valid && times[1].Valid && times[1].UnixMicro >= times[0].UnixMicro {
		took = transcript.Known(times[1].UnixMicro - times[0].UnixMicro)
	}
	if took.Known {
		for _, r := range both {
			r.durations = append(r.durations, took.N)
		}
	}
}

func spentOf(u *transcript.Usage) spent {
	sum := func(counts ...transcript.Count) *int64 {
		var n *int64
		for _, c := range counts {
			if c.Known {
				if n == nil {
					n = new(int64)
				}
				*n += c.N
			}
		}
		return n
	}
	in := []transcript.Count{u.Input, u.CacheRead, u.CacheWrite, u.CacheWrite1h}
	return spent{cost: sum(u.Cost), input: sum(in...), output: sum(u.Output), tokens: sum(append(slices.Clone(in), u.Output)...)}
}
