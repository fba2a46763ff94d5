package cursor

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

const (
	transcriptsDir = "agent-transcripts"
	subagentsDir   = "subagents"
	stateName      = "state.vscdb"
	storeName      = "store.db"
	metaName       = "meta.json"
	workspaceName  = "workspace.json"
	workspacesDir  = "workspaceStorage"
)

// workspaceMark is before the name of a directory that was open, where it is called as a run.
const workspaceMark = "workspace "

// spot is what the path of a file tells.
type spot struct {
	session, parent, project string // project is the slug of the directory that was worked in
	root                     string // the directory of the transcripts, "" where the path shows none
	workspace                string // what the editor calls the directory that was open, "" where the path does not tell
}

// place reads <slug>/agent-transcripts/<id>.jsonl, <id>/<id>.jsonl and <parent>/subagents/<id>.jsonl, and for what comes from a
// database the directory that has the name of the session.
func place(file, top string) (at spot) {
	dir := path.Dir(file)
	at.session = strings.TrimSuffix(path.Base(file), path.Ext(file))
	switch {
	case path.Ext(file) == ".ndjson":
		at.session, at.workspace = path.Base(dir), workspaceOf(dir, top)
		if at.session == storeName {
			at.session = path.Base(path.Dir(dir))
		}
		return at
	case path.Base(file) == metaName:
		at.session = path.Base(dir)
		return at
	case path.Base(file) == workspaceName:
		at.workspace = workspaceOf(dir, top)
		at.session = workspaceMark + at.workspace
		return at
	case path.Base(dir) == subagentsDir:
		dir = path.Dir(dir)
		if at.parent = path.Base(dir); at.parent == "." || at.parent == at.session {
			at.parent = ""
		}
		dir = path.Dir(dir)
	case path.Base(dir) == at.session:
		dir = path.Dir(dir)
	}
	if path.Base(dir) == transcriptsDir {
		at.root = dir
		if at.project = path.Base(path.Dir(dir)); at.project == "." || at.project == "/" {
			at.project = ""
		}
	}
	return at
}

// workspaceOf is the name that the editor has for a directory which was open, in the path of what it keeps of that: a hash, or a number
// for a window without a directory.
func workspaceOf(dir, top string) string {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if name := path.Base(dir); path.Base(path.Dir(dir)) == workspacesDir || path.Dir(dir) == top && workspace.MatchString(name) {
			return name
		}
	}
	return ""
}

var workspace = lazyregexp.New(`^([0-9a-f]{32}|[0-9]{10,16})$`)

// slug is what the program calls the directory of a workspace: its path with a dash for everything that is no letter or digit.
func slug(dir string) string {
	var b strings.Builder
	dash := false
	for _, r := range dir {
		if r < utf8.RuneSelf && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') {
			dash = b.Len() > 0
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// projectOf finds the directory that a slug stands for in the path of a file below it, "" when that does not lie there.
func projectOf(file, name string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	for i := range len(file) {
		if (file[i] == '/' && i > 0 || i == len(file)-1) && i >= len(name) {
			if i == len(file)-1 && file[i] != '/' {
				i++
			}
			if d := file[:i]; len(d) <= 2*len(name)+16 && slug(d) == name {
				return d
			} else if len(d) > 2*len(name)+16 {
				return ""
			}
		}
	}
	return ""
}
