package amazonqide

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	configName   = ".aws" // of all of Amazon's programs
	historyDir   = configName + "/amazonq/history"
	filePrefix   = "chat-history-"
	fileExt      = ".json"
	noWorkspace  = "no-workspace" // of a window without a folder
	firstMember  = "filename"
	secondMember = listCollections
)

// Detect claims histories by their place, and elsewhere by how they begin: with their own name.
func (f amazonQ) Detect(h format.Head) format.Claim {
	dir := path.Dir(h.Path)
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case strings.HasSuffix("/"+dir, "/"+historyDir) && workspaceOf(path.Base(h.Path)) != "":
		return format.Claim{Strength: format.Certain, Role: roleHistory, Root: dir}
	case isHistory(jsontext.TrimBOM(h.Bytes)):
		return format.Claim{Strength: format.Likely, Role: roleHistory}
	}
	return format.Claim{}
}

// Withholds leaves out what signs the user in, with the editors and with other programs of Amazon's: keys, and tokens in caches.
func (amazonQ) Withholds(h format.Head) bool {
	dir, name := path.Split(h.Path)
	switch dir = "/" + dir; {
	case strings.HasSuffix(dir, "/"+configName+"/"):
		return name == "credentials"
	case strings.HasSuffix(dir, "/cache/"):
		return strings.HasSuffix(dir, "/"+configName+"/sso/cache/") || strings.HasSuffix(dir, "/"+configName+"/cli/cache/") ||
			strings.HasSuffix(dir, "/"+configName+"/login/cache/")
	}
	return false
}

// isHistory reports whether a document begins like a history.
func isHistory(head []byte) bool {
	if !jsontext.BeginsObject(head) || !format.HasKeys(head, firstMember, secondMember) {
		return false
	}
	v := jsontext.ParseStart(head)
	return workspaceOf(v.Get(firstMember).Str()) != "" && v.Get(secondMember).IsArray()
}

// workspaceOf returns the id of the workspace in the name of a history, "" for other names. It is a hash of the workspace's directories, or of the path
// of the file that lists them.
func workspaceOf(name string) string {
	id, ok := strings.CutPrefix(name, filePrefix)
	if !ok {
		return ""
	}
	if id, ok = strings.CutSuffix(id, fileExt); !ok {
		return ""
	}
	return id
}
