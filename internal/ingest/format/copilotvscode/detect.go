package copilotvscode

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// sessionDirs are what the program calls the directories of sessions: of a directory that is open, of windows without one, and on
// the way from one window to another.
var sessionDirs = map[string]bool{"chatSessions": true, "emptyWindowChatSessions": true, "transferredChatSessions": true}

const (
	transcriptsDir = "transcripts"
	extensionDir   = "github.copilot-chat" // in letters of either case
)

// Detect claims sessions by where they lie, and elsewhere by their beginning. Nothing else that the program keeps is anybody's here: tokens,
// copies of code and the files of other extensions lie beside them.
func (f vscode) Detect(h format.Head) format.Claim {
	ext := path.Ext(h.Path)
	if ext != ".json" && ext != ".jsonl" && !isDocument(h.Bytes, false) { // every file is asked about
		return format.Claim{}
	}
	placed := sessionDirs[path.Base(path.Dir(h.Path))]
	claim := format.Claim{Strength: format.Certain, Role: roleDocument}
	if placed {
		claim.Root = path.Dir(h.Path)
	}
	switch {
	case ext == ".jsonl":
		if isTranscript(h) {
			return f.transcript(h)
		}
		claim.Role, claim.Log = roleLog, true
		if !isLog(h.Bytes, placed) && !(placed && isUnread(h)) {
			return detectDebug(h)
		}
	case ext == ".json" && isWorkspace(h.Path) && (format.HasKeys(h.Bytes, "folder") || format.HasKeys(h.Bytes, "workspace")):
		return format.Claim{Strength: format.Likely, Role: roleWorkspace}
	case placed && ext != ".json", !isDocument(h.Bytes, placed) && !(placed && isUnread(h)):
		return format.Claim{}
	}
	if !placed {
		claim.Strength = format.Likely
	}
	return claim
}

// isDocument says that a file begins as a session does, or as an export of one. What names a session stands behind its requests; an export has no
// name and no version.
func isDocument(head []byte, placed bool) bool {
	head = bytes.TrimSpace(format.TrimBOM(head))
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	if placed {
		return format.HasKeys(head, "requests") || format.HasKeys(head, "sessionId")
	}
	if !format.HasKeys(head, "responderUsername", "requests") {
		return false
	}
	start := format.ParseStart(head)
	requests := start.Get("requests")
	switch {
	case !start.Get("responderUsername").IsString() || !requests.IsArray():
		return false
	case start.Get("version").Exists():
		return format.HasKeys(head, "requestId") || format.HasKeys(head, "sessionId")
	}
	return start.Get("initialLocation").IsString() && firstOf(requests).Get("requestId").IsString()
}

// isLog says that a line begins as the program writes changes. The first one of a log has the whole session.
func isLog(head []byte, placed bool) bool {
	return format.AnyLine(head, func(line []byte) bool {
		switch {
		case bytes.HasPrefix(line, []byte(`{"kind":0,"v":{`)):
			return placed || format.HasKeys(line, "version", "sessionId") && (format.HasKeys(line, "creationDate") || format.HasKeys(line, "requests"))
		case bytes.HasPrefix(line, []byte(`{"kind":1,"k":[`)), bytes.HasPrefix(line, []byte(`{"kind":2,"k":[`)), bytes.HasPrefix(line, []byte(`{"kind":3,"k":[`)):
			return placed
		}
		return false
	})
}

// isUnread says that a file is called as a session is, and that no line of it tells what it is: there may be nothing in it yet, or
// nothing that can be read.
func isUnread(h format.Head) bool {
	return format.IsUUID(sessionOf(h.Path)) && !format.AnyLine(h.Bytes, func(line []byte) bool {
		_, err := format.ParseJSON(line)
		return err == nil
	})
}

// isTranscript says that a log is one that the extension keeps for its hooks, by its place or by its first line.
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

// sessionOf is the session that a file is called after.
func sessionOf(file string) string {
	return strings.TrimSuffix(path.Base(file), path.Ext(file))
}

// workspaceOf is what the program calls the directory that was open: a hash, in the path of what it keeps of that. "" for windows without one,
// and where the path does not tell.
func workspaceOf(file string) string {
	dir := path.Dir(file)
	hash := path.Base(path.Dir(dir))
	if path.Base(dir) != "chatSessions" || hash == "." || hash == "/" || hash == "no-workspace" {
		return ""
	}
	return hash
}

const workspaceName = "workspace.json"

// isWorkspace says of a path that the program notes there which directory was open. Cursor has such files, too.
func isWorkspace(file string) bool {
	dir, name := path.Split("/" + file)
	above := path.Dir(path.Clean(dir))
	return name == workspaceName && strings.HasSuffix(above, "/User/workspaceStorage") && !strings.HasSuffix(above, "/Cursor/User/workspaceStorage")
}
