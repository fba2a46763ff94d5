package vibe

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The roles of the files of a session in the unified store.
const (
	roleJournal    = "journal"    // journal/<number>.jsonl: what has changed since a generation was written
	roleChunk      = "chunk"      // chunks/<checksum>.json: a part of the history, or of what the model is sent
	roleProjection = "projection" // generations/<number>/projection-state.json: what the user sees
	roleRuntime    = "runtime"    // generations/<number>/runtime-state.json: what the session is
)

// unifiedDir is the directory in the store that has the sessions of version 3.
const unifiedDir = "unified"

var (
	unifiedID   = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z_-]{0,127}$`)
	unifiedFile = lazyregexp.New(`^(?:(journal)/[0-9]{16}\.jsonl|(chunk)s/[0-9a-f]{64}\.json|generations/[0-9]{16}/(projection|runtime)-state\.json|(meta)\.json)$`)
)

// locateUnified reads <store>/unified/<session>/<file>. The role is "" if the file is not read, the session if it is none of a session.
func locateUnified(file string) (l location, role string) {
	at := strings.LastIndex("/"+file, "/"+unifiedDir+"/")
	if at < 0 {
		return location{}, ""
	}
	up, rest := strings.TrimSuffix(file[:at], "/"), file[at+len(unifiedDir)+1:]
	session, inside, ok := strings.Cut(rest, "/")
	l = location{name: session, run: session, store: store(up), unified: path.Join(up, unifiedDir, session)}
	if !ok || !unifiedID.MatchString(session) || sessionName.MatchString(session) {
		return l, ""
	}
	if m := unifiedFile.FindStringSubmatch(inside); m != nil {
		role = cmp.Or(m[1:]...)
		l.known = true
	}
	return l, role
}

// inUnified reports whether a file is in the directory that has the unified store.
func (l location) inUnified() bool { return l.store != "" && l.unified != "" }

// detectUnified claims the files of a session of version 3.
func detectUnified(h format.Head, l location, role string) format.Claim {
	if role == "" {
		// The index of the sessions, locks, and files that are being written.
		if name := path.Base(h.Path); strings.HasPrefix(path.Base(l.unified), ".") || strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".tmp") {
			return format.Claim{Strength: format.Certain, Skip: true}
		}
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Certain, Role: role, Root: cmp.Or(l.store, l.unified)}
	known, alone := false, l.store == ""
	switch role {
	case roleJournal:
		claim.Log, known = true, format.ContainsAll(h.Bytes, "recovery_journal_record_version")
	case roleProjection:
		known = format.ContainsAll(h.Bytes, "projection_state_version")
	case roleRuntime:
		known = format.ContainsAll(h.Bytes, "session_metadata")
	case roleMeta:
		known = format.HasKeys(h.Bytes, "session_id") && (!alone || format.HasKeys(h.Bytes, "start_time"))
	case roleChunk:
		known = bytes.HasPrefix(bytes.TrimSpace(h.Bytes), []byte("["))
	}
	switch {
	case !known && alone:
		return format.Claim{}
	case !known:
		claim.Strength = format.Likely // the member may come after the head
	case alone && (role == roleMeta || role == roleChunk): // other programs have such files, too
		claim.Strength, claim.Root = format.Likely, ""
	}
	return claim
}

// history is what has been yielded of the history of a session in the unified store.
type history struct {
	seen   map[string]string // what has been yielded last of an entry, by its id
	run    *transcript.Run   // what the last state says
	sum    sum               // of the last state
	summed bool              // there was one
	model  string            // that the session changed to
	began  bool              // a conversation was yielded
	// The line that is being read has stated something of the history.
	stated bool
}

// chunk yields the entries of a chunk. Those that have the model's context have no times, and are not read.
func (p *parser) chunk() {
	doc, at := p.Document(p.in.Reader, p.problem)
	if !doc.Exists() {
		return
	}
	if !doc.IsArray() {
		p.problem(&transcript.Problem{Kind: "not a session", Reason: "no list of entries", Origin: at})
		return
	}
	p.entries(doc, doc, at)
}

// entries yields the entries of a list in a document.
func (p *parser) entries(doc, list jsontext.Value, at transcript.Origin) {
	for v := range list.Items() {
		if p.Done() {
			return
		}
		p.entry(v, jsontext.OriginIn(at, doc, v))
	}
}

// projection yields what projection-state.json states of the session, and its history if that is not in chunks.
func (p *parser) projection() {
	doc, at := p.Document(p.in.Reader, p.problem)
	if !doc.Exists() {
		return
	}
	if !doc.Get("snapshot").IsObject() {
		p.problem(&transcript.Problem{Kind: "not a session", Reason: "no snapshot", Origin: at})
		return
	}
	p.snapshot(doc, doc.Get("snapshot"), at)
	p.endHistory()
}

// snapshot yields the public state of a session.
func (p *parser) snapshot(doc, state jsontext.Value, at transcript.Origin) {
	p.envelope(doc, state, at)
	p.entries(doc, state.Get("history", "entries"), at)
}

// journal yields the changes of a journal. What is repeated in it is yielded once.
func (p *parser) journal() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		payload := o.Value.Get("payload")
		p.history.stated = false
		switch o.Value.Get("type").Word() {
		case "projection_advanced":
			p.snapshot(o.Value, payload.Get("snapshot"), o.Origin)
		case "projection_delta":
			for op := range payload.Get("delta").Items() {
				switch op.Get("op").Word() {
				case "append_entry", "replace_entry":
					entry := op.Get("entry")
					p.entry(entry, jsontext.OriginIn(o.Origin, o.Value, entry))
				case "set_history_entries":
					p.entries(o.Value, op.Get("entries"), o.Origin)
				case "set_envelope":
					p.envelope(o.Value, op.Get("state"), o.Origin)
				}
			}
		}
		if !p.history.stated {
			p.bookkeeping(o)
		}
	}
	p.endHistory()
}

// endHistory yields the run as the last state of the file describes it.
func (p *parser) endHistory() {
	if r := p.history.run; r != nil && !p.Done() {
		r.Named = !p.history.began
		p.Emit(r)
	}
}

// bookkeeping yields an uncounted row for a line that states nothing new of the history. It is found by its type: what else it says is in an entry,
// too.
func (p *parser) bookkeeping(o jsontext.Object) {
	p.lend.Reset()
	e := p.lend.Event(transcript.Event{Run: p.run, Verdict: transcript.Uncounted, Kind: transcript.KindLifecycle, Type: o.Value.Get("type").Word(), Origin: o.Origin})
	e.Parts[0] = p.lend.Part(o.Value, o.Value.Get("type"), appendText)
	p.Emit(e)
}

// envelope yields what a public state says of the session: its title, its tokens so far, and a turn that failed.
func (p *parser) envelope(doc, state jsontext.Value, at transcript.Origin) {
	session := state.Get("session")
	now := session.Get("updatedAt").MilliTime()
	r := &transcript.Run{
		ID: p.run, Rank: rankMeta + int(min(now.UnixMicro/1_000_000, math.MaxInt32-rankMeta)), Title: format.Title(session.Get("title").Str()),
		Started: session.Get("createdAt").MilliTime(), Ended: now,
	}
	if r.Title == "" {
		r.Title = format.Title(session.Get("preview").Str()) // of the first prompt
	}
	p.history.run = r
	p.unifiedUsage(session, at, now)
	if turn := state.Get("latestTurn"); turn.Get("status").Is("failed") {
		p.lend.Reset()
		e := p.entryEvent(turn, turn.Get("error"), transcript.KindError, "assistant", jsontext.OriginIn(at, doc, turn))
		e.Type, e.Time, e.Verdict = "turn", turn.Get("completedAt").MilliTime(), transcript.Uncounted
		if key := "turn " + e.ID; p.history.seen[key] == "" {
			p.history.seen[key] = "failed"
			p.begin(e.Time)
			p.history.stated = true
			p.Emit(e)
		}
	}
}

// sum is what all requests of a session have spent up to a state of it.
type sum struct{ prompt, output, cached int64 }

func (s sum) String() string {
	return strconv.FormatInt(s.prompt, 10) + "/" + strconv.FormatInt(s.output, 10)
}

// sumOf reads a sum as String writes it.
func sumOf(text string) (s sum) {
	prompt, output, _ := strings.Cut(text, "/")
	s.prompt, _ = strconv.ParseInt(prompt, 10, 64)
	s.output, _ = strconv.ParseInt(output, 10, 64)
	return s
}

// unifiedUsage yields the tokens of a request: by how much the sum of the session has grown since the state before. The first state in a file
// gives the sum itself. Resolve decides which of these count.
func (p *parser) unifiedUsage(session jsontext.Value, at transcript.Origin, now transcript.Time) {
	if !session.IsObject() {
		return
	}
	tokens := session.Get("tokenUsage")
	next := sum{tokens.Get("inputTokens").Tokens().N, tokens.Get("outputTokens").Tokens().N, tokens.Get("cachedInputTokens").Tokens().N}
	next.cached = min(next.cached, next.prompt)
	last, known := p.history.sum, p.history.summed
	p.history.sum, p.history.summed = next, true
	grown := sum{next.prompt - last.prompt, next.output - last.output, next.cached - last.cached}
	u := &transcript.Usage{Run: p.run, Time: now, Origin: at, Model: p.history.model, Attributes: transcript.Attributes{}}
	switch {
	case next == last && known, next == sum{}:
		return
	case known && min(grown.prompt-grown.cached, grown.output, grown.cached) >= 0:
		u.Key, u.Requests = p.run+" "+last.String()+" "+next.String(), transcript.Known(1)
		u.Attributes.Set("of", ofRequest)
	default:
		grown = next
		u.Key = p.run + " " + next.String()
		u.Attributes.Set("of", ofUnified)
		if p.in.Role == roleProjection {
			u.Rank = 1 // its time is that of the last request
		}
	}
	u.Input, u.Output, u.CacheRead = transcript.Known(grown.prompt-grown.cached), transcript.Known(grown.output), transcript.Known(grown.cached)
	p.history.stated = true
	p.Emit(u)
}

// resolveUnified decides what counts of a session in the unified store: the requests that lead back from its greatest sum, and the sum before the
// first of them, if it is more than nothing.
func resolveUnified(usage []*transcript.Usage) {
	sums, requests := map[string][]*transcript.Usage{}, map[string][]*transcript.Usage{} // by the sum that they lead to
	var greatest sum
	for _, u := range usage {
		fields := strings.Fields(u.Key)
		to := fields[len(fields)-1]
		if u.Verdict = transcript.DerivedTotal; u.Attributes["of"] == ofUnified {
			sums[to] = append(sums[to], u)
		} else {
			requests[to] = append(requests[to], u)
		}
		if s := sumOf(to); s.prompt+s.output > greatest.prompt+greatest.output {
			greatest = s
		}
	}
	for at := greatest.String(); ; {
		rows := requests[at]
		if len(rows) == 0 {
			for _, u := range sums[at] {
				u.Verdict = transcript.Counted
			}
			return
		}
		from := "" // of the smallest step
		for _, u := range rows {
			fields := strings.Fields(u.Key)
			if f := fields[len(fields)-2]; from == "" || sumOf(f).prompt+sumOf(f).output > sumOf(from).prompt+sumOf(from).output {
				from = f
			}
		}
		for _, u := range rows {
			if strings.HasSuffix(u.Key, " "+from+" "+at) {
				u.Verdict = transcript.Counted
			}
		}
		delete(requests, at)
		at = from
	}
}

// runtime yields what runtime-state.json states: where the session works, with which model, and what it comes from.
func (p *parser) runtime() {
	doc, at := p.Document(p.in.Reader, p.problem)
	if !doc.Exists() {
		return
	}
	if !doc.IsObject() {
		p.problem(&transcript.Problem{Kind: "not a session", Reason: "no object", Origin: at})
		return
	}
	about, identity, source := doc.Get("session_metadata"), doc.Get("identity"), doc.Get("import_provenance", "source")
	p.Emit(&transcript.Run{
		ID: p.run, Rank: rankMeta + p.generation(), Named: true, Child: identity.Get("kind").Is("subagent"), Project: about.Get("cwd").Str(),
		Model: about.Get("active_model").Str(), Agent: about.Get("agent_name").Str(),
	})
	if model := about.Get("active_model").Str(); model != "" {
		p.Hint(p.run, hintActive, fmt.Sprintf("%016d\t%s", p.generation(), model), at)
	}
	parent, kind := cmp.Or(identity.Get("parent_session_id").Str(), about.Get("parent_session_id").Str()), "fork"
	switch {
	case identity.Get("kind").Is("subagent"):
		kind = "parent"
	case source.Get("backend").Is("legacy"):
		parent, kind = runOf(source.Get("session_id").Str()), "resume"
	}
	p.unifiedLink(kind, parent, at)
}

// generation returns the number of the generation that a file is of.
func (p *parser) generation() int {
	n, _ := strconv.Atoi(strings.TrimLeft(path.Base(path.Dir(p.in.Path)), "0"))
	return n
}

// unifiedLink yields the link to the session that this one comes from, which several files state.
func (p *parser) unifiedLink(kind, parent string, at transcript.Origin) {
	if parent != "" && parent != p.run {
		p.Emit(&transcript.Link{ID: kind + " " + p.run, Kind: kind, From: transcript.RunEnd(parent), To: transcript.RunEnd(p.run), Origin: at})
	}
}

// begin yields the run and its conversation before the first entry. Files are in the order of their first entries.
func (p *parser) begin(first transcript.Time) {
	if p.history.began {
		return
	}
	p.history.began = true
	p.Emit(&transcript.Run{ID: p.run})
	p.Emit(&transcript.Conversation{ID: p.loc.name, Run: p.run, Shared: true, Order: fmt.Sprintf("%020d", max(first.UnixMicro, 0))})
}
