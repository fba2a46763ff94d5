package awf

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// conversation is what a transcript has told so far of one of its runs.
type conversation struct {
	id, run   string
	named     bool // the lines name no run: the file's name stands in
	flow      string
	first     transcript.Time
	last      transcript.Time
	steps     steps
	anonymous int // calls without an id
}

// reader reads one transcript file. A mirror may hold the events of several runs, so everything is kept per run.
type reader struct {
	in     format.Input
	out    *output
	runs   map[string]*conversation
	order  []*conversation
	linked map[[2]string]bool
	named  []string // runs that links name, in the order of the file

	early format.Early
}

func parseTranscript(in format.Input, out *output) error {
	r := &reader{in: in, out: out, runs: map[string]*conversation{}, linked: map[[2]string]bool{}}
	for o, err := range format.Objects(in.Reader, "", r.problem) {
		if err != nil {
			return err
		}
		if out.stopped {
			return nil
		}
		r.line(o)
	}
	r.early.Settle("", r.out.give)
	r.end()
	return nil
}

// problem tells of a bad line, which most likely belongs to the run of the line before, and where none is before to that of the
// first: in a mirror it is the same one.
func (r *reader) problem(p *transcript.Problem) {
	n := len(r.order)
	if n == 0 && r.early.Add(p) {
		return
	}
	if n > 0 {
		p.Run = r.order[n-1].run
	}
	r.out.give(p)
}

func (r *reader) line(o format.Object) {
	l := readLine(o)
	c := r.conversation(l)
	c.saw(l.now)
	if c.flow == "" && l.class() == "message" {
		c.flow = l.path.Str()
	}
	r.links(c, l)
	c.steps.line(c, l, r.out)
	r.out.give(event(c, l))
}

// conversation finds the run of a line; a line that names none goes with the one before.
func (r *reader) conversation(l *line) *conversation {
	run := l.run.Text()
	named := false
	if run == "" {
		if n := len(r.order); n > 0 {
			return r.order[n-1]
		}
		run, named = strings.TrimSuffix(path.Base(r.in.Path), ".jsonl"), true
	}
	if c := r.runs[run]; c != nil {
		return c
	}
	c := &conversation{id: run + "/" + beginning(l), run: run, named: named}
	r.runs[run] = c
	r.order = append(r.order, c)
	r.out.give(&transcript.Run{ID: run, Rank: rankTranscript, Started: l.now, Named: named})
	r.out.give(&transcript.Conversation{ID: c.id, Run: run, Started: l.now})
	r.early.Settle(run, r.out.give)
	return c
}

// beginning tells one transcript of a run from another: mirrors begin with the same line, a resumed run does not,
// not even where a coarse clock gives both first lines one time.
func beginning(l *line) string {
	sum := sha256.Sum256(l.raw.Raw())
	return cmp.Or(l.at.Text(), l.seq.Text()+" "+l.kind) + "/" + hex.EncodeToString(sum[:4])
}

// saw moves the ends of a run. Neighbouring lines of parallel steps may swap, so the last line need not be the
// latest.
func (c *conversation) saw(t transcript.Time) {
	if !t.Valid {
		return
	}
	if !c.first.Valid || t.UnixMicro < c.first.UnixMicro {
		c.first = t
	}
	if !c.last.Valid || t.UnixMicro >= c.last.UnixMicro {
		c.last = t
	}
}

// links tells the edges that a line states from either side, each once a file.
func (r *reader) links(c *conversation, l *line) {
	tell := func(parent, child, other string) *transcript.Link {
		pair := [2]string{parent, child}
		if other == "" || r.linked[pair] {
			return nil
		}
		r.linked[pair] = true
		r.named = append(r.named, other)
		made := link(parent, child)
		made.Origin, made.Time = l.origin, l.now
		return made
	}
	parent, child := l.parent.Str(), l.child.Str()
	if made := tell(parent, c.run, parent); made != nil {
		r.out.give(made)
	}
	if made := tell(c.run, child, child); made != nil {
		made.Attributes = transcript.Attributes{"step": l.stepName()}
		r.out.give(made)
	}
}

// end tells what only the whole file says.
func (r *reader) end() {
	for _, c := range r.order {
		r.out.give(&transcript.Run{
			ID: c.run, Rank: rankTranscript, Group: c.flow, Flow: c.flow, Started: c.first, Ended: c.last, Named: c.named,
		})
		r.out.give(&transcript.Conversation{ID: c.id, Run: c.run, Flow: c.flow, Started: c.first, Ended: c.last})
	}
	for _, id := range r.named {
		if r.runs[id] == nil {
			r.runs[id] = &conversation{}
			r.out.give(&transcript.Run{ID: id, Named: true})
		}
	}
}
