package chibi

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// home is the name of Chibi's default home directory; below it a path alone is sufficient evidence.
const home = ".chibi"

// unnamedContext is the context's name if its own directory is the root of the source.
const unnamedContext = "context"

// place is the location of a file in a home.
type place struct {
	home       string // directory above contexts/, or above the context's directory
	context    string // name of the context
	role       string
	inContexts bool // the path goes through contexts/
}

// roleOf returns the role of a path below a context's directory, "" for files that are only stored.
func roleOf(rest string) string {
	if name, ok := strings.CutPrefix(rest, "transcript/"); ok {
		name = strings.TrimPrefix(name, "partitions/")
		if strings.HasSuffix(name, ".jsonl") && !strings.Contains(name, "/") {
			return roleTranscript
		}
		return ""
	}
	if name, ok := strings.CutPrefix(rest, "partitions/"); ok && strings.HasSuffix(name, ".jsonl") && !strings.Contains(name, "/") {
		return roleWindow
	}
	switch rest {
	case "context.jsonl", "active.jsonl":
		return roleWindow
	case "transcript.jsonl":
		return roleLog
	case "transcript_archive.jsonl":
		return roleArchive
	case "context.json":
		return roleOldest
	case "transcript.md":
		return roleReadable
	case "inbox.jsonl":
		return roleInbox
	case "response_meta.jsonl":
		return roleUsage
	case "requests.jsonl":
		return roleRequests
	case "summary.md":
		return roleSummary
	case "system_prompt.md":
		return rolePrompt
	}
	return ""
}

// locate finds the context that a path belongs to.
func locate(file string) (place, bool) {
	segments := strings.Split(file, "/")
	for i, s := range segments {
		if s != "contexts" || i+2 >= len(segments) {
			continue
		}
		if role := roleOf(strings.Join(segments[i+2:], "/")); role != "" {
			above := path.Clean(strings.Join(segments[:i], "/"))
			return place{home: above, context: segments[i+1], role: role, inContexts: true}, true
		}
	}
	return locateBare(file)
}

// locateBare locates a path without contexts/: a context's directory was moved, or is the source itself.
func locateBare(file string) (place, bool) {
	dir, rest := path.Dir(file), path.Base(file)
	switch {
	case rest == "active.jsonl" && path.Base(dir) != "transcript":
		return place{}, false // too many programs have one
	case path.Base(dir) == "transcript":
		dir, rest = path.Dir(dir), "transcript/"+rest
	case path.Base(dir) == "partitions" && path.Base(path.Dir(dir)) == "transcript":
		dir, rest = path.Dir(path.Dir(dir)), "transcript/partitions/"+rest
	}
	role := roleOf(rest)
	if role == "" {
		return place{}, false
	}
	if dir == "." {
		return place{home: ".", context: unnamedContext, role: role}, true
	}
	return place{home: path.Dir(dir), context: path.Base(dir), role: role}, true
}

// contextOf returns the name of the context that an original belongs to, "" if only its entries tell.
func contextOf(in format.Input) string {
	if in.Role == roleStray || in.Role == roleState {
		return ""
	}
	p, _ := locate(in.Path)
	return p.context
}

// Detect claims the files of a home by path and content.
func (chibi) Detect(h format.Head) format.Claim {
	if path.Base(h.Path) == "state.json" {
		return detectState(h)
	}
	if p, ok := locate(h.Path); ok {
		if s := p.strength(h); s != format.None {
			return format.Claim{Strength: s, Role: p.role, Root: p.home, Log: path.Ext(h.Path) == ".jsonl"}
		}
		return format.Claim{}
	}
	if strings.HasSuffix(h.Path, ".jsonl") && !inContextOrVFS(h.Path) && testLines(h, isEntry) == yes {
		return format.Claim{Strength: format.Likely, Role: roleStray, Log: true}
	}
	return format.Claim{}
}

// inContextOrVFS reports whether a path lies in a context or in vfs/, where a log of any other name was put by somebody
// else.
func inContextOrVFS(file string) bool {
	return strings.Contains("/"+file, "/contexts/") || strings.Contains("/"+file, "/vfs/")
}

// detectState distinguishes Chibi's state.json from the many others.
func detectState(h format.Head) format.Claim {
	dir := path.Dir(h.Path)
	if path.Base(dir) == home {
		return format.Claim{Strength: format.Certain, Role: roleState, Root: dir}
	}
	has := func(key string) bool { return bytes.Contains(h.Bytes, []byte(`"`+key+`"`)) }
	if isDocument(h) && has("contexts") && (has("last_activity_at") || has("current_context")) {
		return format.Claim{Strength: format.Likely, Role: roleState, Root: dir}
	}
	return format.Claim{}
}

