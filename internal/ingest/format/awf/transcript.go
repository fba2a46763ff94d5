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
	span      span
	whole     *span // of all attempts of the run in this file
	steps     steps
	anonymous int    // calls without an id
	early     uint64 // which of the first numbers its lines have had
	seq       int64  // of the line before
}

// span is from when to when something went on.
type span struct{ first, last transcript.Time }

// reader reads one transcript file. A mirror may hold the events of several runs, so everything is kept per run.
type reader struct {
	in     format.Input
	out    *format.Sink
	runs   map[string]*conversation
	order  []*conversation
	linked map[[2]string]bool
	named  []string // runs that links name, in the order of the file
}

func parseTranscript(in format.Input, out *format.Sink) {
	r := &reader{in: in, out: out, runs: map[string]*conversation{}, linked: map[[2]string]bool{}}
	for o := range out.Each(format.Objects(in.Reader, "", r.problem)) {
		r.line(o)
	}
	r.out.Settle("")
	r.end()
}

// problem tells of a bad line, which most likely belongs to the run of the line before, and where none is before to that of the
// first: in a mirror it is the same one.
func (r *reader) problem(p *transcript.Problem) {
	run := ""
	if n := len(r.order); n > 0 {
		run = r.order[n-1].run
	}
	r.out.Problem(run, p)
}

func (r *reader) line(o format.Object) {
	l := readLine(o)
	c := r.conversation(l)
	c.span.saw(l.now)
	c.whole.saw(l.now)
	c.counts(l)
	if c.flow == "" && l.class() == "message" {
		c.flow = l.path.Str()
	}
	r.links(c, l)
	c.steps.line(c, l, r.out)
	r.out.Emit(event(c, l))
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
	before := r.runs[run]
	if before != nil {
		before.named = named // a line names now what one without a run_id was taken for
		if !before.beginsAgain(l) {
			return before
		}
	}
	c := &conversation{id: run + "/" + beginning(l), run: run, named: named, whole: new(span)}
	if before != nil {
		if before.id == c.id {
			return before
		}
		c.whole = before.whole
	}
	r.runs[run] = c
	r.order = append(r.order, c)
	if before == nil {
		r.out.Emit(&transcript.Run{ID: run, Rank: rankTranscript, Started: l.now})
	}
	r.out.Emit(&transcript.Conversation{ID: c.id, Run: run, Started: l.now})
	r.out.Settle(run)
	return c
}

// counts takes note of a line's number.
func (c *conversation) counts(l *line) {
	if seq := l.seq.Count(); seq.Known {
		c.seq = seq.N
		c.early |= early(seq.N)
	}
}

// beginsAgain says that a line is the first of another attempt of the run: a resumed run counts from 1 again, and one mirror may have
// both. Neighbours may be swapped, so it is a number that has been there.
func (c *conversation) beginsAgain(l *line) bool {
	seq := l.seq.Count()
	return seq.Known && seq.N < c.seq && c.early&early(seq.N) != 0
}

func early(seq int64) uint64 {
	if seq < 0 || seq > 63 {
		return 0
	}
	return 1 << seq
}

// beginning tells one transcript of a run from another: mirrors begin with the same line, a resumed run does not,
// not even where a coarse clock gives both first lines one time.
func beginning(l *line) string {
	sum := sha256.Sum256(l.raw.Raw())
	return cmp.Or(l.at.Text(), l.seq.Text()+" "+l.kind) + "/" + hex.EncodeToString(sum[:4])
}

// saw moves the ends. Neighbouring lines of parallel steps may swap, so the last line need not be the
// latest.
func (s *span) saw(t transcript.Time) {
	if !t.Valid {
		return
	}
	if !s.first.Valid || t.UnixMicro < s.first.UnixMicro {
		s.first = t
	}
	if !s.last.Valid || t.UnixMicro >= s.last.UnixMicro {
		s.last = t
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
		r.out.Emit(made)
	}
	if made := tell(c.run, child, child); made != nil {
		made.Attributes = transcript.Attributes{"step": l.stepName()}
		r.out.Emit(made)
	}
}

// end tells what only the whole file says.
func (r *reader) end() {
	for _, c := range r.order {
		r.out.Emit(&transcript.Run{
			ID: c.run, Rank: rankTranscript, Group: c.flow, Flow: c.flow, Started: c.whole.first, Ended: c.whole.last, Named: c.named, Guess: c.named,
		})
		r.out.Emit(&transcript.Conversation{ID: c.id, Run: c.run, Flow: c.flow, Started: c.span.first, Ended: c.span.last})
	}
	for _, id := range r.named {
		if r.runs[id] == nil {
			r.runs[id] = &conversation{}
			r.out.Emit(&transcript.Run{ID: id, Named: true})
		}
	}
}
