package jan

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	threadsName  = "threads"
	messagesName = "messages.jsonl"
	threadName   = "thread.json"
	earlyData    = "jan"
	earlyPrefix  = "jan_" // of the ids of threads
)

// isData reports whether a directory is one in which the program keeps its data by default.
func isData(dir string) bool {
	return path.Base(dir) == "data" && strings.EqualFold(path.Base(path.Dir(dir)), "jan")
}

// isEarlyData reports whether a directory may be one in which earlier versions have kept their data. It may also be the home of
// somebody called Jan.
func isEarlyData(dir string) bool { return path.Base(dir) == earlyData }

// directoryOf returns the name of the directory of a file, which is that of its thread.
func directoryOf(file string) string { return path.Base(path.Dir(file)) }

// Detect claims threads by their place, and elsewhere by what they hold: the user may move the data.
func (f jan) Detect(h format.Head) format.Claim {
	if f.Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	claim := format.Claim{Strength: format.Certain, Role: roleMessages, Root: path.Dir(path.Dir(h.Path))}
	isOurs := isMessages
	switch path.Base(h.Path) {
	case messagesName:
	case threadName:
		claim.Role, isOurs = roleThread, isThread
	default:
		return format.Claim{}
	}
	switch {
	case path.Base(claim.Root) != threadsName:
		return format.Claim{}
	case isData(path.Dir(claim.Root)), isEarlyData(path.Dir(claim.Root)) && strings.HasPrefix(directoryOf(h.Path), earlyPrefix):
		return claim
	case !isOurs(jsontext.TrimBOM(h.Bytes)):
		return format.Claim{}
	}
	claim.Strength = format.Likely
	return claim
}

// isMessages reports whether a file has messages of this form. What comes after a long text may lie beyond the head.
func isMessages(head []byte) bool {
	return format.AnyLine(head, func(line []byte) bool {
		if !jsontext.BeginsObject(line) {
			return false
		}
		v := jsontext.ParseStart(line)
		for piece := range v.Get("content").Items() {
			return piece.Get("type").IsString() && (piece.Get("text", "value").IsString() || v.Get("object").Is("thread.message"))
		}
		return v.Get("object").Is("thread.message")
	})
}

// isThread reports whether a file is what is noted about a thread. OpenAI's threads have no assistants.
func isThread(head []byte) bool {
	if !jsontext.BeginsObject(head) {
		return false
	}
	v := jsontext.ParseStart(head)
	return v.Get("id").IsString() && v.Get("assistants").IsArray() && (v.Get("object").Is("thread") || v.Get("title").IsString())
}

// Withholds leaves out the program's settings of MCP servers and of providers, which may hold tokens and API keys.
func (jan) Withholds(h format.Head) bool {
	dir := path.Dir(h.Path)
	switch {
	case path.Ext(h.Path) != ".json":
		return false
	case path.Base(h.Path) == "mcp_config.json":
		return isData(dir)
	case path.Base(dir) == "engines":
		return isData(path.Dir(dir)) || isEarlyData(path.Dir(dir))
	}
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if path.Base(dir) == "@janhq" && path.Base(path.Dir(dir)) == "settings" {
			return true
		}
	}
	return false
}
