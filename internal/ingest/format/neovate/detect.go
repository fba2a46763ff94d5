package neovate

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	homeName    = ".neovate"
	projectsDir = "projects"
	requestsDir = "requests"
	backupsDir  = "file-history"
	dataName    = "data.json"
	configName  = "config.json"
	sessionExt  = ".jsonl"
	agentPrefix = "agent-"
)

// location is what a file's path states.
type location struct {
	root  string // directory of all projects, "" if the path does not show the program's
	dir   string // of the file's project in it
	below string // path of the file in that
}

// locate finds .neovate/projects/<project>/<below> in a path.
func locate(file string) location {
	const mark = "/" + homeName + "/" + projectsDir + "/"
	padded := "/" + file
	at := strings.LastIndex(padded, mark)
	if at < 0 {
		return location{}
	}
	end := at + len(mark) - 1 // of the root, in padded
	dir, below, ok := strings.Cut(padded[end+1:], "/")
	if !ok {
		return location{}
	}
	return location{root: file[:end-1], dir: dir, below: below}
}

// project returns the name that the program gives to the directory of a project: letters and digits, and dashes for everything between them.
// Versions differ in what they do at the ends, and in capitals.
func project(dir string) string {
	other := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	return strings.Join(strings.FieldsFunc(strings.ToLower(dir), other), "-")
}

// sessionOf returns the session or sub-agent that a file is called by, and whether it is an id as the program makes them: 8 hexadecimal digits.
func sessionOf(file string) (id string, made bool) {
	id = strings.TrimPrefix(format.Stem(file), agentPrefix)
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return id, false
		}
	}
	return id, len(id) == 8
}

// Detect claims sessions by their place, unless they are another program's, and elsewhere by their lines.
func (f neovate) Detect(h format.Head) format.Claim {
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case path.Base(h.Path) == dataName && path.Base(path.Dir(h.Path)) == homeName:
		return format.Claim{Strength: format.Certain, Role: roleData}
	case path.Ext(h.Path) != sessionExt:
		return format.Claim{}
	}
	l := locate(h.Path)
	if strings.Contains("/"+l.below, "/"+backupsDir+"/") {
		return format.Claim{Strength: format.Certain, Role: format.Other, Root: l.root}
	}
	claim := format.Claim{Strength: format.Certain, Role: roleSession, Root: l.root, Log: true}
	switch known, foreign := inspect(h.Bytes); {
	case l.root == "" && known:
		claim.Strength = format.Likely
	case l.root == "" || foreign:
		return format.Claim{}
	}
	return claim
}

// types are the types of lines.
var types = map[string]bool{"message": true, "config": true, "file-history-snapshot": true}

// inspect reads the objects in the head until one is a message of this program. foreign says that there are whole objects, and none has a type of
// its.
func inspect(head []byte) (known, foreign bool) {
	typed := false
	for line, whole := range format.ObjectLines(head) {
		v := format.LineStart(line, whole)
		if isMessage(v, whole) {
			return true, false
		}
		typed = typed || types[v.Get("type").Str()]
		foreign = foreign || whole && v.Exists()
	}
	return false, foreign && !typed
}

// isMessage reports whether a line is a message with the members that the program gives each. The content may be long, and the head may end in it:
// then what follows is not there.
func isMessage(v jsontext.Value, whole bool) bool {
	if !v.Get("uuid").IsString() || !v.Get("parentUuid").Exists() || !v.Get("role").IsString() || !v.Get("content").Exists() {
		return false
	}
	typ := v.Get("type")
	return typ.Is("message") && (!whole || v.Get("timestamp").IsString()) || !whole && !typ.Exists()
}

// Withholds leaves out settings, which have the keys of providers, and the logs of requests, each of which repeats the settings of its provider.
func (neovate) Withholds(h format.Head) bool {
	if path.Base(h.Path) == configName && path.Base(path.Dir(h.Path)) == homeName {
		return true
	}
	return strings.HasPrefix(locate(h.Path).below, requestsDir+"/")
}
