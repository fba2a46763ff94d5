package leslie

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Limits of the writer, in UTF-16 code units. It cuts longer text to them, with "..." at the end.
const (
	entryLimit = 200
	fileLimit  = 20480
)

// marker identifies the kind of an entry by the words of its first line.
type marker string

const (
	markNone      marker = "" // text before the first marker
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

// nextLine splits text after its first line. It returns the line without its LF or CRLF, and the rest.
func nextLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// readMarker parses a marker line that is followed by text. It returns markNone if the line is no marker. Whether a marker
// counts depends on the line before it.
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

// cutEntry parses the text of one entry.
func cutEntry(raw string) entry {
	line, rest := nextLine(raw)
	m, name := readMarker(line, rest)
	if m == markNone {
		rest = raw
	}
	return entry{marker: m, name: name, body: rest}
}

// content returns the body as valid UTF-8 with LF line ends, without trailing empty lines and, for a user's entry, without
// the tags around the user's text.
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

// text returns the searchable text: the content, after the tool's name for a call or a result.
func (e entry) text(content string) string {
	if e.name != "" {
		return strings.TrimSuffix(e.name+"\n"+content, "\n")
	}
	return content
}

// isCut reports whether the writer kept only the start of a call, a result or an error.
func (e entry) isCut(content string) bool {
	switch e.marker {
	case markCall, markResult, markError:
		return len(content) >= entryLimit && strings.HasSuffix(content, "...") && units(content) == entryLimit
	}
	return false
}

// units counts UTF-16 code units, in which the writer measures.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// typicalEntries is the capacity to start with: most transcripts have at most this many entries, since they grow to 20 KiB
// and entries other than messages to 200 units.
const typicalEntries = 24

// splitEntries splits the body of a transcript at its markers. base and line are the body's offset and first line in the
// file. Text before the first marker becomes an entry without a marker.
func splitEntries(body string, base int64, line int) []entry {
	entries := make([]entry, 0, typicalEntries)
	open := entry{origin: transcript.Origin{Line: line, Offset: base}} // the entry that has not ended yet
	start, bodyStart := 0, 0                                           // start of the entry, and of its body
	end := func(at int) {
		open.body, open.origin.Length = body[bodyStart:at], int64(at-start)
		if open.marker != markNone || len(strings.TrimSpace(open.body)) > 0 {
			entries = append(entries, open)
		}
	}
	afterBlank := true // the previous line was empty, or there is none
	for at := 0; at < len(body); line++ {
		first, rest := nextLine(body[at:])
		next := len(body) - len(rest)
		if afterBlank {
			if m, name := readMarker(first, rest); m != markNone {
				if at > start {
					end(at)
				}
				start, bodyStart = at, next
				open = entry{marker: m, name: name, origin: transcript.Origin{Line: line, Offset: base + int64(at)}}
			}
		}
		afterBlank, at = len(first) == 0, next
	}
	if start < len(body) {
		end(len(body))
	}
	return entries
}
