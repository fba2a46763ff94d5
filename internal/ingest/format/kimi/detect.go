package kimi

import (
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// location is what a file's path states.
type location struct {
	session string // native id, "" if nothing shows that the directory is a session's
	agent   string // for a subagent's file
	bucket  string // the program's name for the directory that the session is about
	root    string
}

const wireFile = "wire.jsonl"

var (
	sessionID  = lazyregexp.New(`^(session_)?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$`)
	bucketName = lazyregexp.New(`^(wd_.+_[0-9a-f]{12}|([a-z0-9-]+_)?[0-9a-f]{32})$`)
)

// locate reads <bucket>/<session>/wire.jsonl, <bucket>/<session>/subagents/<agent>/wire.jsonl and
// <bucket>/<session>/agents/<agent>/wire.jsonl, the files beside them, and <bucket>/<session>.jsonl. The source may begin anywhere in these paths.
func locate(file, top string) location {
	var p location
	dir := path.Dir(file)
	if isFirst(file) {
		dir = strings.TrimSuffix(file, ".jsonl")
	}
	certain := false // below a directory that only sessions have
	switch path.Base(path.Dir(dir)) {
	case "agents", "subagents":
		if p.agent = path.Base(dir); p.agent == "main" {
			p.agent = ""
		}
		dir, certain = path.Dir(path.Dir(dir)), true
	}
	if d := sessionDir(dir); d != dir {
		dir, certain = d, true
	}
	session, parent := path.Base(dir), path.Dir(dir)
	if session == "." || session == "/" || session == ".." {
		p.root = dir
		return p
	}
	bucket := path.Base(parent)
	known := bucketName.MatchString(bucket)
	store := path.Base(path.Dir(parent))
	switch {
	case known && (store == "sessions" || path.Dir(parent) == top):
		p.root = path.Dir(parent)
	case known:
		p.root = parent
	case bucket == "sessions" || bucket == "imported_sessions":
		p.root, bucket = parent, ""
	case store == "sessions" && parent != top:
		p.root, known = path.Dir(parent), true
	default:
		p.root, bucket = dir, ""
	}
	if known {
		p.bucket = bucket
	}
	switch {
	case sessionID.MatchString(session):
		p.session = session
	case known: // a name given by the user, which may be used for another session elsewhere
		p.session = bucket + "/" + session
	case certain || p.root == parent || strings.HasPrefix(session, "session_"):
		p.session = session
	}
	return p
}

// sessionDir returns the directory of the session whose state.json is in dir: some versions kept it in a directory of its own.
func sessionDir(dir string) string {
	if path.Base(dir) == "session-meta" {
		return path.Dir(dir)
	}
	return dir
}

// isFirst reports whether a file has the place of a session of the very first versions, which had a context and no directory.
func isFirst(file string) bool {
	session, ok := strings.CutSuffix(path.Base(file), ".jsonl")
	return ok && sessionID.MatchString(session) && bucketName.MatchString(path.Base(path.Dir(file)))
}

// Detect claims files by their place, and wires elsewhere by their lines.
func (kimi) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	switch {
	case name == "context.jsonl":
		if p := locate(h.Path, h.Top()); p.session != "" && p.root != path.Dir(h.Path) && has(h.Bytes, `"role"`) {
			return format.Claim{Strength: format.Certain, Role: roleChat, Root: p.root, Log: true}
		}
	case isFirst(h.Path) && isContext(h):
		return format.Claim{Strength: format.Certain, Role: roleChat, Root: locate(h.Path, h.Top()).root, Log: true}
	case path.Ext(name) == ".jsonl":
		return wire(h, name)
	case name == "state.json" && (bucketName.MatchString(path.Base(path.Dir(sessionDir(path.Dir(h.Path))))) ||
		has(h.Bytes, `"isCustomTitle"`, `"agents"`) || has(h.Bytes, `"approval"`, `"title_generated"`)):
		return document(h, roleState)
	case name == "meta.json" && has(h.Bytes, `"agent_id"`, `"launch_spec"`):
		return document(h, roleMeta)
	}
	return format.Claim{}
}

// isContext reports whether the first object in the head is a message of a context.
func isContext(h format.Head) bool {
	for line := range format.ObjectLines(h.Bytes) {
		v := jsontext.ParseStart(line)
		return v.Get("role").IsString() && !v.Get("type").Exists() && !v.Get("message").Exists()
	}
	return false
}

func document(h format.Head, role string) format.Claim {
	p := locate(h.Path, h.Top())
	if p.session == "" || role == roleMeta && p.agent == "" {
		return format.Claim{}
	}
	return format.Claim{Strength: format.Certain, Role: role, Root: p.root}
}

func wire(h format.Head, name string) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleWire, Log: true}
	p := locate(h.Path, h.Top())
	inSession := name == wireFile && p.session != ""
	switch known, foreign := inspect(h); {
	case known && inSession:
		claim.Root = p.root
	case known:
		claim.Strength = format.Likely
	case inSession && !foreign && (p.bucket != "" || sessionID.MatchString(p.session)):
		claim.Strength, claim.Root = format.Likely, p.root
	default:
		return format.Claim{}
	}
	return claim
}

func has(b []byte, keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return !format.MayHave(b, k) })
}

// wireMarks are strings of which every line of a wire has at least one.
var wireMarks = []string{`"protocol_version"`, `"turn.`, `"context.append_`, `"usage.record"`, `"config.update"`, `"payload"`}

// inspect reads the lines in the head until one is a wire's. foreign says that there are whole objects and none is a wire's.
func inspect(h format.Head) (known, foreign bool) {
	for line := range format.ObjectLines(h.Bytes) {
		v, err := jsontext.ParsePrefix(line)
		if format.MayHave(line, wireMarks...) && isWireLine(v) {
			return true, false
		}
		foreign = foreign || err == nil
	}
	return false, foreign
}

// isWireLine reports whether an object is a line of a wire.
func isWireLine(v jsontext.Value) bool {
	switch v.Get("type").Str() {
	case "metadata":
		return v.Get("protocol_version").Exists()
	case "turn.prompt", "turn.steer":
		return v.Get("input").Exists() || v.Get("origin").Exists()
	case "context.append_message":
		return v.Get("message", "role").IsString()
	case "context.append_loop_event":
		return v.Get("event").IsObject()
	case "usage.record":
		return v.Get("usage", "inputOther").Exists()
	case "config.update":
		return v.Get("modelAlias").Exists() || v.Get("profileName").Exists() || v.Get("systemPrompt").Exists()
	case "":
		kind := v.Get("message", "type").Str()
		return v.Get("timestamp").Type() == '0' && v.Get("message", "payload").IsObject() && (uncountedMessage(kind) != "" || countedMessages[kind])
	}
	return false
}
