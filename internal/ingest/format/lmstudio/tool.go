package lmstudio

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The types of pieces of content that are calls.
const (
	request = "toolCallRequest"
	result  = "toolCallResult"
)

// call is what other steps of an answer state of a call.
type call struct {
	name, status    string
	asked, answered bool
}

// order counts the calls and results that have no ids: the first result is that of the first call.
type order struct{ calls, results int }

// idOf returns the id of the call that a piece of content, or the state of a call, is of. The program numbers the calls of an
// answer. Other ids are those of the model.
func (o *order) idOf(v jsontext.Value) string {
	inner := v.Get(request)
	id := cmp.Or(v.First("callId", "toolCallRequestId", "requestId", "toolCallId", "id").Text(), inner.Get("id").Text())
	if id != "" {
		return id
	}
	n := &o.calls
	if v.Get("type").Is(result) {
		n = &o.results
	}
	*n++
	return "#" + strconv.Itoa(*n)
}

// nested returns what a call asks for, which the SDK has in a member of its own.
func nested(v jsontext.Value) jsontext.Value {
	if inner := v.Get(request); inner.IsObject() {
		return inner
	}
	return v
}

// noteCalls notes which calls there are in a version, and what became of them.
func (m *version) noteCalls(v jsontext.Value) {
	var o order
	note := func(content jsontext.Value) {
		for piece := range content.Items() {
			switch piece.Get("type").Word() {
			case request:
				id := o.idOf(piece)
				c := m.calls[id]
				c.name, c.asked = nested(piece).Get("name").Word(), true
				m.calls[id] = c
			case result:
				id := o.idOf(piece)
				c := m.calls[id]
				c.answered = true
				m.calls[id] = c
			}
		}
	}
	note(v.Get("content"))
	for step := range v.Get("steps").Items() {
		note(step.Get("content"))
		if id := step.Get("callId").Text(); step.Get("type").Is("toolStatus") {
			c := m.calls[id]
			c.status = statusOf(step)
			m.calls[id] = c
		}
	}
}

// statusOf returns the state of a call.
func statusOf(v jsontext.Value) string { return v.Get("statusState", "status", "type").Word() }

// failed reports whether a call in a state has failed.
func failed(status string) transcript.Truth {
	switch status {
	case "toolCallSucceeded":
		return transcript.No
	case "toolCallFailed", "toolCallDenied", "toolCallGenerationFailed":
		return transcript.Yes
	}
	return transcript.Unstated
}

// callID returns the id of a call in the chat.
func (m *version) callID(id string) string { return fmt.Sprintf("%d.%d/%s", m.n, m.k, id) }

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"path", "file_path", "filePath", "filename", "source", "destination"}
	pathLists = []string{"paths"}
)

// call yields a call.
func (m *version) call(v jsontext.Value) {
	id, asks := m.order.idOf(v), nested(v)
	input := asks.First("parameters", "arguments")
	e := m.Event(transcript.KindToolCall, "assistant", request, v)
	e.Parts[0].Call = &transcript.Call{
		ID: m.callID(id), Name: asks.Get("name").Word(), Input: int64(input.Len()),
		Paths: format.Paths(input.UnwrapContainer(), pathNames, pathLists),
	}
	e.Attributes.Set("plugin", v.Get("pluginIdentifier").Str())
	if status := m.calls[id].status; failed(status) != transcript.No {
		e.Attributes.Set("status", status)
	}
	m.emit(e, transcript.Counted)
}

// result yields what a call returned.
func (m *version) result(v jsontext.Value) {
	id := m.order.idOf(v)
	of := m.calls[id]
	e := m.Event(transcript.KindToolResult, "tool", result, v)
	e.Parts[0].Result = &transcript.Result{
		Call: m.callID(id), Name: cmp.Or(v.Get("name").Word(), of.name), Status: of.status, Failed: failed(of.status),
		Output: int64(v.Get("content").Len()),
	}
	m.emit(e, transcript.Counted)
}

// toolStatus yields the state of a call: of one that has failed without a result it is the result. Its duration is not taken: the
// SDK writes one second for all.
func (m *version) toolStatus(v jsontext.Value) {
	id := v.Get("callId").Text()
	of := m.calls[id]
	if !of.asked || of.answered || failed(of.status) != transcript.Yes {
		m.beside(v, "toolStatus")
		return
	}
	of.answered = true // by the first of several
	m.calls[id] = of
	e := m.Event(transcript.KindToolResult, "tool", "toolStatus", v)
	e.Parts[0].Result = &transcript.Result{
		Call: m.callID(id), Name: of.name, Status: of.status, Failed: transcript.Yes, Output: int64(v.Get("statusState").Len()),
	}
	m.emit(e, transcript.Counted)
}
