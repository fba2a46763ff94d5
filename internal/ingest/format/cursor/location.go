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
	acpDir         = "acp-sessions"
	workspaceName  = "workspace.json"
	workspacesDir  = "workspaceStorage"
)

// workspaceMark precedes the id of an editor's workspace in the id of a run made from it.
const workspaceMark = "workspace "

// location is what the path of a file states.
type location struct {
	session, parent, project string // project is the slug of the working directory
	root                     string // the agent-transcripts directory, "" if it is not in the path
	workspace                string // id of the editor's workspace, "" if it is not in the path
}

// locate reads <slug>/agent-transcripts/<id>.jsonl, <id>/<id>.jsonl and <parent>/subagents/<id>.jsonl. For an original from a
// database, the directory has the session's id.
func locate(file, top string) (at location) {
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

// workspaceOf returns the editor's id of an open folder in the path of its storage: a hash, or a number for a window
// without a folder.
func workspaceOf(dir, top string) string {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if name := path.Base(dir); path.Base(path.Dir(dir)) == workspacesDir || path.Dir(dir) == top && workspaceID.MatchString(name) {
			return name
		}
	}
	return ""
}

var workspaceID = lazyregexp.New(`^([0-9a-f]{32}|[0-9]{10,16})$`)

// slug returns Cursor's name for the directory of a workspace: the path with a dash for each run of characters other than letters and digits.
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

// projectOf finds the directory of a slug in the path of a file below it; "" if the file does not lie there.
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
