package chibi

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// entry is one line of a log.
type entry struct {
	id, kind, from, to, role, call string
	time                           transcript.Time
	content                        format.Value
	anchor                         string // metadata.transcript_anchor_id
	flow                           bool
	text                           string
}

// readEntry decodes a line of a log. The text is every string of the line but ids, names and times, in the
// line's order; a tool call's begins with the tool's name.
func readEntry(v format.Value) entry {
	var e entry
	var text []byte
	for key, value := range v.Fields() {
		switch key {
		case "id":
			e.id = value.Text()
		case "timestamp":
			e.time = readTime(value)
		case "from":
			e.from = value.Text()
		case "to":
			e.to = value.Text()
		case "entry_type":
			e.kind = value.Text()
		case "role":
			e.role = value.Text()
		case "tool_call_id":
			e.call = value.Text()
		case "flow_control":
			e.flow = value.Bool() == transcript.Yes
		case "metadata":
			e.anchor = value.Get("transcript_anchor_id").Str()
			text = appendMetadata(text, value)
		default:
			if key == "content" {
				e.content = value
			}
			text = format.AppendStrings(text, value)
		}
	}
	e.text = string(text)
	if e.kind == "tool_call" {
		e.text = joined(e.to, e.text)
	}
	return e
}

// joined puts a line before a text, if both are there.
func joined(line, text string) string {
	if line == "" || text == "" {
		return line + text
	}
	return line + "\n" + text
}

func appendMetadata(text []byte, v format.Value) []byte {
	if !v.IsObject() {
		return format.AppendStrings(text, v)
	}
	for key, value := range v.Fields() {
		if key != "transcript_anchor_id" {
			text = format.AppendStrings(text, value)
		}
	}
	return text
}

// readTime reads Unix seconds, and times as text, which no known version writes.
func readTime(v format.Value) transcript.Time {
	if n, ok := v.Int(); ok {
		return format.UnixSeconds(n)
	}
	if f, ok := v.Float(); ok && f > 0 && f < 9e9 {
		return format.UnixNano(int64(f*1e6) * 1e3)
	}
	return v.Time()
}

// eventKind gives the kind of an entry type.
func (e *entry) eventKind() transcript.Kind {
	switch e.kind {
	case "message":
		return transcript.KindMessage
	case "tool_call":
		return transcript.KindToolCall
	case "tool_result":
		return transcript.KindToolResult
	case "compaction":
		return transcript.KindCompaction
	case "context_created", "archival", "control_transfer", "flow_control_call", "flow_control_result":
		return transcript.KindLifecycle
	case "system_prompt_changed", "system_prompt":
		return transcript.KindSystem
	}
	return transcript.KindUnknown
}

// isAnchor says that the window sent to the model starts anew here.
func (e *entry) isAnchor() bool {
	return e.kind == "context_created" || e.kind == "compaction" || e.kind == "archival"
}

// speaker gives the role of an entry. Old messages have none of their own: what goes to the user was said by
// the assistant.
func (e *entry) speaker() string {
	switch e.kind {
	case "message":
		switch {
		case e.role == "agent":
			return "assistant"
		case e.role != "":
			return e.role
		case e.to == "user":
			return "assistant"
		}
		return "user"
	case "tool_call":
		return "assistant"
	case "tool_result":
		return "tool"
	case "context_created", "compaction", "archival", "system_prompt_changed", "system_prompt":
		return "system"
	}
	return e.role
}

// context gives the name of the context that the entry itself states, "" where it cannot be told.
func (e *entry) context() string {
	switch e.kind {
	case "message":
		if e.speaker() == "assistant" {
			return e.from
		}
		return e.to
	case "tool_call", "flow_control_call":
		return e.from
	case "tool_result", "flow_control_result", "context_created", "compaction", "archival", "system_prompt_changed", "system_prompt":
		return e.to
	}
	return ""
}

// identity gives the entry's id. Entries without one are known by what they say, and equal ones of a file by
// their number, so that an entry that moves to another file stays one event.
type identity map[[12]byte]int

func (known identity) of(e *entry) string {
	if e.id != "" {
		return e.id
	}
	sum := digest(e.kind, strconv.FormatInt(e.time.UnixMicro, 10), e.from, e.to, e.call, e.text)
	n := known[sum]
	known[sum] = n + 1
	made := "~" + hex.EncodeToString(sum[:])
	if n > 0 {
		made += "." + strconv.Itoa(n)
	}
	return made
}

// digest is short enough to keep for every entry of a log and long enough never to collide by chance.
func digest(fields ...string) (sum [12]byte) {
	h := sha256.New()
	for _, f := range fields {
		h.Write([]byte(strconv.Itoa(len(f))))
		h.Write([]byte{':'})
		h.Write([]byte(f))
	}
	copy(sum[:], h.Sum(nil))
	return sum
}

// cache is what the stub of a large result points at.
const cache = "vfs:///sys/tool_cache/"

// cached gives the address of a result that was put aside, "" when the content is the result itself. The
// stub names it at its start; further on it is only quoted.
func cached(content string) string {
	i := strings.Index(content, cache)
	if i < 0 || i > 128 {
		return ""
	}
	address := content[i:]
	if end := strings.IndexAny(address, " \t\r\n)]\"'"); end >= 0 {
		address = address[:end]
	}
	return address
}
