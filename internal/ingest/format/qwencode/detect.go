package qwencode

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// location is what a file's path states.
type location struct {
	stem    string // of the file's name
	project string // directory of the project, "" if the path shows none
	session string // of a subagent
	agent   string // id in the name of a subagent's file
}

// sessionID matches the name of a session's file.
var sessionID = lazyregexp.New(`^[0-9a-fA-F-]{32,36}$`)

// locate reads <project>/chats/[archive/]<session>.jsonl and <project>/subagents/<session>/agent-<id>.jsonl. Any path may come
// before.
func locate(file string) location {
	name, dir := path.Base(file), path.Dir(file)
	stem, _, _ := strings.Cut(name, ".")
	p := location{stem: stem}
	parent := path.Dir(dir)
	id, isAgent := strings.CutPrefix(stem, "agent-")
	switch {
	case path.Base(dir) == "chats":
		p.project = parent
	case path.Base(dir) == "archive" && path.Base(parent) == "chats":
		p.project = path.Dir(parent)
	case path.Base(parent) == "subagents" && isAgent && id != "":
		p.project, p.session = path.Dir(parent), path.Base(dir)
	}
	if isAgent && id != "" {
		p.agent = id
	}
	return p
}

// root returns the directory that holds only Qwen Code's files: that of all projects if it is recognisable as such, else the
// project's.
func (p location) root(top string) string {
	parent := path.Dir(p.project)
	if path.Base(parent) == "projects" || parent == top && strings.HasPrefix(path.Base(p.project), "-") {
		return parent
	}
	return p.project
}

// Detect claims sessions by their place and their lines, files of old versions by the claim of Gemini CLI's format, and saved output by its
// lines.
func (q qwen) Detect(h format.Head) format.Claim {
	claim := q.file(h)
	if claim.Strength == format.None {
		if role := outputRole(h.Bytes); role != "" {
			return format.Claim{Strength: format.Likely, Role: role, Log: role == roleStream}
		}
	}
	return claim
}

// file claims what Qwen Code itself has written.
func (q qwen) file(h format.Head) format.Claim {
	if claim := detectPlanned(h); claim.Strength != format.None {
		return claim
	}
	name := path.Base(h.Path)
	p := locate(h.Path)
	switch path.Ext(name) {
	case ".stream", ".lock", ".tmp": // work in progress: its text is written again when complete
		if p.project != "" && strings.Contains(name, ".jsonl") {
			return format.Claim{Strength: format.Certain, Skip: true}
		}
	case ".json":
		if p.session != "" && p.agent != "" && strings.HasSuffix(name, ".meta.json") && format.MayHave(h.Bytes, `"agentType"`, `"parentSessionId"`) {
			return format.Claim{Strength: format.Certain, Role: roleMeta, Root: p.root(h.Top())}
		}
		return q.legacy(h)
	case ".jsonl":
		if claim := p.log(h); claim.Strength != format.None {
			return claim
		}
		return q.legacy(h)
	}
	return format.Claim{}
}

// log claims transcripts.
func (p location) log(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleSession, Log: true}
	if p.session != "" {
		claim.Role = roleAgent
	}
	known, foreign := inspect(h, p.project != "")
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

// legacy claims files of versions that kept sessions as Gemini CLI does.
func (q qwen) legacy(h format.Head) format.Claim {
	claim := q.gemini.Detect(h)
	if claim.Strength != format.Weak {
		return format.Claim{}
	}
	claim.Role = roleLegacy + claim.Role
	if claim.Strength = format.Likely; claim.Root != "" {
		claim.Strength = format.Certain
	}
	return claim
}

// inspect reads the lines in the head until one is a transcript's. foreign says that there are whole objects and none is
// a transcript's. In the place of a transcript, its lines may lack their ids, as when they were shortened by hand.
func inspect(h format.Head, placed bool) (known, foreign bool) {
	for line := range format.ObjectLines(h.Bytes) {
		v, err := jsontext.ParsePrefix(line)
		marked := format.MayHave(line, `"sessionId"`) && format.MayHave(line, `"parts"`, `"systemPayload"`)
		if marked && (placed || v.Get("uuid").IsString()) && isLine(v) {
			return true, false
		}
		foreign = foreign || err == nil
	}
	return false, foreign
}

// isLine reports whether an object is a line of a transcript: the envelope with message parts or a system payload.
func isLine(v jsontext.Value) bool {
	if !v.Get("sessionId").IsString() {
		return false
	}
	switch v.Get("type").Str() {
	case "user", "assistant", "tool_result", "system":
		return v.Get("message", "parts").Exists() || v.Get("systemPayload").Exists()
	}
	return false
}
