package rovodev

import (
	"path"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	sessionsName = "sessions"
	contextName  = "session_context.json"
	metadataName = "metadata.json"
	savedName    = "rovodev_" + contextName // by Harbor, in a directory of its own
	newHome      = ".rovo"
)

// homes are the program's directories, which have sessions in them.
var homes = []string{".rovodev", newHome}

// settings are files in these directories that hold tokens for MCP servers.
var settings = []string{"mcp.json", "mcp_config.json"}

// sessionsOf returns the directory of all sessions that a file belongs to, "" if it is not where the program keeps them by
// default.
func sessionsOf(file string) string {
	for dir := path.Dir(path.Dir(file)); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if path.Base(dir) == sessionsName && slices.Contains(homes, path.Base(path.Dir(dir))) {
			return dir
		}
	}
	return ""
}

// directoryOf returns the name of the directory of a file, which is that of its session.
func directoryOf(file string) string { return path.Base(path.Dir(file)) }

// isDirectory reports whether a file is in a directory of a session.
func isDirectory(file string) bool {
	return path.Base(file) != savedName && (sessionsOf(file) != "" || format.IsUUID(directoryOf(file)))
}

// Detect claims sessions by their place, and elsewhere by what they hold: a setting may move them.
func (f rovoDev) Detect(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Certain, Root: sessionsOf(h.Path)}
	isSession := isContext
	switch path.Base(h.Path) {
	case contextName, savedName:
		claim.Role = roleContext
	case metadataName:
		if path.Dir(path.Dir(h.Path)) != claim.Root && !format.IsUUID(directoryOf(h.Path)) {
			return format.Claim{} // of something else in a session
		}
		claim.Role, isSession = roleMetadata, isMetadata
	default:
		if f.Withholds(h) {
			return format.Claim{Strength: format.Certain, Skip: true}
		}
		return format.Claim{}
	}
	if claim.Root == "" {
		if !isSession(jsontext.TrimBOM(h.Bytes)) {
			return format.Claim{}
		}
		claim.Strength = format.Likely
		if isDirectory(h.Path) {
			claim.Root = path.Dir(h.Path)
		}
	}
	return claim
}

// isContext reports whether a file begins like the messages of a session.
func isContext(head []byte) bool {
	if !jsontext.BeginsObject(head) {
		return false
	}
	v := jsontext.ParseStart(head)
	return v.Get("message_history").IsArray() || v.Get("id").IsString() && v.Get("deps").IsObject()
}

// isMetadata reports whether a file is what is noted about a session.
func isMetadata(head []byte) bool {
	return jsontext.BeginsObject(head) && format.HasKeys(head, "title", "workspace_path", "fork_data")
}

// Withholds leaves out the tokens of MCP servers.
func (rovoDev) Withholds(h format.Head) bool {
	return slices.Contains(settings, path.Base(h.Path)) && slices.Contains(homes, directoryOf(h.Path))
}
