package copilotvscode

import (
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// document yields the records of a session that is one JSON document.
func (p *parser) document() {
	if p.base, p.baseOrigin = p.Document(p.in.Reader, p.problem); !p.base.Exists() {
		return
	}
	requests := p.base.Get("requests")
	if !p.base.IsObject() || !requests.IsArray() && !p.base.Get("sessionId").IsString() {
		p.problem(&transcript.Problem{Kind: "not a session", Reason: "no requests and no sessionId", Origin: p.baseOrigin})
		return
	}
	p.detectExport(requests)
	p.readSession(p.base)
	p.addRequests(requests)
	p.markTurns(p.turns, requests)
}

// readSession reads the members of a session.
func (p *parser) readSession(v jsontext.Value) {
	p.setSession(v.Get("sessionId").Str())
	for key, m := range v.Fields() {
		p.readMember(key, m)
	}
}

// readMember reads one member of a session.
func (p *parser) readMember(key string, v jsontext.Value) {
	switch key {
	case "creationDate":
		p.created, _ = v.Int()
	case "customTitle", "computedTitle":
		if title := format.Title(v.Str()); title != "" {
			p.conv.Title, p.hasTitle = title, true
		}
	case "responderUsername":
		p.conv.Agent = v.Str()
	case "initialLocation":
		p.facts.Set("location", v.Str())
	case "workingDirectory":
		if dir := format.FileURI(v.Str()); dir != "" {
			p.conv.Project = dir
		}
	case "repoData":
		p.conv.Branch = v.Get("localBranch").Str()
		p.facts.Set("repository", v.Get("remoteUrl").Str())
		p.facts.Set("commit", v.Get("localHeadCommit").Str())
	}
}

// log yields the records of a session that is a log of changes.
func (p *parser) log() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.base, p.baseOrigin, p.emitted = o.Value, o.Origin, false
		c := readChange(o.Value)
		if c.kind == changeInitial {
			p.setSession(c.value.Get("sessionId").Str())
		}
		p.setSession("")
		if p.applyChange(c); !p.emitted {
			kind := transcript.KindLifecycle
			if c.kind == changeUnknown {
				kind = transcript.KindUnknown
			}
			p.sessionRow(kind, c.typ(), transcript.Time{}, o.Value)
		}
	}
}

// The kinds of changes, as written.
const (
	changeInitial = 0 // the whole session
	changeSet     = 1
	changePush    = 2
	changeDelete  = 3
	changeUnknown = -1
)

// change is one line of a log.
type change struct {
	kind  int
	path  []step
	value jsontext.Value
	from  int // the array is truncated here before values are pushed; -1 for not at all
}

// step is a key or an index in the path of a change.
type step struct {
	key string
	n   int // -1 for a key
}

func readChange(v jsontext.Value) change {
	c := change{kind: changeUnknown, value: v.Get("v"), from: -1}
	if n, ok := v.Get("kind").Int(); ok && n >= changeInitial && n <= changeDelete {
		c.kind = int(n)
	}
	if n, ok := v.Get("i").Int(); ok && n >= 0 && n < 1<<31 {
		c.from = int(n)
	}
	for s := range v.Get("k").Items() {
		if n, ok := s.Int(); ok && n >= 0 && n < 1<<31 {
			c.path = append(c.path, step{n: int(n)})
			continue
		}
		c.path = append(c.path, step{s.Str(), -1})
	}
	if c.kind == changeInitial && !c.value.IsObject() || c.kind > changeInitial && len(c.path) == 0 {
		c.kind = changeUnknown
	}
	return c
}

