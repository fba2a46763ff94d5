package codex

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

var (
	// rolloutName matches the name of a thread's file.
	rolloutName = lazyregexp.New(`^rollout-.*\.jsonl(\.zst)?$`)
	// documentName matches the name that the program's first version gave it.
	documentName = lazyregexp.New(`^rollout-.*\.json$`)
	// dateDir matches the end of the directory that the program puts it in.
	dateDir = lazyregexp.New(`(^|/)[0-9]{4}/[0-9]{2}/[0-9]{2}$`)
	// stateName matches the program's own index of its threads.
	stateName = lazyregexp.New(`^state(_[0-9]+)?\.sqlite$`)
	threadID  = lazyregexp.New(uuid + `$`)
	// continuationName matches the name of a further file of a thread: the ids of thread and file.
	continuationName = lazyregexp.New(`(` + uuid + `)_(` + uuid + `)\.jsonl`)
)

const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

// Detect claims rollouts by their place, and elsewhere by name and content or content alone. The home directory is not a
// root: configuration and logs beside the sessions may hold secrets and are left alone.
func (codex) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	if rolloutName.MatchString(name) {
		if claim := detectRollout(h, name); claim.Strength != format.None {
			return claim
		}
	}
	if claim := detectMemory(h); claim.Strength != format.None {
		return claim
	}
	switch {
	case name == "history.jsonl" && hasObject(h.Bytes, "session_id", "ts", "text"):
		return format.Claim{Strength: format.Likely, Role: roleHistory, Log: true}
	case name == "session_index.jsonl" && hasObject(h.Bytes, "id", "thread_name"):
		return format.Claim{Strength: format.Likely, Role: roleNames, Log: true}
	case documentName.MatchString(name) && isDocument(h.Bytes):
		claim := format.Claim{Strength: format.Likely, Role: roleWhole}
		if root, own := rootOf(h.Path); own {
			claim.Strength, claim.Root = format.Certain, root
		}
		return claim
	case stateName.MatchString(name) && format.IsSQLite(h.Bytes):
		return format.Claim{Strength: format.Weak, Role: format.Other}
	case strings.HasSuffix(name, ".jsonl") && isRollout(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleRollout, Log: true}
	case streamThread(h.Bytes) != "":
		return format.Claim{Strength: format.Likely, Role: roleStream, Log: true}
	}
	return format.Claim{}
}

func detectRollout(h format.Head, name string) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleRollout, Log: true}
	if strings.HasSuffix(name, ".zst") {
		claim.Role, claim.Log = rolePacked, false
	}
	looksRight := isRollout(h.Bytes) || threadID.MatchString(threadOf(name))
	if claim.Role == rolePacked {
		looksRight = looksRight || bytes.HasPrefix(h.Bytes, []byte("\x28\xb5\x2f\xfd"))
	}
	root, own := rootOf(h.Path)
	claim.Root = root
	switch {
	case own, looksRight && root != "":
		return claim
	case looksRight:
		claim.Strength = format.Likely
		return claim
	}
	return format.Claim{}
}

// rootOf returns the directory that contains only sessions, "" if the path does not show one. own reports whether it has
// the program's name for it; a source may begin inside it.
func rootOf(file string) (root string, own bool) {
	dir := path.Dir(file)
	cut := dateDir.FindStringIndex(dir)
	if cut != nil {
		dir = path.Clean(dir[:cut[0]])
	}
	switch path.Base(dir) {
	case "sessions", "archived_sessions":
		return dir, true
	}
	if cut != nil {
		return dir, false
	}
	return "", false
}

// isRollout reports whether a line in the head is the head of a rollout: a session_meta, or the bare header of 2025. The
// line may be longer than the head.
func isRollout(head []byte) bool {
	return format.AnyLine(head, func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("{")) && (format.HasKeys(line, "type", "payload", "session_meta") ||
			format.HasKeys(line, "id", "timestamp", "instructions") && !format.HasKeys(line, "type"))
	})
}

// isDocument reports whether a file begins as a rollout of the program's first version does. Its instructions may be longer than the head.
func isDocument(head []byte) bool {
	session := jsontext.ParseStart(jsontext.TrimBOM(head)).Get("session")
	return session.Get("id").IsString() && session.Get("timestamp").IsString()
}

func hasObject(head []byte, keys ...string) bool {
	return format.AnyLine(head, func(line []byte) bool { return bytes.HasPrefix(line, []byte("{")) && format.HasKeys(line, keys...) })
}

// threadOf returns the thread in a file's name: the UUID at its end, the first if there are two, else the whole name.
func threadOf(file string) string {
	if m := continuationName.FindStringSubmatch(path.Base(file)); m != nil {
		return m[1]
	}
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".zst"), ".jsonl")
	if documentName.MatchString(name) {
		name = strings.TrimSuffix(name, ".json")
	}
	if id := threadID.FindString(name); id != "" {
		return id
	}
	return strings.TrimPrefix(name, "rollout-")
}
