package pi

import (
	"hash/crc32"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// entry is one line of a session, its members looked up once.
type entry struct {
	value  format.Value
	origin transcript.Origin
	at     transcript.Time

	typ, id                        string
	kind                           string // of a line of version 4: header, entry, record, lane, fact
	message, parent, usage, custom format.Value

	key    string // what says which entry this is, wherever it is copied to; "" where only its place does
	event  string // key, and what tells its events from those of another entry of that key: only what says the same is a copy
	global bool   // key says it everywhere, not only in this session
	again  bool   // this file has it already
}

func (e *entry) read(o format.Object) {
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
				e.at = stamp(v)
			}
		case "timestamp":
			e.at = stamp(v)
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

// heads says that the line is a header.
func (e *entry) heads() bool { return e.typ == "session" || e.typ == "header" }

// stamp reads a time, as text or in milliseconds.
func stamp(v format.Value) transcript.Time {
	if n, ok := v.Int(); ok {
		return format.UnixMilli(n)
	}
	return v.Time()
}

// message is what a message says around its content.
type message struct {
	role, provider, model           string
	content, usage, stop, fault     format.Value
	call, tool, isError             format.Value
	command, output, exit, details  format.Value
	response, sent                  format.Value
	cancelled, truncated, elsewhere transcript.Truth
}

func readMessage(v format.Value) (m message) {
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
			m.fault = f
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
			m.sent = f
		default:
			m.shell(key, f)
		}
	}
	return m
}

// shell takes what a command that the user ran has.
func (m *message) shell(key string, f format.Value) {
	switch key {
	case "command":
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
		m.elsewhere = transcript.True(f.IsString())
	}
}

// own is the time in the message itself, in milliseconds: it stays what it is however often the message is written.
func (m *message) own() (int64, bool) {
	n, ok := m.sent.Int()
	return n, ok && n > 0
}

// identify says which entry this is: by its id and time or, in sessions that write entries again under new ones (Again) and
// where there are none, by the message's own time.
func (r *reader) identify(e *entry, m *message) {
	own, ok := m.own()
	switch {
	case ok && (r.s.Again || e.id == ""):
		e.key, e.global = spoken(own, m), true
		if at := format.UnixMilli(own); at.Valid {
			e.at = at // that of the line is when it was written again
		}
	case e.id != "" && e.at.Valid:
		var room [64]byte
		b := strconv.AppendInt(append(append(room[:0], e.id...), ' '), e.at.UnixMicro, 36)
		key := len(b)
		if !r.s.Again || m.role != "toolResult" { // which may be cut short when it is written again
			b = e.appendSaid(b)
		}
		e.event, e.global = string(b), true
		e.key = e.event[:key]
	case e.id != "":
		e.key = e.id
	case r.s.Shared:
		h := fnv.New64a()
		h.Write(e.value.Raw())
		line := h.Sum64()
		r.lines[line]++
		e.key = "#" + strconv.FormatUint(line, 36) + "." + strconv.Itoa(r.lines[line])
	}
	if e.event == "" {
		e.event = e.key
	}
	if e.key != "" {
		e.again = r.seen[e.event]
		r.seen[e.event] = true
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendSaid appends what stands for what an entry says. Ids are short, and what writes sessions by hand gives ids and times again.
func (e *entry) appendSaid(b []byte) []byte {
	sum := crc32.Update(0, castagnoli, e.message.Raw())
	if !e.message.Exists() {
		for key, f := range e.value.Fields() {
			if key != "parentId" && key != "seq" { // a fork leaves entries out
				sum = crc32.Update(sum, castagnoli, f.Raw())
			}
		}
	}
	return strconv.AppendUint(append(b, ' '), uint64(sum), 36)
}

// spoken is what is known of a message by itself. A result may be cut short when it is written again.
func spoken(own int64, m *message) string {
	var room [128]byte
	key := strconv.AppendInt(append(append(room[:0], m.role...), ' '), own, 36)
	key = append(key, ' ')
	if call := m.call.Str(); call != "" {
		return string(append(key, call...))
	}
	h := fnv.New64a()
	h.Write(m.content.Raw())
	h.Write(m.command.Raw())
	return string(strconv.AppendUint(key, h.Sum64(), 36))
}

func isSpace(s string) bool { return strings.TrimSpace(s) == "" }
