package openhands

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// eventName matches the names of events of version 1, exportedName those in its export.
var (
	eventName    = lazyregexp.New(`^event-([0-9]{5,18})-[0-9A-Za-z-]{8,}\.json$`)
	exportedName = lazyregexp.New(`^event_([0-9]{6,18})_[0-9A-Za-z-]{8,}\.json$`)
	firstName    = lazyregexp.New(`^([0-9]{1,18})\.json$`)
	hexID        = lazyregexp.New(`^[0-9A-Fa-f]{32}$`)
	anyID        = lazyregexp.New(`[0-9A-Fa-f]{32}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`)
)

const (
	stateFile    = "base_state.json"
	metaFile     = "meta.json"
	metadataFile = "metadata.json"
	eventsDir    = "events"
	serverDir    = "v1_conversations"
	childrenDir  = "subagents"
)

// location is what the path of a file states.
type location struct {
	name   string // of the file
	role   string // "" if the name is none of the program's
	dir    string // of the conversation
	run    string
	parent string // the conversation that started it as a sub-agent
	seq    int64  // number of the event, -1 if the name has none
	inside bool   // a directory that only the program uses
}

// runID returns the id of a conversation as its directory is called: hexadecimal digits without dashes.
func runID(s string) string {
	if format.IsUUID(s) {
		return strings.ToLower(strings.ReplaceAll(s, "-", ""))
	}
	if hexID.MatchString(s) {
		return strings.ToLower(s)
	}
	return s
}

// locate reads <id>/events/event-<n>-<id>.json and <id>/base_state.json, v1_conversations/<id>/<id>.json, <id>/events/<n>.json and the names in
// an export.
func locate(file string) (at location) {
	name, dir := path.Base(file), path.Dir(file)
	at.name, at.dir, at.seq = name, dir, -1
	number := func(m []string) { at.seq, _ = strconv.ParseInt(m[1], 10, 64) }
	switch {
	case path.Base(dir) == eventsDir && eventName.MatchString(name):
		at.role, at.dir = roleEvent, path.Dir(dir)
		number(eventName.FindStringSubmatch(name))
	case path.Base(dir) == eventsDir && firstName.MatchString(name):
		at.role, at.dir = roleFirst, path.Dir(dir)
		number(firstName.FindStringSubmatch(name))
	case exportedName.MatchString(name):
		at.role = roleEvent
		number(exportedName.FindStringSubmatch(name))
	case path.Base(path.Dir(dir)) == serverDir && isID(strings.TrimSuffix(name, ".json")) && isID(path.Base(dir)):
		at.role, at.inside = roleEvent, true
	case name == stateFile:
		at.role = roleState
	case name == metaFile, name == metadataFile:
		at.role = roleMeta
	}
	at.run = runID(path.Base(at.dir))
	if exportedName.MatchString(name) || name == metaFile { // the program calls an export by its conversation
		at.run = cmp.Or(runID(anyID.FindString(at.run)), at.run)
	}
	if above := path.Dir(at.dir); path.Base(above) == childrenDir {
		at.parent = runID(path.Base(path.Dir(above)))
	}
	for above := path.Dir(at.dir); above != path.Dir(above); above = path.Dir(above) {
		switch path.Base(above) {
		case ".openhands", ".openhands-state":
			at.inside = true
		}
	}
	return at
}

func isID(s string) bool { return format.IsUUID(s) || hexID.MatchString(s) }

// holders are directories in which the programs keep one directory for each conversation.
var holders = map[string]bool{"sessions": true, "conversations": true, serverDir: true}

// root returns the directory of the conversation, or of the outermost one that it is a sub-agent of; "" if other files may be in it. The name of a
// file and that of its directory events are not enough: other programs use them, too.
func (at *location) root() string {
	dir := at.dir
	if !isID(path.Base(dir)) && !(holders[path.Base(path.Dir(dir))] && at.hasEvents()) {
		return ""
	}
	for path.Base(path.Dir(dir)) == childrenDir && isID(path.Base(path.Dir(path.Dir(dir)))) {
		dir = path.Dir(path.Dir(dir))
	}
	return dir
}

// hasEvents reports whether the file is in the directory of a conversation's events.
func (at *location) hasEvents() bool {
	return at.role == roleFirst || at.role == roleEvent && eventName.MatchString(at.name)
}

// order sorts the originals of a conversation.
func (at *location) order(e *entry) string {
	if path.Base(path.Dir(at.dir)) == serverDir {
		return e.stamp.Str()
	}
	return fmt.Sprintf("%018d", at.seq)
}

