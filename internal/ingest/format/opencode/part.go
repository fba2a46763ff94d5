package opencode

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// part is one part record of a message.
type part struct {
	value            jsontext.Value
	id, msg, session string
	typ              string
	at               transcript.Time
	ended            bool
	timed            bool
	synthetic        bool
	message          *message // its message, if at hand
}

func readPart(v jsontext.Value) part {
	t := part{value: v}
	for key, f := range v.Fields() {
		switch key {
		case "id":
			t.id = f.Text()
		case "messageID":
			t.msg = f.Text()
		case "sessionID":
			t.session = f.Text()
		case "type":
			t.typ = f.Str()
		case "synthetic":
			t.synthetic = f.Bool() == transcript.Yes
		case "time":
			t.at, t.timed = cmp.Or(f.Get("start").MilliTime(), f.Get("created").MilliTime()), f.Get("start").Exists()
			t.ended = f.Get("end").Exists()
		}
	}
	return t
}

// treePart reads a part of the tree. Missing ids are taken from its path.
func (p *parser) treePart() part {
	t := readPart(p.base)
	if t.id == "" {
		t.id = p.loc.id
	}
	if t.msg == "" {
		t.msg = p.loc.msg
	}
	if t.session == "" {
		t.session = p.loc.session
	}
	if !t.at.Valid {
		t.at = idTime(t.id, transcript.Time{})
	}
	return t
}

// idTime returns the time in an id: its first 12 hex digits are the low 48 bits of 4096 times the milliseconds, so the
// time wraps every 2.2 years. It is the one nearest to near, or, if that is unknown, the first after the program began to
// write such ids.
func idTime(id string, near transcript.Time) transcript.Time {
	const length, digits = 26, 12
	const cycle = 1 << 36           // milliseconds
	const first = 1_746_057_600_000 // May 2025, in milliseconds
	_, body, ok := strings.Cut(id, "_")
	if !ok || len(body) != length {
		return transcript.Time{}
	}
	n, err := strconv.ParseInt(body[:digits], 16, 64)
	if err != nil || n < 0 {
		return transcript.Time{}
	}
	earliest := int64(first)
	if near.Valid {
		earliest = near.UnixMicro/1000 - cycle/2
	}
	return timestamp.UnixMilli(earliest + (n>>12-earliest)&(cycle-1))
}

// role returns the role of a text part, and the alternative role. A file of the tree does not state it, its message does (see Resolve).
// Until the message is known, a part with a time is the assistant's and any other the user's.
func (t *part) role() (role, or string) {
	switch {
	case t.message != nil && t.message.role != "":
		return t.message.role, ""
	case t.timed || t.ended:
		return "assistant", "user"
	}
	return "user", "assistant"
}

// part yields the events of a part, and the request that it ends.
func (p *parser) part(t part) {
	e := p.event(transcript.KindUnknown, t.typ, t.session, t.msg)
	e.ID, e.Time = t.msg+"/"+t.id, t.at
	if t.message != nil && t.message.role == "assistant" {
		e.Agent, e.Model = t.message.agent, t.message.model
	}
	e.Parts = []transcript.Part{jsontext.PartIn(p.base, t.value, pieceText(t.value))}
	switch t.typ {
	case "text":
		e.Verdict, e.Kind = transcript.Counted, transcript.KindMessage
		e.Role, e.OrRole = t.role()
		if (t.synthetic || t.message != nil && t.message.synthetic) && e.Role == "user" {
			e.Kind, e.Role, e.OrRole = transcript.KindSystem, "system", ""
		}
		if e.Role == "user" {
			p.titleFrom(t.session, t.msg, t.value.Get("text").Str(), t.at)
		}
	case "reasoning":
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindReasoning, "assistant"
	case "compaction":
		e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindCompaction, "system"
	case "tool":
		p.tool(e, t)
		return
	case "step-finish":
		e.Kind = transcript.KindLifecycle
		p.stepUsage(t)
	case "step-start", "snapshot", "patch":
		e.Kind = transcript.KindLifecycle
	case "file", "agent", "subtask", "retry", "timeline":
		e.Kind = transcript.KindNotice
	}
	p.Emit(e)
}