// strength combines the evidence of a file's bytes and of its path.
func (p place) strength(h format.Head) format.Strength {
	inHome := path.Base(p.home) == home
	switch p.role {
	case roleSummary, rolePrompt:
		return p.pick(inHome, format.Certain, format.Weak)
	case roleReadable:
		_, rest := cutMarker(jsontext.TrimBOM(h.Bytes))
		return p.pick(inHome || len(rest) < len(jsontext.TrimBOM(h.Bytes)), format.Likely, format.Weak)
	case roleOldest:
		if isDocument(h) && bytes.Contains(h.Bytes, []byte(`"messages"`)) {
			return p.pick(true, format.Certain, format.None)
		}
		return p.pick(inHome, format.Likely, format.None)
	}
	switch testLines(h, p.test()) {
	case yes:
		if p.inContexts || p.role == roleTranscript {
			return format.Certain
		}
		return format.Likely
	case no:
		return p.pick(inHome || p.role == roleTranscript, format.Likely, format.None)
	}
	// No line could be read: an empty file, or broken lines only.
	if !p.inContexts && path.Base(h.Path) == "active.jsonl" && h.Size == 0 {
		return format.Weak
	}
	return p.pick(true, format.Likely, format.None)
}

// pick returns then or otherwise by cond, but None for paths outside contexts/, where a name alone means little.
func (p place) pick(cond bool, then, otherwise format.Strength) format.Strength {
	switch {
	case !p.inContexts:
		return format.None
	case cond:
		return then
	}
	return otherwise
}

// test returns the predicate for a line of the file.
func (p place) test() func(jsontext.Value) bool {
	switch p.role {
	case roleInbox:
		return isPending
	case roleUsage:
		return func(v jsontext.Value) bool { return isDebug(v, "response", p.inContexts) }
	case roleRequests:
		return func(v jsontext.Value) bool { return isDebug(v, "request", p.inContexts) }
	}
	if p.inContexts {
		return isOldEntry
	}
	return isEntry
}

// answer is the evidence of a file's first bytes.
type answer int

const (
	unclear answer = iota // no line could be read
	yes
	no
)

// testLines applies test to every whole line of the head, skipping blank and broken ones. A head that consists of one cut
// line is judged by its first keys.
func testLines(h format.Head, test func(jsontext.Value) bool) answer {
	rest, found := jsontext.TrimBOM(h.Bytes), unclear
	for len(rest) > 0 {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		rest = after
		if !whole && h.Size > int64(len(h.Bytes)) {
			if found == unclear && isCutEntry(line) {
				return yes
			}
			break
		}
		if !jsontext.BeginsObject(line) {
			continue
		}
		v, err := jsontext.Parse(line)
		if err != nil {
			continue
		}
		if test(v) {
			return yes
		}
		found = no
	}
	return found
}

// isCutEntry judges the start of a line that is longer than the head.
func isCutEntry(line []byte) bool {
	line = bytes.TrimSpace(line)
	if bytes.HasPrefix(line, []byte(`{"request":`)) || bytes.HasPrefix(line, []byte(`{"response":`)) {
		return true
	}
	start := line[:min(len(line), 512)]
	return bytes.HasPrefix(start, []byte(`{"id":"`)) && bytes.Contains(start, []byte(`"timestamp":`)) &&
		bytes.Contains(start, []byte(`"from":"`)) && bytes.Contains(start, []byte(`"to":"`))
}

func isDocument(h format.Head) bool {
	return bytes.HasPrefix(bytes.TrimSpace(jsontext.TrimBOM(h.Bytes)), []byte("{"))
}

// isEntry reports whether a line has all members that a log entry has.
func isEntry(v jsontext.Value) bool {
	return v.Get("id").IsString() && v.Get("timestamp").Type() == '0' && isOldEntry(v)
}

// isOldEntry reports whether a line has the members that entries of every version have; the path must supply the rest of
// the evidence.
func isOldEntry(v jsontext.Value) bool {
	return v.Get("entry_type").IsString() && v.Get("from").IsString() && v.Get("to").IsString()
}

func isPending(v jsontext.Value) bool {
	return !v.Get("entry_type").Exists() && v.Get("timestamp").Type() == '0' && v.Get("content").IsString() &&
		v.Get("from").IsString() && v.Get("to").IsString()
}

// isDebug reports whether a line has a timestamp, the given key and, unless the path is sure, nothing else.
func isDebug(v jsontext.Value, key string, strict bool) bool {
	n := 0
	for range v.Fields() {
		n++
	}
	return (n == 2 || strict) && v.Get("timestamp").Type() == '0' && v.Get(key).IsObject()
}