// trajectory returns the run of an exported array: the conversation in its name, or else its name and when it began.
func (at *location) trajectory(begun string) string {
	stem := strings.TrimPrefix(strings.TrimSuffix(at.name, path.Ext(at.name)), "trajectory-")
	if anyID.MatchString(stem) || begun == "" {
		return runID(stem)
	}
	return stem + "@" + begun
}

// Detect claims files of conversations by their names, with their content or place, and exported arrays by content.
func (openhands) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	if strings.HasPrefix(name, ".eventlog") && path.Base(path.Dir(h.Path)) == eventsDir {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	if path.Ext(name) != ".json" {
		return format.Claim{}
	}
	at := locate(h.Path)
	claim := format.Claim{Strength: format.Certain, Role: at.role, Root: at.root()}
	switch head := jsontext.TrimBOM(h.Bytes); {
	case at.role == "":
		return detectTrajectory(h)
	case !at.fits(head):
		return format.Claim{}
	}
	return claim
}

// fits reports whether a file with one of the program's names has such content. In directories that only the program uses the name is enough, except of
// metadata.
func (at *location) fits(head []byte) bool {
	switch {
	case at.role == roleMeta:
		return at.isMeta(head)
	case at.inside:
		return true
	case len(head) == 0:
		return at.role == roleEvent && at.root() != ""
	}
	v := jsontext.ParseStart(head)
	switch at.role {
	case roleState:
		return v.Get("id").IsString() && v.Get("agent").IsObject()
	case roleFirst:
		n, ok := v.Get("id").Int()
		return ok && (n == at.seq || holders[path.Base(path.Dir(at.dir))]) && isFirst(v)
	}
	return v.Get("id").IsString() && v.Get("timestamp").IsString() && isSource(v.Get("source").Word()) || isKind(v.Get("kind").Word())
}

// isFirst reports whether an object begins like an event of version 0. A long message may hide what comes after it.
func isFirst(v jsontext.Value) bool {
	return v.Get("timestamp").Time().Valid && isSource(v.Get("source").Word()) &&
		(v.Get("action").IsString() || v.Get("observation").IsString() || v.Get("message").IsString())
}

// isMeta reports whether an object is what the programs keep of a conversation. What a server of agents keeps begins with the agent: the id may come
// after more than the first bytes.
func (at *location) isMeta(head []byte) bool {
	v := jsontext.ParseStart(head)
	id := v.Get("id")
	named := func(id jsontext.Value) bool { return id.IsString() && runID(id.Str()) == at.run }
	switch {
	case v.Get("conversation_id").Exists():
		return v.Get("selected_repository").Exists() ||
			named(v.Get("conversation_id")) && format.HasKeys(head, "trigger") && holders[path.Base(path.Dir(at.dir))]
	case at.name != metaFile:
		return false
	case v.Get("sandbox_id").Exists() && v.Get("title").Exists():
		return id.IsString()
	}
	return isID(path.Base(at.dir)) && (named(id) || !id.Exists()) && isStored(v.Get("agent"), v.Get("workspace"))
}

// isStored reports whether the agent or the workspace of an object are those of a conversation. Their kinds are their last members.
func isStored(agent, workspace jsontext.Value) bool {
	return agent.Get("kind").IsString() || agent.Get("llm").IsObject() || agent.Get("acp_command").Exists() ||
		workspace.Get("kind").IsString() || workspace.Get("working_dir").IsString()
}

// detectTrajectory recognises an array by its first event.
func detectTrajectory(h format.Head) format.Claim {
	v, alone := jsontext.FirstElement(h.Bytes)
	if alone || !v.IsObject() || path.Base(path.Dir(h.Path)) == "event_cache" {
		return format.Claim{}
	}
	_, numbered := v.Get("id").Int()
	first := numbered && isFirst(v) && (v.Get("message").IsString() || v.Get("args").IsObject() || v.Get("content").IsString())
	second := isSource(v.Get("source").Word()) && v.Get("timestamp").Time().Valid && isKind(v.Get("kind").Word())
	if !first && !second {
		return format.Claim{}
	}
	return format.Claim{Strength: format.Likely, Role: roleTrajectory}
}

func isSource(s string) bool {
	switch s {
	case "agent", "user", "environment", "hook":
		return true
	}
	return false
}

// isKind reports whether a kind of events is one of version 1.
func isKind(s string) bool {
	switch s {
	case "MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation", "SystemPromptEvent", "Condensation", "CondensationSummaryEvent",
		"ACPToolCallEvent":
		return true
	}
	return otherKind(s) != ""
}

// InZip recognises the files of an export by their names.
func (openhands) InZip(name string) bool { return exportedName.MatchString(name) || name == metaFile }
