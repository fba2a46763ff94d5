package pi

import (
	"hash/crc32"
	"hash/fnv"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// entry is one line of a session with its members, looked up once.
type entry struct {
	value  jsontext.Value
	origin transcript.Origin
	at     transcript.Time

	typ, id                        string
	kind                           string // in version 4: header, entry, record, lane, fact
	message, parent, usage, custom jsontext.Value

	key       string // identity of the entry, the same in copies; "" if only its place identifies it
	eventKey  string // key plus a hash of the content, since two entries may share a key: only equal content is a copy
	global    bool   // key is unique across sessions
	duplicate bool   // this file already has the entry
}

func (e *entry) read(o jsontext.Object) {
	*e = entry{value: o.Value, origin: o.Origin}
	for key, v := range o.Value.Fields() {
		switch key {
		case "type":
			e.typ = v.Word()
		case "id":
			e.id = v.Str()
		case "kind":
			e.kind = v.Word()
		case "createdAt": // of a header
			if !e.at.Valid {
				e.at = v.TimeOrMilli()
			}
		case "timestamp":
			e.at = v.TimeOrMilli()
		case "message":
			e.message = v
		case "parentId":
			e.parent = v
		case "usage":
			e.usage = v
		case "customType":
			e.custom = v
		}
	}
	if e.typ == "" {
		e.typ = e.kind
	}
}

// isHeader reports whether the line is a session header.
func (e *entry) isHeader() bool { return e.typ == "session" || e.typ == "header" }

// message holds the members of a message.
type message struct {
	role, provider, model              string
	content, usage, stop, errorMessage jsontext.Value
	call, tool, isError                jsontext.Value
	command, output, exit, details     jsontext.Value
	response, timestamp                jsontext.Value
	cancelled, truncated, outputSaved  transcript.Truth
}

func readMessage(v jsontext.Value) (m message) {
	for key, f := range v.Fields() {
		switch key {
		case "role":
			m.role = f.Word()
		case "content":
			m.content = f
		case "provider":
			m.provider = f.Word()
		case "model":
			m.model = f.Word()
		case "usage":
			m.usage = f
		case "stopReason":
			m.stop = f
		case "errorMessage":
			m.errorMessage = f
		case "toolCallId":
			m.call = f
		case "toolName":
			m.tool = f
		case "isError":
			m.isError = f
		case "details":
			m.details = f
		case "responseId":
			m.response = f
		case "timestamp":
			m.timestamp = f
		default:
			m.shell(key, f)
		}
	}
	return m
}

// shell reads the members of a command that the user ran.
func (m *message) shell(key string, f jsontext.Value) {
	switch key {
	case "command", "code":
		m.command = f
	case "output":
		m.output = f
	case "exitCode":
		m.exit = f
	case "cancelled":
		m.cancelled = f.Bool()
	case "truncated":
		m.truncated = f.Bool()
	case "fullOutputPath":
		m.outputSaved = transcript.True(f.IsString())
	}
}

// ownTime returns the time in the message itself, in milliseconds, which stays the same when the message is written again.
func (m *message) ownTime() (int64, bool) {
	n, ok := m.timestamp.Int()
	return n, ok && n > 0
}

// identify sets an entry's key: its id and time, or the message's own time if there is no id or the program writes entries again under new
// ids (Rewritten). An id without any time is only unique in its session.
func (r *reader) identify(e *entry, m *message) {
	sent, ok := m.ownTime()
	switch {
	case ok && (r.s.Rewritten || e.id == ""):
		e.key, e.global = messageKey(sent, m), true
		if at := timestamp.UnixMilli(sent); at.Valid {
			e.at = at // the line's own time may be that of the rewrite
		}
	case e.id != "":
		var buf [64]byte
		b := append(append(buf[:0], e.id...), ' ')
		if e.at.Valid {
			b = strconv.AppendInt(b, e.at.UnixMicro, 36)
		} else {
			b = append(b, r.run...)
		}
		key := len(b)
		if !r.s.Rewritten || m.role != "toolResult" { // a result may be truncated when it is written again
			b = e.appendHash(b, r.folded)
		}
		e.eventKey, e.global = string(b), true
		e.key = e.eventKey[:key]
	case r.s.Shared:
		h := fnv.New64a()
		h.Write(e.value.Raw())
		line := h.Sum64()
		r.lines[line]++
		e.key = "#" + strconv.FormatUint(line, 36) + "." + strconv.Itoa(r.lines[line])
	}
	if e.eventKey == "" {
		e.eventKey = e.key
	}
	if e.key != "" {
		e.duplicate = r.seen[e.eventKey]
		r.seen[e.eventKey] = true
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendHash appends a hash of an entry's content. Ids are short, and sessions written by hand repeat ids and times.
// If it is folded, the usage of a message is none of it.
func (e *entry) appendHash(b []byte, folded bool) []byte {
	sum := uint32(0)
	switch {
	case folded:
		for key, f := range e.message.Fields() {
			if key != "usage" {
				sum = crc32.Update(sum, castagnoli, f.Raw())
			}
		}
	default:
		sum = crc32.Update(sum, castagnoli, e.message.Raw())
	}
	if !e.message.Exists() {
		for key, f := range e.value.Fields() {
			if key != "parentId" && key != "seq" { // these change when a fork leaves entries out
				sum = crc32.Update(sum, castagnoli, f.Raw())
			}
		}
	}
	return strconv.AppendUint(append(b, ' '), uint64(sum), 36)
}

// messageKey identifies a message by its own content. For a result it uses the call id, since a result may be truncated when it is written again.
func messageKey(own int64, m *message) string {
	var buf [128]byte
	key := strconv.AppendInt(append(append(buf[:0], m.role...), ' '), own, 36)
	key = append(key, ' ')
	if call := m.call.Str(); call != "" {
		return string(append(key, call...))
	}
	h := fnv.New64a()
	h.Write(m.content.Raw())
	h.Write(m.command.Raw())
	return string(strconv.AppendUint(key, h.Sum64(), 36))
}
