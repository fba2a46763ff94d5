package atif

import (
	"cmp"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// trajectory is one trajectory with its names.
type trajectory struct {
	run, id string // of the run and the conversation
	session string // as written
	parent  *trajectory
	depth   int  // of trajectories that it is in
	own     bool // the run is not that of a trial or of a longer session
	child   bool
	derived bool // its tokens are also in the agent's own session, see native
	agent   string
	model   string
}

// maxID is the length of the longest id that is accepted, in bytes.
const maxID = 200

// What an id has that a program made by chance. The end of one has letters and digits.
var (
	uuid      = lazyregexp.New(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	randomEnd = lazyregexp.New(`[0-9A-Za-z]{20,}$`)
)

// isUnique reports whether an id is hardly given twice. Many programs call sessions "unknown", "session-1" or by their task.
func isUnique(id string) bool {
	if len(id) > maxID {
		return false
	}
	end := randomEnd.FindString(id)
	return uuid.MatchString(id) || strings.ContainsAny(end, "0123456789") && strings.Trim(end, "0123456789") != ""
}

// Terminus continues a session after a summary as <session>-cont-<n>, and makes summaries in <session>-summarization-<n>-<what>.
var (
	continued  = lazyregexp.New(`^(.+?)-cont-(\d{1,9})$`)
	summarised = lazyregexp.New(`^(.+)-summarization-\d+-[a-z]+$`)
)

// base returns the session that a session is a part of.
func base(session string) string {
	if m := summarised.FindStringSubmatch(session); m != nil {
		session = m[1]
	}
	if m := continued.FindStringSubmatch(session); m != nil {
		session = m[1]
	}
	return session
}

// name returns a trajectory with its names. number tells apart those without an id that are in the same one.
func (p *parser) name(parent *trajectory, v jsontext.Value, number string) *trajectory {
	agent := v.Get("agent")
	t := &trajectory{session: v.Get("session_id").Text(), parent: parent, agent: agent.Get("name").Str(), model: agent.Get("model_name").Str()}
	id := v.Get("trajectory_id").Text()
	said := agent.Get("extra", "parent_session_id").Exists()
	t.child = parent != nil || said || summarised.MatchString(t.session)
	switch {
	case isUnique(id):
		t.id = id
	case parent != nil:
		t.id = parent.id + "/" + short(cmp.Or(id, number))
	case isUnique(t.session):
		t.id = t.session
	case t.session != "" && len(t.session) <= maxID:
		t.id = fmt.Sprintf("%s~%016x", t.session, beginning(v))
	default:
		t.id = fmt.Sprintf("%016x", beginning(v))
	}
	if parent == nil && t.id != id && id != "" && id != t.session {
		t.id += "/" + short(id)
	}
	switch {
	case parent != nil:
		t.run = parent.run
	case p.trial != "":
		t.run = p.trial
	case isUnique(t.session):
		t.run = base(t.session)
		t.own = t.run == t.session
	default:
		t.run, t.own = t.id, true
	}
	t.derived = p.trial != "" && native[t.agent]
	if parent != nil {
		t.depth, t.derived = parent.depth+1, parent.derived
		t.agent, t.model = cmp.Or(t.agent, parent.agent), cmp.Or(t.model, parent.model)
	}
	return t
}

// short returns an id, or a checksum of one that is too long.
func short(id string) string {
	if len(id) <= maxID {
		return id
	}
	return fmt.Sprintf("%016x", checksum(id))
}

func checksum(text string) uint64 {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, text)
	return sum.Sum64()
}

// beginning returns a checksum of a trajectory up to its first answer, which stays the same as it grows.
func beginning(v jsontext.Value) uint64 {
	sum := fnv.New64a()
	sum.Write(v.Get("agent", "name").Raw())
	for s := range v.Get("steps").Items() {
		addMembers(sum, s, "source", "timestamp", "message")
		if s.Get("source").Is("agent") && s.Get("is_copied_context").Bool() != transcript.Yes {
			break
		}
	}
	return sum.Sum64()
}

func addMembers(sum hash.Hash64, step jsontext.Value, members ...string) {
	for _, m := range members {
		addValue(sum, step.Get(m))
	}
}

// addValue adds a value to a checksum, but not the white space in it: a copy may be indented otherwise.
func addValue(sum hash.Hash64, v jsontext.Value) {
	if !v.IsObject() && !v.IsArray() {
		sum.Write(v.Raw())
		return
	}
	sum.Write([]byte{v.Type()})
	for key, member := range v.Fields() {
		_, _ = io.WriteString(sum, key)
		addValue(sum, member)
	}
	for item := range v.Items() {
		addValue(sum, item)
	}
}

func (t *trajectory) end() transcript.End {
	return transcript.End{Type: "conversation", ID: t.run, Conversation: t.id}
}

// endOf returns the conversation that is called by its session or its own id in a reference; ok is false if neither is unique.
func (p *parser) endOf(session, id string) (e transcript.End, ok bool) {
	e = transcript.End{Type: "conversation", ID: p.trial, Conversation: session}
	if isUnique(id) {
		e.Conversation = id
	}
	switch {
	case !isUnique(e.Conversation):
		return e, false
	case p.trial != "":
	case isUnique(session):
		e.ID = base(session)
	default:
		e.ID = e.Conversation
	}
	return e, true
}
