package qwencode

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// place is what a file's path tells.
type place struct {
	stem    string // of the name
	project string // directory of the project, "" when none looks like one
	session string // of a subagent
	agent   string // id in the name of a subagent's file
}

// sessionID is what the program calls a session's file.
var sessionID = lazyregexp.New(`^[0-9a-fA-F-]{32,36}$`)

// placeOf reads <project>/chats/[archive/]<session>.jsonl and <project>/subagents/<session>/agent-<id>.jsonl, whatever stands
// before.
func placeOf(file string) place {
	name, dir := path.Base(file), path.Dir(file)
	stem, _, _ := strings.Cut(name, ".")
	p := place{stem: stem}
	above := path.Dir(dir)
	id, isAgent := strings.CutPrefix(stem, "agent-")
	switch {
	case path.Base(dir) == "chats":
		p.project = above
	case path.Base(dir) == "archive" && path.Base(above) == "chats":
		p.project = path.Dir(above)
	case path.Base(above) == "subagents" && isAgent && id != "":
		p.project, p.session = path.Dir(above), path.Base(dir)
	}
	if isAgent && id != "" {
		p.agent = id
	}
	return p
}

// root is the directory whose files all are the program's: that of all projects, where it is plain that it is one, else the
// project's own.
func (p place) root(top string) string {
	parent := path.Dir(p.project)
	if path.Base(parent) == "projects" || parent == top && strings.HasPrefix(path.Base(p.project), "-") {
		return parent
	}
	return p.project
}

// Detect knows sessions by their place and their lines, and what old versions wrote by what Gemini CLI's format says of it.
func (q qwen) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	p := placeOf(h.Path)
	switch path.Ext(name) {
	case ".stream", ".lock", ".tmp": // what it is at: text that is written once more when it is whole
		if p.project != "" && strings.Contains(name, ".jsonl") {
			return format.Claim{Strength: format.Certain, Skip: true}
		}
	case ".json":
		if p.session != "" && p.agent != "" && strings.HasSuffix(name, ".meta.json") && format.MayHave(h.Bytes, `"agentType"`, `"parentSessionId"`) {
			return format.Claim{Strength: format.Certain, Role: roleMeta, Root: p.root(h.Top())}
		}
		return q.past(h)
	case ".jsonl":
		if claim := p.log(h); claim.Strength != format.None {
			return claim
		}
		return q.past(h)
	}
	return format.Claim{}
}

// log claims transcripts.
func (p place) log(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleSession, Log: true}
	if p.session != "" {
		claim.Role = roleAgent
	}
	known, foreign := look(h)
	switch {
	case known && p.project != "":
		claim.Root = p.root(h.Top())
	case known:
		claim.Strength = format.Likely
	case !foreign && p.project != "" && (p.session != "" || sessionID.MatchString(p.stem)):
		claim.Strength, claim.Root = format.Likely, p.root(h.Top())
	default:
		return format.Claim{}
	}
	return claim
}

// past claims what versions wrote that kept sessions as Gemini CLI does.
func (q qwen) past(h format.Head) format.Claim {
	claim := q.gemini.Detect(h)
	if claim.Strength != format.Weak {
		return format.Claim{}
	}
	claim.Role = rolePast + claim.Role
	if claim.Strength = format.Likely; claim.Root != "" {
		claim.Strength = format.Certain
	}
	return claim
}

// look reads the lines in the head until one tells. foreign says that there are whole objects and that none of them is a line of
// this program's.
func look(h format.Head) (known, foreign bool) {
	for line := range format.ObjectLines(h.Bytes) {
		if !format.MayHave(line, `"sessionId"`) || !format.MayHave(line, `"parts"`, `"systemPayload"`) {
			_, err := format.ParseJSON(line)
			foreign = foreign || err == nil
			continue
		}
		v, err := format.ParseJSON(line)
		if err != nil {
			v = format.ParseStart(line)
		}
		if fits(v) {
			return true, false
		}
		foreign = foreign || err == nil
	}
	return false, foreign
}

// fits says whether an object is a line of a transcript: the envelope with a message in parts, or with what the program says.
func fits(v format.Value) bool {
	if !v.Get("uuid").IsString() || !v.Get("sessionId").IsString() {
		return false
	}
	switch v.Get("type").Str() {
	case "user", "assistant", "tool_result", "system":
		return v.Get("message", "parts").Exists() || v.Get("systemPayload").Exists()
	}
	return false
}
