package claudecode

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// place is what the path of a file says of it.
type place struct {
	stem    string // of the name
	slug    string // the project's directory, "" when none looks like one
	session string // of sub-agents, titles and outputs: the directory that they lie in, "" in the old layout
	above   string // the same of a directory that nothing else shows to be a session's
	agent   string // of sub-agents: the id in their name
	output  bool   // what a tool gave back, which may be anything, a transcript as well
}

// titleFile is the name of the note in a session's directory that has the title which the user gave it.
const titleFile = "custom-title.json"

// setAside are the words in the name of an earlier transcript of a session that the program kept instead of overwriting it:
// <session>.orphaned-<time>-<word>.jsonl and <session>.jsonl.superseded-<time>.
var setAside = []string{".orphaned-", ".superseded-"}

// placeOf reads <slug>/<session>.jsonl, <slug>/agent-<id>.jsonl (older versions) and
// <slug>/<session>/subagents/[workflows/<id>/]agent-<id>.jsonl and <slug>/<session>/custom-title.json, whatever stands before.
func placeOf(file string) place {
	dir, name := path.Split(file)
	p := place{stem: strings.TrimSuffix(strings.TrimSuffix(name, path.Ext(name)), ".meta")}
	for _, mark := range setAside {
		if id, _, ok := strings.Cut(name, mark); ok && format.IsUUID(strings.TrimSuffix(id, ".jsonl")) {
			p.stem = strings.TrimSuffix(id, ".jsonl")
		}
	}
	dirs := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	above := len(dirs) // of the session's own directory, or of the file
	for i := len(dirs) - 1; i > 0 && !p.output; i-- {
		if p.output = dirs[i] == "tool-results" && (format.IsUUID(dirs[i-1]) || i > 1 && isSlug(dirs[i-2])); p.output {
			p.session, above = dirs[i-1], i-1
		}
	}
	if i := len(dirs) - 1; name == titleFile && (format.IsUUID(dirs[i]) || i > 0 && isSlug(dirs[i-1])) {
		p.session, above = dirs[i], i
	}
	for i := len(dirs) - 1; i > 0; i-- {
		if dirs[i] != "subagents" {
			continue
		}
		if format.IsUUID(dirs[i-1]) || i > 1 && isSlug(dirs[i-2]) {
			p.session, above = dirs[i-1], i-1
		} else {
			p.above = dirs[i-1]
		}
		break
	}
	if above > 0 && isSlug(dirs[above-1]) {
		p.slug = strings.Join(dirs[:above], "/")
	}
	if id, ok := strings.CutPrefix(p.stem, "agent-"); ok && id != "" {
		p.agent = id
	}
	return p
}

// isSlug knows the directory of a project: the path of its working directory with '-' for all but letters and digits,
// which starts with '-' or, on Windows, with a drive.
func isSlug(name string) bool {
	if len(name) < 2 {
		return false
	}
	for _, c := range []byte(name) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && c != '-' && c-'0' > 9 {
			return false
		}
	}
	return name[0] == '-' || name[0]|0x20 >= 'a' && strings.HasPrefix(name[1:], "--")
}

// root is the directory whose files all are Claude Code's: the projects directory, where it is plain that it is
// one, else the project's own. What is called "projects" elsewhere may hold anything.
func (p place) root(top string) string {
	if p.slug == "" {
		return ""
	}
	parent := path.Dir(p.slug)
	if parent == top || path.Base(parent) == "projects" {
		return parent
	}
	return p.slug
}
