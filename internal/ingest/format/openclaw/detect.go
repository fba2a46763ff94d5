package openclaw

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/pi"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// Detect claims files in an agent's sessions directory, and elsewhere sessions by name and content. Only these
// directories are a root: keys lie beside them.
func (openclaw) Detect(h format.Head) format.Claim {
	base, dir := path.Base(h.Path), path.Dir(h.Path)
	if (openclaw{}).Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	switch {
	case base == storeName && format.IsSQLite(h.Bytes):
		return format.Claim{Strength: format.Certain, Role: roleStore, Database: true, Secret: true}
	case path.Base(dir) == storeName && path.Ext(base) == ".ndjson" && format.FirstTable(h.Bytes) == roleRows:
		return format.Claim{Strength: format.Certain, Role: roleRows, Log: true}
	case path.Base(dir) == storeName && base == "chats.ndjson" && format.FirstTable(h.Bytes) == roleStoredChats:
		return format.Claim{Strength: format.Certain, Role: roleStoredChats}
	}
	root, own := rootOf(dir, h.Top())
	if base == "sessions.json" && (root != "" || dir == h.Top()) && isChats(h.Bytes) {
		return format.Claim{Strength: format.Likely, Role: roleChats, Root: root}
	}
	if path.Base(dir) == coldDir && coldName.MatchString(base) && isZstd(h.Bytes) {
		root, own := rootOf(path.Dir(dir), h.Top())
		claim := format.Claim{Strength: format.Likely, Role: roleCold}
		if own {
			claim.Strength, claim.Root = format.Certain, root
		}
		return claim
	}
	n := nameOf(h.Path)
	if !n.ok {
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Certain, Role: roleSession, Log: !n.compressed, Root: root}
	known, foreign := pi.Inspect(h.Bytes)
	if n.compressed {
		claim.Role = roleCompressed
		known, foreign = isZstd(h.Bytes) && (n.reason == "reset" || n.reason == "deleted"), true
	}
	named := n.reason != "" || uuid.MatchString(n.session) && !strings.HasSuffix(base, "Z_"+n.session+".jsonl")
	below := root != "" && path.Dir(root) != h.Top() // the source may begin at the agents
	switch {
	case own && (known || !foreign), below && (known || named && !foreign), root != "" && known && (named || mentionsOpenClaw(h.Bytes)):
	case known && (named || mentionsOpenClaw(h.Bytes)):
		claim.Strength, claim.Root = format.Likely, ""
	default:
		return format.Claim{}
	}
	return claim
}

func isZstd(head []byte) bool { return bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")) }

// Withholds leaves out files that hold keys, lock files, and other databases: only the sessions in openclaw-agent.sqlite are taken.
func (openclaw) Withholds(h format.Head) bool {
	switch base := path.Base(h.Path); {
	case strings.HasSuffix(base, ".jsonl.lock"), base == "auth-profiles.json", base == "openclaw.json", base == "clawdbot.json", base == "moltbot.json":
		return true
	default:
		return strings.HasPrefix(base, "openclaw") && strings.Contains(base, ".sqlite") &&
			!(base == storeName && format.IsSQLite(h.Bytes))
	}
}

// uuid matches OpenClaw's session ids, which are random; Pi's begin with a time.
var uuid = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// rootOf returns the directory that may hold an agent's sessions and nothing else. own says that the path shows that it is OpenClaw's.
func rootOf(dir, top string) (root string, own bool) {
	if !isHouse(path.Base(dir)) {
		return "", false
	}
	agentDir := path.Dir(dir)
	switch path.Base(agentDir) {
	case ".openclaw", ".clawdbot", ".moltbot":
		return dir, true
	}
	agents := path.Dir(agentDir)
	own = path.Base(agents) == "agents"
	isPi := path.Base(agentDir) == "agent" // of Pi and its forks
	if !own && (agents != top || isPi) && agentDir != top {
		return "", false
	}
	return dir, own
}

// mentionsOpenClaw reports whether the head names OpenClaw: in the session's working directory, or in entries that it adds.
func mentionsOpenClaw(head []byte) bool {
	return format.AnyLine(head, func(line []byte) bool {
		for _, mark := range []string{`"customType":"openclaw`, `"customType":"model-snapshot"`, `"provider":"openclaw`, `/.openclaw/`, `/.clawdbot/`, `/.moltbot/`} {
			if bytes.Contains(line, []byte(mark)) {
				return true
			}
		}
		return false
	})
}

// isChats reports whether a document lists sessions.
func isChats(head []byte) bool {
	start := bytes.TrimSpace(jsontext.TrimBOM(head))
	return bytes.HasPrefix(start, []byte("{")) && bytes.Contains(head, []byte(`"sessionId"`)) && bytes.Contains(head, []byte(`"updatedAt"`))
}
