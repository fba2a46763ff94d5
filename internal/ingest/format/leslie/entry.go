package leslie

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/transcript"
)

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
	body   string // everything after the marker line
	origin transcript.Origin
}

// nextLine cuts the first line off text: without LF and a CR before it, and what follows.
func nextLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// readMarker says what a line marks that text follows, if it is a marker line at all. Whether it counts depends on the
// line before.
func readMarker(line, text string) (m marker, name string) {
	if line == "" || line[0] != '[' {
		switch line {
		case "user:":
			if next, _ := nextLine(text); next == "<user_query>" {
				return markUser, ""
			}
		case "assistant:":
			return markAssistant, ""
		}
		return markNone, ""
	}
	if line == "[Error]" {
		return markError, ""
	}
	m = markCall
	name, ok := strings.CutPrefix(line, "[Tool call] ")
	if !ok {
		m = markResult
		if name, ok = strings.CutPrefix(line, "[Tool result] "); !ok {
			return markNone, ""
		}
	}
	if name = strings.TrimSpace(strings.ToValidUTF8(name, "\uFFFD")); name == "" {
		name = "unknown"
	}
	return m, name
}

// cutEntry reads one entry from its own text.
func cutEntry(raw string) entry {
	line, rest := nextLine(raw)
	m, name := readMarker(line, rest)
	if m == markNone {
		rest = raw
	}
	return entry{marker: m, name: name, body: rest}
}

// content is what the entry says: decoded, with LF line ends, without empty lines at its end and, for a user's
// entry, without the tags around what the user wrote.
func (e entry) content() string {
	t := e.body
	if !utf8.ValidString(t) {
		t = strings.ToValidUTF8(t, "\uFFFD")
	}
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
func (e entry) text(content string) string {
	if e.marker == markCall || e.marker == markResult && strings.ContainsAny(e.name, " \t") {
		return strings.TrimSuffix(e.name+"\n"+content, "\n")
	}
	return content
}

// cut reports whether the writer kept only the start of a call, a result or an error.
func (e entry) cut(content string) bool {
	switch e.marker {
	case markCall, markResult, markError:
		return len(content) >= entryLimit && strings.HasSuffix(content, "...") && units(content) == entryLimit
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

// usualEntries is how many entries most transcripts have at most: they grow to 20 KiB, and an entry to 200 characters but for texts.
const usualEntries = 24

// splitEntries cuts the body of a transcript at its markers. base and line say where the body starts in the
// file. Text before the first marker, if there is any, is an entry without marker.
func splitEntries(body string, base int64, line int) []entry {
	entries := make([]entry, 0, usualEntries)
	open := entry{origin: transcript.Origin{Line: line, Offset: base}} // that has not ended yet
	from, text := 0, 0                                                 // where it begins, and what it says
	end := func(at int) {
		open.body, open.origin.Length = body[text:at], int64(at-from)
		if open.marker != markNone || len(strings.TrimSpace(open.body)) > 0 {
			entries = append(entries, open)
		}
	}
	free := true // the line before was empty, or there is none
	for at := 0; at < len(body); line++ {
		first, rest := nextLine(body[at:])
		next := len(body) - len(rest)
		if free {
			if m, name := readMarker(first, rest); m != markNone {
				if at > from {
					end(at)
				}
				from, text = at, next
				open = entry{marker: m, name: name, origin: transcript.Origin{Line: line, Offset: base + int64(at)}}
			}
		}
		free, at = len(first) == 0, next
	}
	if from < len(body) {
		end(len(body))
	}
	return entries
}
