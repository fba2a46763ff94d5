package claudecode

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Detect recognises transcripts and the output of headless runs by their lines wherever they lie, and transcripts by their
// path where the content is empty or broken: a crash may leave a run of NUL bytes between good lines.
func (f claudeCode) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	p, home := placeOf(h.Path), detectHome(h)
	if editor := detectEditor(h); editor.Strength != format.None {
		return editor
	}
	switch brief := detectBrief(h); {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case brief.Strength != format.None:
		return brief
	case p.isOutput:
		c := format.Claim{Strength: format.Certain, Role: format.Other}
		if format.IsUUID(p.session) && h.Size > 0 && h.Size <= format.MaxText && format.IsText(h.Bytes) {
			c.Role, c.Root = roleOutput, p.root(h.Top())
		}
		return c
	case strings.HasSuffix(name, ".tmp"):
		return format.Claim{}
	case isHistory(h):
		return format.Claim{Strength: format.Likely, Role: roleHistory, Log: true}
	case home.Strength != format.None:
		return home
	case isPaste(h):
		return format.Claim{Strength: format.Likely, Role: rolePaste}
	case strings.HasSuffix(name, ".meta.json"):
		if p.agent == "" || p.session == "" {
			return format.Claim{}
		}
		return format.Claim{Strength: p.strength(format.Likely), Role: roleMeta, Root: p.root(h.Top())}
	case name == titleFile && p.session != "":
		return format.Claim{Strength: p.strength(format.Weak), Role: roleTitle, Root: p.root(h.Top())}
	case isList(h):
		return format.Claim{Strength: p.strength(format.Likely), Role: roleList, Root: p.root(h.Top())}
	case isDesktop(h):
		return format.Claim{Strength: format.Likely, Role: roleDesktop}
	case path.Ext(name) == ".json":
		return detectStream(h)
	case name == "journal.jsonl" && p.session != "":
		return format.Claim{Strength: p.strength(format.Weak), Role: roleJournal, Root: p.root(h.Top()), Log: true}
	}
	return detectTranscript(h, p)
}

// detectTranscript recognises a transcript, or what a headless run printed, by its lines, or else by its place.
func detectTranscript(h format.Head, p place) format.Claim {
	claim := format.Claim{Role: roleSession, Root: p.root(h.Top()), Log: true}
	if p.agent != "" {
		claim.Role = roleAgent
	}
	inProject := path.Ext(h.Path) == ".jsonl" && p.slug != ""
	native := p.agent != "" || format.IsUUID(p.stem)
	lines := inspectHead(h, inProject)
	if !lines.known {
		if printed := detectStream(h); printed.Strength != format.None {
			return printed
		}
	}
	switch {
	case lines.known:
		claim.Strength = p.strength(format.Likely)
	case inProject && (lines.turn || native && !lines.foreign):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// strength returns Certain in a project's directory, and the strength of the content elsewhere.
func (p place) strength(content format.Strength) format.Strength {
	if p.slug != "" {
		return format.Certain
	}
	return content
}

// lines is what the lines of a head are.
type lines struct {
	known   bool // one identifies a transcript
	turn    bool // one is a message without ids
	foreign bool // there are whole objects, and some of them cannot be Claude Code's
}

// inspectHead looks for a line in the head that identifies a transcript. It parses as much as there is of a line that the
// end of the head or a crash has cut. Unless all is set, it does not parse lines without any of the keys that identify one.
func inspectHead(h format.Head, all bool) (found lines) {
	for line := range format.ObjectLines(h.Bytes) {
		if !all && !format.MayHave(line, "sessionId", "parentUuid", "leafUuid", "snapshot") {
			continue
		}
		v, err := jsontext.ParsePrefix(line)
		if v.Len() == len("{}") {
			continue
		}
		switch matchLine(v) {
		case fullMatch:
			return lines{known: true}
		case maybeMatch:
			found.turn = found.turn || isTurn(v)
		case noMatch:
			found.foreign = found.foreign || err == nil
		}
	}
	return found
}

// isTurn reports whether the type of a line is the role of its message.
func isTurn(v jsontext.Value) bool {
	role := v.Get("type").Word()
	return (role == "user" || role == "assistant") && v.Get("message", "role").Is(role) && v.Get("message", "content").Exists()
}

// match is how well an object matches a line of a transcript.
type match int

const (
	noMatch    match = iota
	maybeMatch       // an unknown type, or too few members
	fullMatch
)

// shape holds the members of an object that matter for the match.
type shape struct {
	kind string
	has  map[string]bool

	message bool // has a message with content
	usage   bool // has a message with token counts
	foreign bool // has members that Claude Code never writes
}

func shapeOf(v jsontext.Value) shape {
	s := shape{has: map[string]bool{}}
	for key, value := range v.Fields() {
		switch key {
		case "type":
			s.kind = value.Str()
		case "sessionId", "uuid":
			s.has[key] = value.IsString()
		case "message":
			s.message = value.IsString() || value.Get("content").Exists() || value.Get("usage").Exists()
			s.usage = value.Get("usage", "input_tokens").Exists()
			s.foreign = s.foreign || value.Get("parts").Exists()
		case "phase", "systemPayload", "usageMetadata", "contextWindowSize", "payload": // Flow Studio, Qwen Code, Codex
			s.foreign = true
		default:
			s.has[key] = true
		}
	}
	return s
}

// requiredMembers are the members that lines of a type have besides their session's id.
var requiredMembers = map[string][]string{
	"queue-operation": {"operation"}, "progress": {"data"}, "system": {"subtype", "uuid"}, "custom-title": {"customTitle"},
	"ai-title": {"aiTitle"}, "agent-name": {"agentName"}, "last-prompt": {"lastPrompt"}, "mode": {"mode"},
	"permission-mode": {"permissionMode"}, "pr-link": {"prUrl"}, "attachment": {"attachment"},
}

func matchLine(v jsontext.Value) match {
	s := shapeOf(v)
	has := s.has
	switch {
	case s.foreign:
		return noMatch
	case has["sessionId"] && has["parentUuid"] && has["isSidechain"]:
		return fullMatch
	case s.kind == "" && has["sessionId"] && s.usage && has["timestamp"]:
		return fullMatch
	case s.kind == "":
		return noMatch
	}
	full := false
	switch s.kind {
	case "user", "assistant":
		full = s.message && (has["sessionId"] || has["uuid"] && has["parentUuid"])
	case "summary":
		full = has["summary"] && has["leafUuid"]
	case "file-history-snapshot":
		full = has["snapshot"] && has["messageId"] // CodeBuddy's have an id of their own
	default:
		members, known := requiredMembers[s.kind]
		full = known && has["sessionId"]
		for _, name := range members {
			full = full && has[name]
		}
	}
	switch {
	case full:
		return fullMatch
	case has["sessionId"] || has["uuid"] || s.kind == "file-history-delta" || s.message && (s.kind == "user" || s.kind == "assistant"):
		return maybeMatch
	}
	return noMatch
}

// Withholds leaves out what signs the user of Qoder in.
func (claudeCode) Withholds(h format.Head) bool {
	dir := path.Dir(h.Path)
	switch parent := path.Base(path.Dir(dir)); path.Base(dir) {
	case ".auth":
		return strings.HasPrefix(parent, ".qoder") || strings.HasPrefix(parent, ".qwenwork")
	case "cache":
		return path.Base(h.Path) == "machine_token.json" && (parent == "SharedClientCache" || parent == "shared_client")
	}
	return false
}