// typ returns the native type of a change's row: the kind of change and the path.
func (c *change) typ() string {
	var b strings.Builder
	b.WriteString(map[int]string{changeInitial: "session", changeSet: "set", changePush: "push", changeDelete: "delete"}[c.kind])
	for _, s := range c.path[:min(len(c.path), 3)] {
		if s.n < 0 && b.Len() > 0 {
			b.WriteByte(' ')
			b.WriteString(s.key[:min(len(s.key), 40)])
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// applyChange applies a change and yields the resulting events.
func (p *parser) applyChange(c change) {
	switch {
	case c.kind == changeUnknown:
	case c.kind == changeInitial:
		p.readSession(c.value)
		p.replaceRequests(0, c.value.Get("requests"))
	case c.path[0].key == "requests":
		p.changeRequests(c)
	case c.kind == changeSet && len(c.path) == 1:
		p.readMember(c.path[0].key, c.value)
	}
}

// changeRequests applies a change to the list of requests, or to one of them.
func (p *parser) changeRequests(c change) {
	if len(c.path) == 1 {
		if c.from < 0 || c.from > len(p.turns) {
			c.from = len(p.turns)
		}
		if c.kind != changePush {
			c.from = 0
		}
		p.replaceRequests(c.from, c.value)
		return
	}
	n := c.path[1].n
	if n < 0 || n >= len(p.turns) {
		return // a request that no line has stated
	}
	t := p.turns[n]
	if len(c.path) == 2 {
		if c.kind == changeSet && c.value.IsObject() {
			p.retract(t, t.eventIDs(), p.plannedIDs(n, c.value))
			p.withBase(c.value, func() { p.turns[n] = p.request(n, c.value) })
		}
		return
	}
	switch key := c.path[2].key; {
	case key == "response":
		p.changeResponse(t, c)
	case c.kind == changeDelete || !c.value.Exists():
	case key == "message" && (len(c.path) == 3 || len(c.path) == 4 && c.path[3].key == "text"):
		p.withBase(c.value, func() { t.ownIDs = append(t.ownIDs, p.collectIDs(func() { p.prompt(t, c.value) })...) })
	case key == "result" && len(c.path) == 3:
		p.withBase(c.value, func() {
			t.readResult(c.value)
			p.applyTurn(t)
			p.resultEvents(t, c.value, false)
			p.usage(t, c.value)
		})
	case len(c.path) == 3:
		t.readMember(key, c.value)
		p.applyTurn(t)
		if usageMembers[key] {
			p.withBase(c.value, func() { p.usage(t, c.value) })
		}
	}
}

// changeResponse applies a change to the answer of a request.
func (p *parser) changeResponse(t *turn, c change) {
	from := len(t.parts)
	switch {
	case len(c.path) > 3:
		return // VS Code does not write such changes
	case c.kind != changePush:
		from = 0
	case c.from >= 0 && c.from < from:
		from = c.from
	}
	emitted, parts := t.eventIDsFrom(from), slices.Collect(c.value.Items())
	t.parts = t.parts[:from]
	if len(emitted) > 0 {
		p.retract(t, emitted, p.dryRunIDs(func() { p.answerParts(t, parts) }))
		t.parts = t.parts[:from]
	}
	p.withBase(c.value, func() {
		p.pushed = true
		p.answerParts(t, parts)
		p.pushed = false
	})
}

// replaceRequests replaces the requests from an index on, and retracts those that are gone.
func (p *parser) replaceRequests(from int, requests jsontext.Value) {
	if old := p.turns[from:]; len(old) > 0 {
		replacements := map[string]jsontext.Value{}
		for v := range requests.Items() {
			replacements[v.Get("requestId").Str()] = v
		}
		for i, t := range old {
			var planned []string
			if v, ok := replacements[t.id]; ok {
				planned = p.plannedIDs(from+i, v)
			}
			p.retract(t, t.eventIDs(), planned)
		}
	}
	p.turns = p.turns[:from]
	p.addRequests(requests)
	p.markTurns(p.turns[from:], requests)
}

// addRequests yields the events of requests.
func (p *parser) addRequests(requests jsontext.Value) {
	for v := range requests.Items() {
		n := len(p.turns)
		p.withBase(v, func() { p.turns = append(p.turns, p.request(n, v)) })
		if p.Done() {
			return
		}
	}
}

// withBase calls do with v, a part of base, as the base.
func (p *parser) withBase(v jsontext.Value, do func()) {
	at, whole := p.baseOrigin, p.base
	p.setBase(v)
	do()
	p.baseOrigin, p.base = at, whole
}

// plannedIDs returns the ids of the events that a request will have.
func (p *parser) plannedIDs(n int, v jsontext.Value) []string {
	var t *turn
	p.dryRunIDs(func() { t = p.request(n, v) })
	return t.eventIDs()
}

// workspace yields the open folder as the project of a group of sessions.
func (p *parser) workspace() {
	p.session = path.Base(path.Dir(p.in.Path))
	v, _ := p.Document(p.in.Reader, p.problem)
	dir := format.FileURI(v.Get("folder").Str())
	if dir == "" {
		dir = format.FileURI(v.Get("workspace").Str())
	}
	p.Emit(&transcript.Run{ID: p.session, Named: true, Group: p.session, Project: dir})
}
