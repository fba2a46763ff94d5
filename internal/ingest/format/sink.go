package format

import (
	"iter"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Sink takes the records of one parse, and hands them to who asked for them until that is enough. Yield is what Parse was given.
type Sink struct {
	Yield func(transcript.Record, error) bool

	done  bool
	early []*transcript.Problem // that wait for Settle
}

// mostEarly bounds what a file of nothing but bad lines holds in memory.
const mostEarly = 1000

// Done reports whether no more is wanted.
func (s *Sink) Done() bool { return s.done }

// Emit hands on a record, and reports whether more is wanted.
func (s *Sink) Emit(r transcript.Record) bool {
	s.done = s.done || !s.Yield(r, nil)
	return !s.done
}

// Fail hands on the reader's error, which ends the parse.
func (s *Sink) Fail(err error) {
	if !s.done {
		s.Yield(nil, err)
		s.done = true
	}
}

// Each yields what Objects or Elements find until no more is wanted; their error ends the parse.
func (s *Sink) Each(objects iter.Seq2[Object, error]) iter.Seq[Object] {
	return func(yield func(Object) bool) {
		for o, err := range objects {
			if err != nil {
				s.Fail(err)
			}
			if s.done || !yield(o) || s.done {
				return
			}
		}
	}
}

// Problem hands on what could not be read as a problem of a run. Before it is known whose the file is, run is "": then problems wait
// for Settle, so that a copy has the same ones. Those beyond a thousand do not wait.
func (s *Sink) Problem(run string, p *transcript.Problem) {
	switch {
	case run != "":
		p.Run = run
	case len(s.early) < mostEarly:
		s.early = append(s.early, p)
		return
	}
	s.Emit(p)
}

// Settle hands on the problems that waited, as those of a run.
func (s *Sink) Settle(run string) {
	for _, p := range s.early {
		p.Run = run
		s.Emit(p)
	}
	s.early = nil
}
