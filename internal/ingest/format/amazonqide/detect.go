package amazonqide

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	historyDir   = ".aws/amazonq/history"
	filePrefix   = "chat-history-"
	fileExt      = ".json"
	noWorkspace  = "no-workspace" // of a window without a folder
	firstMember  = "filename"
	secondMember = listCollections
)

// Detect claims histories by their place, and elsewhere by how they begin: with their own name.
func (amazonQ) Detect(h format.Head) format.Claim {
	dir := path.Dir(h.Path)
	switch {
	case strings.HasSuffix("/"+dir, "/"+historyDir) && workspaceOf(path.Base(h.Path)) != "":
		return format.Claim{Strength: format.Certain, Role: roleHistory, Root: dir}
	case isHistory(jsontext.TrimBOM(h.Bytes)):
		return format.Claim{Strength: format.Likely, Role: roleHistory}
	}
	return format.Claim{}
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
