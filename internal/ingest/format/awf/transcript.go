package awf

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// conversation is the state of one run while its transcript is read.
type conversation struct {
	id, run        string
	fromFileName   bool // no line has named a run yet: the id comes from the file name
	flow           string
	span           span
	runSpan        *span // over all attempts of the run in this file
	steps          steps
	callsWithoutID int    // number of calls without an id
	seenSeqs       uint64 // bit set of the seq values below 64 seen so far
	seq            int64  // of the previous line
}

// span is a time range.
type span struct{ first, last transcript.Time }

// reader reads one transcript file. A mirror may hold the events of several runs, so the state is kept per run.
type reader struct {
	in          format.Input
	out         *format.Sink
	runs        map[string]*conversation
	order       []*conversation
	linked      map[[2]string]bool
	linkTargets []string       // runs that are the other end of a link, in file order
	seen        map[uint64]int // how many lines there were of each id
	buffer      []byte
}

func parseTranscript(in format.Input, out *format.Sink) {
	r := &reader{in: in, out: out, runs: map[string]*conversation{}, linked: map[[2]string]bool{}, seen: map[uint64]int{}}
	for o := range out.Each(jsontext.Objects(in.Reader, "", r.problem)) {
		r.line(o)
	}
	r.out.Settle("")
	r.finish()
}

// problem reports a bad line. It most likely belongs to the run of the previous line, or of the first line if there is none
// before, so a mirror reports the same problem.
func (r *reader) problem(p *transcript.Problem) {
	run := ""
	if n := len(r.order); n > 0 {
		run = r.order[n-1].run
	}
	r.out.Problem(run, p)
}

func (r *reader) line(o jsontext.Object) {
	l := readLine(o)
	c := r.conversation(l)
	c.span.extend(l.now)
	c.runSpan.extend(l.now)
	c.noteSeq(l)
	if c.flow == "" && l.class() == "message" {
		c.flow = l.path.Str()
	}
	r.emitLinks(c, l)
	c.steps.observe(c, l, r.out)
	e := event(c, l)
	if !c.fromFileName && e.Seq.Known && e.Time.Valid && bytes.IndexByte(l.at.Raw(), '.') >= 0 { // else the time may be that of another attempt, too
		e.ID, e.Global, e.Home = r.eventID(c.run, l), true, r.in.Root != "" // a mirror may be anywhere, and is no root
	}
	r.out.Emit(e)
}

// eventID returns the id that a line shares with its copies in mirrors, also if the payload of one was dropped. Lines of one file that have
// the same are told apart by their order.
func (r *reader) eventID(run string, l *line) string {
	r.buffer = append(r.buffer[:0], run...)
	for _, v := range [...]jsontext.Value{l.seq, l.at, l.name, l.path} {
		r.buffer = append(append(r.buffer, '\n'), v.Raw()...)
	}
	sum := sha256.Sum256(r.buffer)
	key := binary.BigEndian.Uint64(sum[:])
	n := r.seen[key]
	r.seen[key]++
	id := strconv.FormatUint(key, 16)
	if n > 0 {
		id += "." + strconv.Itoa(n)
	}
	return id
}

// conversation returns the conversation that a line belongs to. A line without a run_id belongs with the previous line.
func (r *reader) conversation(l *line) *conversation {
	run := l.run.Text()
	fromFileName := false
	if run == "" {
		if n := len(r.order); n > 0 {
			return r.order[n-1]
		}
		run, fromFileName = strings.TrimSuffix(path.Base(r.in.Path), ".jsonl"), true
	}
	before := r.runs[run]
	if before != nil {
		before.fromFileName = fromFileName // this line confirms the run that was taken from the file name
		if !before.startsNewAttempt(l) {
			return before
		}
	}
	c := &conversation{id: run + "/" + firstLineKey(l), run: run, fromFileName: fromFileName, runSpan: new(span)}
	if before != nil {
		if before.id == c.id {
			return before
		}
		c.runSpan = before.runSpan
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

// noteSeq records the seq of a line.
func (c *conversation) noteSeq(l *line) {
	if seq := l.seq.Count(); seq.Known {
		c.seq = seq.N
		c.seenSeqs |= seqBit(seq.N)
	}
}

// startsNewAttempt reports whether a line is the first of another attempt of the run: a resumed run counts from 1 again,
// and one mirror may hold both. Neighbouring lines may be swapped, so a lower seq alone is not enough: it must be one that
// was already seen. The attempt before may have been a single event.
func (c *conversation) startsNewAttempt(l *line) bool {
	seq := l.seq.Count()
	return seq.Known && seq.N <= c.seq && c.seenSeqs&seqBit(seq.N) != 0
}

func seqBit(seq int64) uint64 {
	if seq < 0 || seq > 63 {
		return 0
	}
	return 1 << seq
}

// firstLineKey returns a key that distinguishes the transcripts of one run. Mirrors begin with the same line; a resumed run
// does not, even if a coarse clock gives both first lines the same time.
func firstLineKey(l *line) string {
	sum := sha256.Sum256(l.raw.Raw())
	return cmp.Or(l.at.Text(), l.seq.Text()+" "+l.kind) + "/" + hex.EncodeToString(sum[:4])
}

// extend widens the range to include t. Neighbouring lines of parallel steps may be swapped, so the last line need not be
// the latest.
func (s *span) extend(t transcript.Time) {
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

// emitLinks yields the links that a line states in either direction, each once per file.
func (r *reader) emitLinks(c *conversation, l *line) {
	newLink := func(parent, child, other string) *transcript.Link {
		pair := [2]string{parent, child}
		if other == "" || r.linked[pair] {
			return nil
		}
		r.linked[pair] = true
		r.linkTargets = append(r.linkTargets, other)
		edge := parentLink(parent, child)
		edge.Origin, edge.Time = l.origin, l.now
		return edge
	}
	parent, child := l.parent.Str(), l.child.Str()
	if edge := newLink(parent, c.run, parent); edge != nil {
		r.out.Emit(edge)
	}
	if edge := newLink(c.run, child, child); edge != nil {
		edge.Attributes = transcript.Attributes{"step": l.stepName()}
		r.out.Emit(edge)
	}
}

// finish yields the records that need the whole file.
func (r *reader) finish() {
	for _, c := range r.order {
		r.out.Emit(&transcript.Run{
			ID: c.run, Rank: rankTranscript, Group: c.flow, Flow: c.flow, Started: c.runSpan.first, Ended: c.runSpan.last, Named: c.fromFileName, Guess: c.fromFileName,
		})
		r.out.Emit(&transcript.Conversation{ID: c.id, Run: c.run, Flow: c.flow, Started: c.span.first, Ended: c.span.last})
	}
	for _, id := range r.linkTargets {
		if r.runs[id] == nil {
			r.runs[id] = &conversation{}
			r.out.Emit(&transcript.Run{ID: id, Named: true})
		}
	}
}
