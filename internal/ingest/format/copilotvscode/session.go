package copilotvscode

import (
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// document yields the records of a session that is one JSON object.
func (p *parser) document() {
	if p.whole, p.at = p.Document(p.in.Reader, p.problem); !p.whole.Exists() {
		return
	}
	requests := p.whole.Get("requests")
	if !p.whole.IsObject() || !requests.IsArray() && !p.whole.Get("sessionId").IsString() {
		p.problem(&transcript.Problem{Kind: "not a session", Reason: "no requests and no sessionId", Origin: p.at})
		return
	}
	p.export(requests)
	p.about(p.whole)
	p.add(requests)
	p.mark(p.turns, requests)
}

// about reads what a session says of itself.
func (p *parser) about(v format.Value) {
	p.name(v.Get("sessionId").Str())
	for key, m := range v.Fields() {
		p.header(key, m)
	}
}

// header is one member of a session.
func (p *parser) header(key string, v format.Value) {
	switch key {
	case "creationDate":
		p.created, _ = v.Int()
	case "customTitle", "computedTitle":
		if title := format.Title(v.Str()); title != "" {
			p.is.Title, p.named = title, true
		}
	case "responderUsername":
		p.is.Agent = v.Str()
	case "initialLocation":
		p.facts.Set("location", v.Str())
	case "workingDirectory":
		if dir := format.FileURI(v.Str()); dir != "" {
			p.is.Project = dir
		}
	case "repoData":
		p.is.Branch = v.Get("localBranch").Str()
		p.facts.Set("repository", v.Get("remoteUrl").Str())
		p.facts.Set("commit", v.Get("localHeadCommit").Str())
	}
}

// log yields the records of a session that is a log of changes.
func (p *parser) log() {
	for o := range p.Each(format.Objects(p.in.Reader, "", p.problem)) {
		p.whole, p.at, p.told = o.Value, o.Origin, false
		c := readChange(o.Value)
		if c.kind == isSession {
			p.name(c.value.Get("sessionId").Str())
		}
		p.name("")
		if p.change(c); !p.told {
			kind := transcript.KindLifecycle
			if c.kind == isUnknown {
				kind = transcript.KindUnknown
			}
			p.row(kind, c.typ(), transcript.Time{}, o.Value)
		}
	}
}

// The kinds of changes.
const (
	isSession = 0 // as it is now
	isSet     = 1
	isPush    = 2
	isDelete  = 3
	isUnknown = -1
)

// change is one line of a log.
type change struct {
	kind  int
	path  []step
	value format.Value
	from  int // what stands there and behind is cut off before values are pushed; -1 for nothing
}

// step is a key or an index on the way to what is changed.
type step struct {
	key string
	n   int // -1 for a key
}

func readChange(v format.Value) change {
	c := change{kind: isUnknown, value: v.Get("v"), from: -1}
	if n, ok := v.Get("kind").Int(); ok && n >= isSession && n <= isDelete {
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
	if c.kind == isSession && !c.value.IsObject() || c.kind > isSession && len(c.path) == 0 {
		c.kind = isUnknown
	}
	return c
}

// typ is what a row of a change is called: what it does, and to what.
func (c *change) typ() string {
	var b strings.Builder
	b.WriteString(map[int]string{isSession: "session", isSet: "set", isPush: "push", isDelete: "delete"}[c.kind])
	for _, s := range c.path[:min(len(c.path), 3)] {
		if s.n < 0 && b.Len() > 0 {
			b.WriteByte(' ')
			b.WriteString(s.key[:min(len(s.key), 40)])
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// change applies a change, and yields the events that it brings.
func (p *parser) change(c change) {
	switch {
	case c.kind == isUnknown:
	case c.kind == isSession:
		p.about(c.value)
		p.replace(0, c.value.Get("requests"))
	case c.path[0].key == "requests":
		p.requests(c)
	case c.kind == isSet && len(c.path) == 1:
		p.header(c.path[0].key, c.value)
	}
}

// requests is a change of the list of requests, or of one of them.
func (p *parser) requests(c change) {
	if len(c.path) == 1 {
		if c.from < 0 || c.from > len(p.turns) {
			c.from = len(p.turns)
		}
		if c.kind != isPush {
			c.from = 0
		}
		p.replace(c.from, c.value)
		return
	}
	n := c.path[1].n
	if n < 0 || n >= len(p.turns) {
		return // of a request that nothing has told
	}
	t := p.turns[n]
	if len(c.path) == 2 {
		if c.kind == isSet && c.value.IsObject() {
			p.takeBack(t, t.all(), p.planned(n, c.value))
			p.within(c.value, func() { p.turns[n] = p.request(n, c.value) })
		}
		return
	}
	switch key := c.path[2].key; {
	case key == "response":
		p.response(t, c)
	case c.kind == isDelete || !c.value.Exists():
	case key == "message" && (len(c.path) == 3 || len(c.path) == 4 && c.path[3].key == "text"):
		p.within(c.value, func() { t.own = append(t.own, p.ids(func() { p.prompt(t, c.value) })...) })
	case key == "result" && len(c.path) == 3:
		p.within(c.value, func() {
			t.readResult(c.value)
			p.note(t)
			p.outcome(t, c.value, false)
			p.usage(t, c.value)
		})
	case len(c.path) == 3:
		t.read(key, c.value)
		p.note(t)
		if spends[key] {
			p.within(c.value, func() { p.usage(t, c.value) })
		}
	}
}

// response is a change of the answer to a request.
func (p *parser) response(t *turn, c change) {
	from := len(t.parts)
	switch {
	case len(c.path) > 3:
		return // the program does not write it
	case c.kind != isPush:
		from = 0
	case c.from >= 0 && c.from < from:
		from = c.from
	}
	told, parts := t.from(from), slices.Collect(c.value.Items())
	t.parts = t.parts[:from]
	if len(told) > 0 {
		p.takeBack(t, told, p.dry(func() { p.answer(t, parts) }))
		t.parts = t.parts[:from]
	}
	p.within(c.value, func() {
		p.pushed = true
		p.answer(t, parts)
		p.pushed = false
	})
}

// replace puts requests where others stood, which are taken back.
func (p *parser) replace(from int, requests format.Value) {
	if old := p.turns[from:]; len(old) > 0 {
		again := map[string]format.Value{}
		for v := range requests.Items() {
			again[v.Get("requestId").Str()] = v
		}
		for i, t := range old {
			var planned []string
			if v, ok := again[t.id]; ok {
				planned = p.planned(from+i, v)
			}
			p.takeBack(t, t.all(), planned)
		}
	}
	p.turns = p.turns[:from]
	p.add(requests)
	p.mark(p.turns[from:], requests)
}

// add yields the events of requests.
func (p *parser) add(requests format.Value) {
	for v := range requests.Items() {
		n := len(p.turns)
		p.within(v, func() { p.turns = append(p.turns, p.request(n, v)) })
		if p.Done() {
			return
		}
	}
}

// within has values cut from v alone, which is a part of what they are cut from now.
func (p *parser) within(v format.Value, do func()) {
	at, whole := p.at, p.whole
	p.frame(v)
	do()
	p.at, p.whole = at, whole
}

// planned gives the ids of the events that a request has.
func (p *parser) planned(n int, v format.Value) []string {
	var t *turn
	p.dry(func() { t = p.request(n, v) })
	return t.all()
}

// workspace yields what directory was open where the sessions of a group were had.
func (p *parser) workspace() {
	p.session = path.Base(path.Dir(p.in.Path))
	v, _ := p.Document(p.in.Reader, p.problem)
	dir := format.FileURI(v.Get("folder").Str())
	if dir == "" {
		dir = format.FileURI(v.Get("workspace").Str())
	}
	p.Emit(&transcript.Run{ID: p.session, Named: true, Group: p.session, Project: dir})
}
