package codex

import (
	"fmt"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// sessionMeta is the head of a thread.
type sessionMeta struct {
	id, cwd, version, originator, provider string
	source, threadSource                   string
	forkedFrom, parent                     string
	subagent                               bool
	role, nickname, path                   string
	branch, commit, repository             string
	started, written                       transcript.Time
	hasBase                                bool   // the history before this file is in another one, so nothing is copied
	base                                   string // thread of that file
	baseEnd, ownFrom                       transcript.Count
}

func readMeta(v jsontext.Value) (m sessionMeta) {
	for key, f := range v.Fields() {
		switch key {
		case "id":
			m.id = f.Str()
		case "timestamp":
			m.started = f.Time()
		case "cwd":
			m.cwd = f.Str()
		case "cli_version":
			m.version = f.Str()
		case "originator":
			m.originator = f.Str()
		case "model_provider":
			m.provider = f.Str()
		case "history_base":
			m.hasBase, m.base, m.baseEnd = f.IsObject(), f.Get("thread_id").Str(), f.Get("end_ordinal_exclusive").Count()
		case "subagent_history_start_ordinal":
			m.ownFrom = f.Count()
		case "forked_from_id":
			m.forkedFrom = f.Str()
		case "thread_source":
			m.threadSource = f.Str()
		case "parent_thread_id":
			m.parent = f.Str()
		case "agent_role":
			m.role = f.Str()
		case "agent_nickname":
			m.nickname = f.Str()
		case "agent_path":
			m.path = f.Str()
		case "source":
			m.readSource(f)
		case "git":
			m.branch, m.commit, m.repository = f.Get("branch").Str(), f.Get("commit_hash").Str(), f.Get("repository_url").Str()
		}
	}
	if m.subagent = m.subagent || m.threadSource == "subagent"; !m.subagent {
		m.parent = ""
	}
	return m
}

// readSource reads who started the thread: a word, or {"subagent": "review"}, or {"subagent": {"thread_spawn": {...}}}.
func (m *sessionMeta) readSource(v jsontext.Value) {
	if m.source = v.Str(); !v.IsObject() {
		return
	}
	sub := v.Get("subagent")
	if m.subagent = sub.Exists(); !m.subagent {
		return
	}
	m.source = "subagent"
	if m.role == "" {
		m.role = sub.Str()
	}
	spawn := sub.Get("thread_spawn")
	if id := spawn.Get("parent_thread_id").Str(); id != "" {
		m.parent = id
	}
	if role := spawn.Get("agent_role").Str(); role != "" {
		m.role = role
	}
	if name := spawn.Get("agent_nickname").Str(); name != "" {
		m.nickname = name
	}
	if path := spawn.Get("agent_path").Str(); path != "" {
		m.path = path
	}
}

// meta processes a head. The first one is the thread's own, even after other lines, unless the file's name is another
// thread's. Others came with history that was copied from the threads that they name.
func (p *parser) meta(e *transcript.Event, v jsontext.Value) {
	e.Kind = transcript.KindLifecycle
	late := p.thread != ""
	if head := readMeta(v); !p.headRead && (!late || head.id == p.thread || !p.fromFileName) {
		p.headRead, p.meter.inherits = true, head.hasBase
		head.written = e.Time
		if p.head = head; p.in.Role == roleWhole {
			p.head.started = transcript.Time{} // it is when the file was written
		} else if !head.started.Valid {
			p.head.started = e.Time
		}
		if p.begin(&e.Origin); late {
			p.emitHeader(&e.Origin)
		}
		if head.ownFrom.Known && e.Seq.Known && !p.isContinuation() {
			p.inherits = true
			p.Hint(p.thread, hintInherits, "yes", e.Origin)
		}
		return
	}
	if id := v.Get("id").Str(); id != "" && id == p.head.parent {
		p.replay(e)
	}
}

// replay records, once, that lines of a subagent's parent come first.
func (p *parser) replay(e *transcript.Event) {
	if !p.replays && !p.isContinuation() {
		p.replays = true
		p.Hint(p.thread, hintReplay, p.head.parent, e.Origin)
	}
}

// began notes the turn that a line begins. One from before the thread is its parent's.
func (p *parser) began(e *transcript.Event, turn string) {
	if p.head.parent != "" && precedes(turn, p.thread) {
		p.replay(e)
	}
}

// begin sets the thread and yields run and conversation, once. at is the line that requires them, nil at the end of a file
// without one.
func (p *parser) begin(at *transcript.Origin) {
	if p.thread != "" {
		return
	}
	if p.thread = p.head.id; p.thread == "" {
		p.thread = threadOf(p.in.Path)
		p.fromFileName = threadID.MatchString(p.thread)
	}
	p.conversation = p.thread
	if m := continuationName.FindStringSubmatch(path.Base(p.in.Path)); m != nil && m[1] == p.thread && m[2] != p.thread {
		p.conversation += "_" + m[2]
	} else if p.head.hasBase && p.head.base == p.thread {
		p.conversation += fmt.Sprintf("_%d.%d", p.head.baseEnd.N, p.head.written.UnixMicro)
	}
	p.emitHeader(at)
}

// isContinuation reports whether the file is not the first of its thread. Going back in a thread starts a further file, and
// so does a long thread; it begins where the previous one was left.
func (p *parser) isContinuation() bool { return p.conversation != p.thread }

// emitHeader yields run and conversation as the head describes them.
func (p *parser) emitHeader(at *transcript.Origin) {
	m := &p.head
	attrs := transcript.Attributes{}
	for key, value := range map[string]string{
		"originator": m.originator, "source": m.source, "provider": m.provider, "commit": m.commit,
		"repository": m.repository, "nickname": m.nickname, "forked_from": m.forkedFrom,
	} {
		attrs.Set(key, value)
	}
	child := m.parent != "" && m.parent != p.thread
	rank := 1
	if p.isContinuation() {
		rank = 0
	}
	p.Emit(&transcript.Run{
		ID: p.thread, Rank: rank, Project: m.cwd, Branch: m.branch, Agent: m.role, Version: m.version,
		Started: m.started, Child: child, Attributes: attrs,
	})
	p.Emit(&transcript.Conversation{
		ID: p.conversation, Run: p.thread, Project: m.cwd, Branch: m.branch, Agent: m.role,
		Version: m.version, Started: m.started, Child: child,
	})
	if m.subagent && m.path != "" {
		p.name(format.Title(path.Base(m.path))) // its task; its prompt is encrypted
	}
	if at == nil {
		return
	}
	if child {
		p.link("parent", m.parent, p.thread, *at, false)
	}
	if m.forkedFrom != "" && m.forkedFrom != p.thread {
		if !m.hasBase && !p.isContinuation() {
			p.Hint(p.thread, hintFork, m.forkedFrom, *at)
		}
		if m.forkedFrom != m.parent {
			p.link("fork", m.forkedFrom, p.thread, *at, false)
		}
	}
}

func (p *parser) link(kind, from, to string, at transcript.Origin, uncounted bool) {
	p.Emit(&transcript.Link{
		Kind: kind, From: transcript.RunEnd(from), To: transcript.RunEnd(to),
		Origin: at, Uncounted: uncounted,
	})
}

// request precedes the user's own words in prompts from editor extensions.
const request = "## My request for Codex:"

// title sets the thread's title from its first prompt.
func (p *parser) title(text string) {
	if p.hasTitle {
		return
	}
	if _, own, ok := strings.Cut(text, request); ok {
		text = own
	}
	if text = format.Title(text); text != "" {
		p.name(text)
	}
}

func (p *parser) name(title string) {
	p.hasTitle = true
	p.begin(nil)
	p.Emit(&transcript.Run{ID: p.thread, Title: title})
	p.Emit(&transcript.Conversation{ID: p.conversation, Run: p.thread, Title: title})
}
