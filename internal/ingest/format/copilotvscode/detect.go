package copilotvscode

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// sessionDirs are the directories of sessions: of an open folder, of windows without one, and of sessions on the way from one window
// to another.
var sessionDirs = map[string]bool{"chatSessions": true, "emptyWindowChatSessions": true, "transferredChatSessions": true}

const (
	transcriptsDir = "transcripts"
	extensionDir   = "github.copilot-chat" // in letters of either case
)

// Detect claims sessions by their place, and elsewhere by how they begin. Other files of the editor belong to no root: tokens,
// copies of code and files of other extensions lie beside them.
func (f vscode) Detect(h format.Head) format.Claim {
	ext := path.Ext(h.Path)
	if ext != ".json" && ext != ".jsonl" && !isDocument(h.Bytes, false) { // a cheap test first: Detect sees every file
		return format.Claim{}
	}
	inSessionDir := sessionDirs[path.Base(path.Dir(h.Path))]
	claim := format.Claim{Strength: format.Certain, Role: roleDocument}
	if inSessionDir {
		claim.Root = path.Dir(h.Path)
	}
	switch {
	case ext == ".jsonl":
		if isTranscript(h) {
			return f.transcript(h)
		}
		claim.Role, claim.Log = roleLog, true
		if !isLog(h.Bytes, inSessionDir) && !(inSessionDir && isUnreadable(h)) {
			return detectDebug(h)
		}
	case ext == ".json" && isWorkspace(h.Path) && (format.HasKeys(h.Bytes, "folder") || format.HasKeys(h.Bytes, "workspace")):
		return format.Claim{Strength: format.Likely, Role: roleWorkspace}
	case inSessionDir && ext != ".json", !isDocument(h.Bytes, inSessionDir) && !(inSessionDir && isUnreadable(h)):
		return format.Claim{}
	}
	if !inSessionDir {
		claim.Strength = format.Likely
	}
	return claim
}

// isDocument reports whether a file begins like a session or an export of one. A session's id comes after its requests, so it may lie beyond the
// head; an export has no id and no version.
func isDocument(head []byte, inSessionDir bool) bool {
	head = bytes.TrimSpace(jsontext.TrimBOM(head))
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	if inSessionDir {
		return format.HasKeys(head, "requests") || format.HasKeys(head, "sessionId")
	}
	if !format.HasKeys(head, "responderUsername", "requests") {
		return false
	}
	start := jsontext.ParseStart(head)
	requests := start.Get("requests")
	switch {
	case !start.Get("responderUsername").IsString() || !requests.IsArray():
		return false
	case start.Get("version").Exists():
		return format.HasKeys(head, "requestId") || format.HasKeys(head, "sessionId")
	}
	return start.Get("initialLocation").IsString() && firstOf(requests).Get("requestId").IsString()
}

// isLog reports whether a line begins like a change. The first line of a log has the whole session.
func isLog(head []byte, inSessionDir bool) bool {
	return format.AnyLine(head, func(line []byte) bool {
		switch {
		case bytes.HasPrefix(line, []byte(`{"kind":0,"v":{`)):
			return inSessionDir || format.HasKeys(line, "version", "sessionId") && (format.HasKeys(line, "creationDate") || format.HasKeys(line, "requests"))
		case bytes.HasPrefix(line, []byte(`{"kind":1,"k":[`)), bytes.HasPrefix(line, []byte(`{"kind":2,"k":[`)), bytes.HasPrefix(line, []byte(`{"kind":3,"k":[`)):
			return inSessionDir
		}
		return false
	})
}

// isUnreadable reports whether a file is named like a session and has no line that is JSON: it may be empty so far, or
// damaged.
func isUnreadable(h format.Head) bool {
	return format.IsUUID(format.Stem(h.Path)) && !format.AnyLine(h.Bytes, func(line []byte) bool {
		_, err := jsontext.Parse(line)
		return err == nil
	})
}

// isTranscript reports whether a log is a transcript of the extension, by its place or by a line.
func isTranscript(h format.Head) bool {
	dir := path.Dir(h.Path)
	return path.Base(dir) == transcriptsDir && strings.EqualFold(path.Base(path.Dir(dir)), extensionDir) ||
		format.AnyLine(h.Bytes, func(line []byte) bool {
			return format.HasKeys(line, "session.start", "sessionId", "copilotVersion", "vscodeVersion")
		})
}

func (f vscode) transcript(h format.Head) format.Claim {
	claim := f.cli.Detect(h)
	if claim.Strength == format.None || !claim.Log {
		return format.Claim{}
	}
	claim.Strength, claim.Role, claim.Root = format.Certain, roleTranscript+claim.Role, ""
	if dir := path.Dir(h.Path); path.Base(dir) == transcriptsDir {
		claim.Root = dir
	}
	return claim
}

// workspaceOf returns the hash by which the editor names the open folder, from the path of a session. It is "" for windows without a folder,
// and where the path does not have it.
func workspaceOf(file string) string {
	dir := path.Dir(file)
	hash := path.Base(path.Dir(dir))
	if path.Base(dir) != "chatSessions" || hash == "." || hash == "/" || hash == "no-workspace" {
		return ""
	}
	return hash
}

const workspaceName = "workspace.json"

// isWorkspace reports whether a path is that of a workspace.json, which names the open folder. Cursor has such files, too.
func isWorkspace(file string) bool {
	dir, name := path.Split("/" + file)
	parent := path.Dir(path.Clean(dir))
	return name == workspaceName && strings.HasSuffix(parent, "/User/workspaceStorage") && !strings.HasSuffix(parent, "/Cursor/User/workspaceStorage")
}
