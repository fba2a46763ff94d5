package atif

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// How much the files of a run know about it, see transcript.Run.Rank.
const (
	rankPart   = 0 // a subagent, or a continuation
	rankWhole  = 1
	rankConfig = 2
	rankResult = 3
)

// maxNested bounds how deep trajectories nest, and so the length of their names.
const maxNested = 20

// facts is what the steps of a trajectory say about it as a whole.
type facts struct {
	title       string
	first, last transcript.Time
}

// trajectory yields the records of one trajectory and of those in it. totalled says that a total of the one that it is in counts for it.
func (p *parser) trajectory(parent *trajectory, v jsontext.Value, number string, totalled bool) {
	if !v.IsObject() || parent == nil && !isTrajectory(v) {
		p.problem(&transcript.Problem{Kind: "not a trajectory", Reason: "no object that states a version of the format", Origin: p.origin(v)})
		return
	}
	if p.cut && !isNamed(parent, v) {
		return
	}
	t := p.name(parent, v, number)
	if t.depth > maxNested {
		p.problem(&transcript.Problem{Kind: "nested too deep", Reason: "subagents of subagents of subagents", Origin: p.origin(v)})
		return
	}
	f := factsOf(v.Get("steps"))
	p.emitRun(t, v, f)
	if parent == nil {
		p.Settle(t.run)
	}
	if !v.Get("steps").IsArray() {
		p.Emit(&transcript.Problem{Run: t.run, Kind: "no steps", Reason: "the trajectory has no list of steps", Origin: p.origin(v)})
	}
	p.emitLinks(t, v)
	totalled = p.total(t, v, f.last, totalled) || totalled
	for key, member := range v.Fields() { // in the order of the file
		switch key {
		case "notes":
			p.notes(t, member)
		case "steps":
			p.steps(t, member)
		case "subagent_trajectories":
			for n, sub := range member.Numbered() {
				if p.Done() {
					return
				}
				p.trajectory(t, sub, "#"+strconv.Itoa(n+1), totalled)
			}
		}
	}
}

// isNamed reports whether what there is of a trajectory that is cut off tells which one it is: else it would be another one, and what it spent would
// count again as soon as it is whole.
func isNamed(parent *trajectory, v jsontext.Value) bool {
	if parent != nil {
		return whole(v)
	}
	session, id := v.Get("session_id"), v.Get("trajectory_id")
	return whole(session) && isUnique(session.Text()) && v.Get("steps").Exists() && (!id.Exists() || whole(id))
}

func factsOf(steps jsontext.Value) (f facts) {
	for s := range steps.Items() {
		if s.Get("is_copied_context").Bool() == transcript.Yes {
			continue
		}
		if f.title == "" && s.Get("source").Is("user") {
			f.title = format.Title(jsontext.Build(func(b []byte) []byte { return appendContent(b, s.Get("message")) }))
		}
		at := s.Get("timestamp").Time()
		if at.Valid && (!f.first.Valid || at.UnixMicro < f.first.UnixMicro) {
			f.first = at
		}
		if at.Valid && at.UnixMicro >= f.last.UnixMicro {
			f.last = at
		}
	}
	return f
}

// emitRun yields the run of a trajectory and its conversation.
func (p *parser) emitRun(t *trajectory, v jsontext.Value, f facts) {
	extra := v.Get("agent", "extra")
	version := v.Get("agent", "version").Str()
	project, branch := only(extra.First("cwd", "cwds")), only(extra.First("git_branch", "git_branches"))
	if t.parent == nil {
		r := &transcript.Run{ID: t.run, Rank: rankPart, Started: f.first, Ended: f.last}
		if !t.child || t.own {
			r.Agent, r.Model, r.Version, r.Title, r.Project, r.Branch, r.Child = t.agent, t.model, version, f.title, project, branch, t.child
		}
		if !t.child && base(t.session) == t.session {
			r.Rank = rankWhole
		}
		p.Emit(r)
	}
	c := &transcript.Conversation{
		ID: t.id, Run: t.run, Title: f.title, Agent: t.agent, Model: t.model, Version: version, Project: project, Branch: branch,
		Step: p.step, Started: f.first, Ended: f.last, Child: t.child,
	}
	c.Attributes.Set("schema", v.Get("schema_version").Str())
	if t.session != t.id && len(t.session) <= maxID {
		c.Attributes.Set("session", t.session)
	}
	c.Attributes.Set("continued_in", v.Get("continued_trajectory_ref").Str())
	if t.derived {
		c.Attributes.Set("converted", true)
	}
	p.Emit(c)
}

