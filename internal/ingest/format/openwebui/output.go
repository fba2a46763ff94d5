package openwebui

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Since 2026 an answer is a list of items in the form of OpenAI's Responses API, with one of the producer's own for code that it ran.
const (
	itemCode   = "open_webui:code_interpreter"
	callSuffix = "_call"
	outSuffix  = "_call_output"
)

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path", "filename", "filepath"}

// item yields the events of one item of an answer.
func (m *message) item(v jsontext.Value) {
	typ := v.Get("type").Word()
	if !v.IsObject() {
		return
	}
	switch {
	case typ == "message":
		e := m.event(m.kind, m.role, typ, v)
		if strings.TrimSpace(e.Parts[0].Text) != "" {
			m.emit(e, m.textID(), m.verdict)
		}
	case typ == "reasoning":
		e := m.event(transcript.KindReasoning, m.role, typ, v)
		if strings.TrimSpace(e.Parts[0].Text) == "" { // only encrypted
			return
		}
		if n, ok := v.Get("duration").Int(); ok && n < 1<<32 {
			e.Attributes.Set("duration_ms", n*1000)
		}
		m.emit(e, m.thoughtID(), transcript.Counted)
	case strings.HasSuffix(typ, outSuffix):
		m.result(v, v, v.Get("output"), m.answered(v.Get("call_id").Text()), "")
	case typ == itemCode, strings.HasSuffix(typ, callSuffix):
		m.call(typ, v)
	default:
		if e := m.event(transcript.KindUnknown, m.role, typ, v); e.Parts[0].Text != "" {
			m.others++
			m.emit(e, m.id()+"/other"+strconv.Itoa(m.others), transcript.Uncounted)
		}
	}
}

// call yields a call, and the result that some items have beside it.
func (m *message) call(typ string, v jsontext.Value) {
	input := v.First("arguments", "code", "action", "input", "queries", "query")
	name := cmp.Or(v.Get("name").Str(), strings.TrimPrefix(strings.TrimSuffix(typ, callSuffix), "open_webui:"))
	id := m.callID(v.First("call_id", "id").Text())
	e := m.event(transcript.KindToolCall, m.role, typ, v)
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input.UnwrapContainer(), pathNames, nil)}
	m.emit(e, m.callEvent(id), transcript.Counted)
	if output := v.Get("output"); output.IsObject() || output.IsArray() || !output.IsBlank() {
		m.result(v, output, output, id, name)
	}
}

// result yields a result, whose bytes are those of own.
func (m *message) result(v, own, output jsontext.Value, call, name string) {
	e := m.event(transcript.KindToolResult, "tool", v.Get("type").Word(), own)
	r := &transcript.Result{Call: call, Name: name, Output: int64(output.Len()), Status: v.Get("status").Word()}
	if r.Status == "failed" { // every other one is called completed, also by versions that did not look
		r.Failed = transcript.Yes
	}
	e.Parts[0].Result = r
	m.emit(e, m.resultEvent(call), transcript.Counted)
}
