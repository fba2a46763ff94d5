package strands

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// The names that the SDK gives to directories and files.
const (
	sessionPrefix = "session_"
	agentPrefix   = "agent_"
	messagePrefix = "message_"
	multiPrefix   = "multi_agent_"

	agentsDir   = "agents"
	messagesDir = "messages"
	multiDir    = "multi_agents"

	sessionFile = "session.json"
	agentFile   = "agent.json"
	multiFile   = "multi_agent.json"
)

// location is what the path of a file states.
type location struct {
	root    string // the directory of the session; "" if the path is not like those of the SDK
	session string
	agent   string
	number  string // of a message
	role    string // "" for a file that is not yet whole
}

// locate reads session_<id>/session.json, session_<id>/agents/agent_<id>/agent.json, .../messages/message_<n>.json and
// session_<id>/multi_agents/multi_agent_<id>/multi_agent.json.
func locate(file string) (at location) {
	dir, name := path.Split(file)
	dir = strings.TrimSuffix(dir, "/")
	inside := path.Base(dir) == messagesDir
	number, numbered := numberOf(name)
	switch {
	case inside:
		if numbered {
			at.role, at.number = roleMessage, number
		}
		dir = path.Dir(dir)
	case name == agentFile:
		at.role = roleAgent
	case name == multiFile:
		at.role = roleMulti
	case name == sessionFile:
		at.role = roleSession
		at.root, at.session = sessionOf(dir)
		return at
	}
	if id, ok := strings.CutPrefix(path.Base(dir), agentPrefix); ok && path.Base(path.Dir(dir)) == agentsDir && at.role != roleMulti {
		at.agent = id
	} else if !inside && at.role != roleAgent && strings.HasPrefix(path.Base(dir), multiPrefix) && path.Base(path.Dir(dir)) == multiDir {
		at.agent = strings.TrimPrefix(path.Base(dir), multiPrefix)
	} else {
		return location{}
	}
	at.root, at.session = sessionOf(path.Dir(path.Dir(dir)))
	return at
}

// sessionOf returns the directory of a session and its id, "" if it is not called like one.
func sessionOf(dir string) (root, id string) {
	if id, ok := strings.CutPrefix(path.Base(dir), sessionPrefix); ok && id != "" {
		return dir, id
	}
	return "", ""
}

// numberOf returns the number in the name of a message's file.
func numberOf(name string) (string, bool) {
	const most = 18 // digits
	number, ok := strings.CutPrefix(strings.TrimSuffix(name, ".json"), messagePrefix)
	if !ok || path.Ext(name) != ".json" || number == "" || len(number) > most || strings.Trim(number, "0123456789") != "" {
		return "", false
	}
	return number, true
}

// Detect claims files by their place, which is like no other program's, except that of the session itself: that has to say what it is, too. What
// the SDK has not yet renamed is left out.
func (strands) Detect(h format.Head) format.Claim {
	at := locate(h.Path)
	switch {
	case at.root == "":
		return format.Claim{}
	case path.Ext(h.Path) == ".tmp" && at.role == "":
		return format.Claim{Strength: format.Certain, Skip: true}
	case at.role == "", at.role == roleSession && !format.HasKeys(h.Bytes, "session_id", "session_type"):
		return format.Claim{}
	}
	return format.Claim{Strength: format.Certain, Role: at.role, Root: at.root}
}