// only returns a string, or the string that is all of a list.
func only(v jsontext.Value) (s string) {
	if !v.IsArray() {
		return v.Str()
	}
	for item := range v.Items() {
		if s != "" {
			return ""
		}
		s = item.Str()
	}
	return s
}

// emitLinks yields the links of a trajectory to the one that it is a part of, and to the one that it continues.
func (p *parser) emitLinks(t *trajectory, v jsontext.Value) {
	link := func(kind string, from transcript.End) {
		if from != t.end() {
			p.Emit(&transcript.Link{Kind: kind, From: from, To: t.end(), Origin: p.origin(v)})
		}
	}
	if t.parent != nil {
		link("parent", t.parent.end())
		return
	}
	if above := v.Get("agent", "extra", "parent_session_id").Str(); above != "" {
		if from, ok := p.endOf(above, ""); ok {
			link("parent", from)
		}
	}
	if m := continued.FindStringSubmatch(t.session); m != nil {
		before := m[1]
		if n, _ := strconv.Atoi(m[2]); n > 1 {
			before += "-cont-" + strconv.Itoa(n-1)
		}
		if from, ok := p.endOf(before, ""); ok {
			link("resume", from)
		}
	}
}

// emitRefs yields links to the subagents that a result names in other files. Those in the same document state their links themselves.
func (p *parser) emitRefs(t *trajectory, result jsontext.Value, at transcript.Time) {
	refs := result.Get("subagent_trajectory_ref")
	one := func(ref jsontext.Value) {
		to, ok := p.endOf(ref.Get("session_id").Str(), ref.Get("trajectory_id").Str())
		if !ok || to == t.end() {
			return
		}
		if to.ID != t.run {
			p.Emit(&transcript.Run{ID: to.ID, Named: true, Child: true})
		}
		p.Emit(&transcript.Link{Kind: "parent", From: t.end(), To: to, Time: at, Origin: p.origin(ref)})
	}
	if refs.IsObject() {
		one(refs)
	}
	for ref := range refs.Items() {
		one(ref)
	}
}

// notes yields what the producer notes about a trajectory.
func (p *parser) notes(t *trajectory, v jsontext.Value) {
	if v.IsBlank() || p.cut && !whole(v) {
		return
	}
	p.lend.Reset()
	e := p.lend.Event(transcript.Event{Run: t.run, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: "notes", Origin: p.origin(v)})
	e.Parts[0] = p.lend.Part(v, v, appendPiece)
	p.Emit(e)
}

// whole reports whether a value of a document that is not valid to its end is.
func whole(v jsontext.Value) bool {
	_, err := jsontext.Parse(v.Raw())
	return err == nil
}

// steps yields the records of all steps.
func (p *parser) steps(t *trajectory, all jsontext.Value) {
	for n, v := range all.Numbered() {
		switch {
		case p.Done():
			return
		case p.cut && !whole(v):
		case !v.IsObject():
			p.Emit(&transcript.Problem{Run: t.run, Kind: "not a step", Reason: "a JSON value of another type", Origin: p.origin(v)})
		default:
			p.oneStep(t, v, cmp.Or(short(v.Get("step_id").Text()), "#"+strconv.Itoa(n+1)))
		}
	}
}
