package chibi

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// entry is one line of a log.
type entry struct {
	id, kind, from, to, role, call string
	time                           transcript.Time
	content                        jsontext.Value
	anchor                         string // metadata.transcript_anchor_id
	flow                           bool
	text                           string
}

// readEntry decodes a line of a log. The text is every string of the line except ids, names and times, in line order; that
// of a tool call begins with the tool's name.
func readEntry(v jsontext.Value) entry {
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
			text = jsontext.AppendUnescaped(jsontext.AppendStrings(text, value), value)
		}
	}
	e.text = string(text)
	if e.kind == "tool_call" {
		e.text = joined(e.to, e.text)
	}
	return e
}

// joined joins a line and a text with a newline if both are non-empty.
func joined(line, text string) string {
	if line == "" || text == "" {
		return line + text
	}
	return line + "\n" + text
}

func appendMetadata(text []byte, v jsontext.Value) []byte {
	if !v.IsObject() {
		return jsontext.AppendStrings(text, v)
	}
	for key, value := range v.Fields() {
		if key != "transcript_anchor_id" {
			text = jsontext.AppendStrings(text, value)
		}
	}
	return text
}

// readTime reads Unix seconds, and times written as text, which no known version writes.
func readTime(v jsontext.Value) transcript.Time {
	if n, ok := v.Int(); ok {
		return timestamp.UnixSeconds(n)
	}
	if f, ok := v.Float(); ok && f > 0 && f < 9e9 {
		return timestamp.UnixNano(int64(f*1e6) * 1e3)
	}
	return v.Time()
}

// eventKind returns the kind of an entry type.
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

// isAnchor reports whether the window sent to the model starts anew at this entry.
func (e *entry) isAnchor() bool {
	return e.kind == "context_created" || e.kind == "compaction" || e.kind == "archival"
}

// speaker returns the role of an entry. Old messages have no role of their own; one that goes to the user comes from the
// assistant.
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

// context returns the name of the context that the entry itself states, "" if it cannot be told.
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

// identity assigns ids to entries without one. Such an entry is identified by a digest of its content, and equal ones of a
// file by their ordinal, so that an entry that moves to another file stays one event. It counts the entries of each digest.
type identity map[[12]byte]int

func (seen identity) id(e *entry) string {
	if e.id != "" {
		return e.id
	}
	sum := digest(e.kind, strconv.FormatInt(e.time.UnixMicro, 10), e.from, e.to, e.call, e.text)
	n := seen[sum]
	seen[sum] = n + 1
	id := "~" + hex.EncodeToString(sum[:])
	if n > 0 {
		id += "." + strconv.Itoa(n)
	}
	return id
}

// digest is short enough to keep for every entry of a log and long enough to never collide by chance.
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

// The beginning of what stands for a large result, and that of the result's address.
const (
	cacheStub   = "[Output cached: "
	cachePrefix = "vfs:///sys/tool_cache/"
)

// cacheAddress returns the address of a result that was moved to the cache, or just its id as older versions wrote it, "" if
// the content is the result itself. The stub names it near its start; further on it is only quoted.
func cacheAddress(content string) string {
	address, isStub := strings.CutPrefix(content, cacheStub)
	if !isStub {
		i := strings.Index(content, cachePrefix)
		if i < 0 || i > 128 {
			return ""
		}
		address = content[i:]
	}
	if end := strings.IndexAny(address, " \t\r\n)]\"'"); end >= 0 {
		address = address[:end]
	}
	return address
}