// stepUsage yields the request that a step-finish ends.
func (p *parser) stepUsage(t part) {
	u := p.readUsage(t.value.Get("tokens"), t.value.Get("cost"), t.session, t.msg)
	if u == nil {
		return
	}
	p.hasSteps = true
	u.Key, u.Time = t.msg+"/"+t.id, t.at
	if t.message != nil {
		u.Model, u.Provider, u.Agent = t.message.model, t.message.provider, t.message.agent
	}
	p.Emit(u)
}

// tool yields a call and, once it has ended, its result.
func (p *parser) tool(e *transcript.Event, t part) {
	state := t.value.Get("state")
	name, id := t.value.Get("tool").Str(), t.value.Get("callID").Text()
	if id == "" {
		id = t.id
	}
	start, end := state.Get("time", "start").MilliTime(), state.Get("time", "end").MilliTime()
	if start.Valid {
		e.Time = start
	}
	input := state.Get("input")
	e.Verdict, e.Kind, e.Role = transcript.Counted, transcript.KindToolCall, "assistant"
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	p.Emit(e)
	if child := state.Get("metadata", "sessionId").Str(); name == "task" && child != "" && child != t.session {
		p.link("parent", runID(t.session, t.msg), child)
	}
	status := state.Get("status").Str()
	if status != "completed" && status != "error" && status != "success" {
		if p.in.Role == roleRows {
			p.retractResult(e, t)
		}
		return
	}
	r := p.event(transcript.KindToolResult, t.typ, t.session, t.msg)
	r.ID, r.Verdict, r.Role, r.Time, r.Agent, r.Model = e.ID+"/result", transcript.Counted, "tool", e.Time, e.Agent, e.Model
	if end.Valid {
		r.Time = end
	}
	result := &transcript.Result{Call: id, Name: name, Status: status, Failed: transcript.True(status == "error"),
		Cut: state.Get("metadata", "truncated").Bool() == transcript.Yes}
	if start.Valid && end.Valid {
		result.Duration = transcript.Known(end.UnixMicro - start.UnixMicro)
	}
	r.Parts = p.output(state, status)
	result.Output = r.Parts[0].Length
	r.Parts[0].Result = result
	p.Emit(r)
	p.linkOutput(t.session, t.msg, state.Get("metadata"))
}

// retractResult takes back the result of a call that a file of the tree may have stated: the part in the database outranks it.
func (p *parser) retractResult(call *transcript.Event, t part) {
	place := t.value.Get("callID")
	if !place.Exists() {
		place = t.value
	}
	e := p.event(transcript.KindNotice, "replaced", t.session, t.msg)
	e.ID, e.Time, e.Parts = call.ID+"/result", call.Time, []transcript.Part{p.valuePart(place)}
	p.Emit(e)
}

// output returns the output of a tool, and its metadata if they add anything.
func (p *parser) output(state jsontext.Value, status string) []transcript.Part {
	valuePart := func(v jsontext.Value) transcript.Part {
		return jsontext.PartIn(p.base, v, pieceText(v))
	}
	output := state.Get("output")
	if status == "error" || output.IsNull() {
		if failure := state.Get("error"); !failure.IsNull() {
			output = failure
		}
	}
	metadata := state.Get("metadata")
	if output.IsNull() {
		output, metadata = metadata, jsontext.Value{}
		if output.IsNull() {
			output = state.Get("status")
		}
	}
	parts := []transcript.Part{valuePart(output)}
	if metadata.IsObject() {
		if more := valuePart(metadata); !strings.Contains(parts[0].Text, more.Text) {
			parts = append(parts, more)
		}
	}
	return parts
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"filePath", "path", "file_path"}
