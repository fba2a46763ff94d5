package leslie

import (
	"bytes"
	"strings"
	"unicode/utf16"

	"github.com/txarchive/txarchive/internal/transcript"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Limits of the writer, in UTF-16 units. What was longer is cut to them and ends in three dots.
const (
	entryLimit = 200
	fileLimit  = 20480
)

// marker is the first line of an entry, as words.
type marker string

const (
	markNone      marker = "" // text that stands before the first marker
	markUser      marker = "user"
	markAssistant marker = "assistant"
	markCall      marker = "Tool call"
	markResult    marker = "Tool result"
	markError     marker = "Error"
)

// entry is one entry of a transcript.
type entry struct {
	marker marker
	name   string // of the tool
	body   []byte // everything after the marker line
	origin transcript.Origin
}

// nextLine cuts the first line off b: without LF and a CR before it, and what follows.
func nextLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// readMarker says what the first line of b marks, if it is a marker line at all. Whether it counts depends on
// the line before.
func readMarker(b []byte) (m marker, name string) {
	line, rest := nextLine(b)
	switch string(line) {
	case "user:":
		if next, _ := nextLine(rest); string(next) == "<user_query>" {
			return markUser, ""
		}
		return markNone, ""
	case "assistant:":
		return markAssistant, ""
	case "[Error]":
		return markError, ""
	}
	for _, m := range []marker{markCall, markResult} {
		if name, ok := strings.CutPrefix(string(line), "["+string(m)+"] "); ok {
			if name = strings.TrimSpace(strings.ToValidUTF8(name, "\uFFFD")); name == "" {
				name = "unknown"
			}
			return m, name
		}
	}
	return markNone, ""
}

// cutEntry reads one entry from its own bytes.
func cutEntry(raw []byte) entry {
	m, name := readMarker(raw)
	body := raw
	if m != markNone {
		_, body = nextLine(raw)
	}
	return entry{marker: m, name: name, body: body}
}

// content is what the entry says: decoded, with LF line ends, without empty lines at its end and, for a user's
// entry, without the tags around what the user wrote.
func (e entry) content() string {
	t := strings.ToValidUTF8(string(e.body), "\uFFFD")
	t = strings.TrimRight(strings.ReplaceAll(t, "\r\n", "\n"), "\r\n")
	if e.marker != markUser {
		return t
	}
	t = strings.TrimPrefix(strings.TrimPrefix(t, "<user_query>"), "\n")
	if t == "</user_query>" {
		return ""
	}
	return strings.TrimSuffix(t, "\n</user_query>")
}

// text is what search finds: the content, after a call's name. A result's name is its call's, but for text that
// imitates a marker: where it has a blank it is words that stand nowhere else.
func (e entry) text() string {
	t := e.content()
	if e.marker == markCall || e.marker == markResult && strings.ContainsAny(e.name, " \t") {
		return strings.TrimSuffix(e.name+"\n"+t, "\n")
	}
	return t
}

// cut reports whether the writer kept only the start of a call, a result or an error.
func (e entry) cut() bool {
	switch e.marker {
	case markCall, markResult, markError:
		t := e.content()
		return strings.HasSuffix(t, "...") && units(t) == entryLimit
	}
	return false
}

// units counts UTF-16 units, the measure of the writer.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// splitEntries cuts the body of a transcript at its markers. base and line say where the body starts in the
// file. Text before the first marker, if there is any, is an entry without marker.
func splitEntries(body []byte, base int64, line int) []entry {
	var entries []entry
	start, startLine := 0, line
	end := func(at int) {
		raw := body[start:at]
		e := cutEntry(raw)
		e.origin = transcript.Origin{Line: startLine, Offset: base + int64(start), Length: int64(len(raw))}
		if e.marker != markNone || len(bytes.TrimSpace(raw)) > 0 {
			entries = append(entries, e)
		}
	}
	free := true // the line before was empty, or there is none
	for at := 0; at < len(body); line++ {
		first, rest := nextLine(body[at:])
		if m, _ := readMarker(body[at:]); free && m != markNone {
			if at > start {
				end(at)
			}
			start, startLine = at, line
		}
		free = len(first) == 0
		at = len(body) - len(rest)
	}
	if start < len(body) {
		end(len(body))
	}
	return entries
}
