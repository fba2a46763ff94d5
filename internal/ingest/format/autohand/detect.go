package autohand

import (
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// What the program writes.
const (
	homeName         = ".autohand"
	sessionsName     = "sessions"
	conversationName = "conversation.jsonl"
	metadataName     = "metadata.json"
)

// Detect claims sessions by their place. Settings hold keys of providers, and what signs the user in.
func (a autohand) Detect(h format.Head) format.Claim {
	dir := path.Dir(h.Path)
	switch name := path.Base(h.Path); {
	case a.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case !isSession(dir):
	case name == conversationName:
		return format.Claim{Strength: format.Certain, Role: roleConversation, Root: dir, Log: true}
	case name == metadataName:
		return format.Claim{Strength: format.Certain, Role: roleMetadata, Root: dir}
	}
	return format.Claim{}
}

// Withholds leaves out settings, whatever they look like.
func (autohand) Withholds(h format.Head) bool {
	name := path.Base(h.Path)
	return path.Base(path.Dir(h.Path)) == homeName && (strings.HasPrefix(name, "config.") || name == "settings.local.json")
}

// isSession reports whether a directory is one of a session: by its name, or in the program's own by its place.
func isSession(dir string) bool {
	sessions := path.Dir(dir)
	return createdAt(path.Base(dir)).Valid || path.Base(sessions) == sessionsName && path.Base(path.Dir(sessions)) == homeName
}

// sessionOf returns the session that a file belongs to.
func sessionOf(file string) string { return path.Base(path.Dir(file)) }

// createdAt returns when a session was created, which is the end of its id, in milliseconds. It is invalid if that is no id of the program's.
func createdAt(session string) transcript.Time {
	const uuid = 36
	if len(session) <= uuid || !format.IsUUID(session[:uuid]) || session[uuid] != '-' {
		return transcript.Time{}
	}
	ms, err := strconv.ParseUint(session[uuid+1:], 10, 53)
	if err != nil {
		return transcript.Time{}
	}
	return timestamp.UnixMilli(int64(ms))
}
