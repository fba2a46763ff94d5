package claudecode

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// place is what a file's path states.
type place struct {
	stem         string // file name without its extension
	slug         string // the project's directory, "" when none looks like one
	session      string // for sub-agents, titles and outputs: the session directory that they lie in, "" in the old layout
	maybeSession string // like session, but nothing else shows that the directory is a session's
	agent        string // for sub-agents: the id in their name
	isOutput     bool   // a tool's output, which may be anything, even a transcript
}

// titleFile is the file in a session's directory with the title that the user gave the session.
const titleFile = "custom-title.json"

// setAside are the marks in the name of an earlier transcript of a session that the program kept instead of overwriting it:
// <session>.orphaned-<time>-<word>.jsonl and <session>.jsonl.superseded-<time>.
var setAside = []string{".orphaned-", ".superseded-"}

// placeOf parses <slug>/<session>.jsonl, <slug>/agent-<id>.jsonl (older versions),
// <slug>/<session>/subagents/[workflows/<id>/]agent-<id>.jsonl and <slug>/<session>/custom-title.json, whatever precedes
// them.
func placeOf(file string) place {
	dir, name := path.Split(file)
	p := place{stem: strings.TrimSuffix(strings.TrimSuffix(name, path.Ext(name)), ".meta")}
	for _, mark := range setAside {
		if id, _, ok := strings.Cut(name, mark); ok && format.IsUUID(strings.TrimSuffix(id, ".jsonl")) {
			p.stem = strings.TrimSuffix(id, ".jsonl")
		}
	}
	dirs := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	above := len(dirs) // index of the session's own directory, or number of directories above the file
	for i := len(dirs) - 1; i > 0 && !p.isOutput; i-- {
		if p.isOutput = dirs[i] == "tool-results" && (format.IsUUID(dirs[i-1]) || i > 1 && isSlug(dirs[i-2])); p.isOutput {
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
			p.maybeSession = dirs[i-1]
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

// isSlug reports whether name is a project's directory: the path of its working directory with '-' for all but letters and
// digits, which starts with '-' or, on Windows, with a drive letter.
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

// root returns the directory in which all files are Claude Code's: the projects directory where it is recognisable, else
// the project's own. A directory called "projects" elsewhere may hold anything.
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
