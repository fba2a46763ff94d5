package format

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Sink passes the records of one parse to Yield, the function that the sequence of Parse gets, until Yield returns false.
type Sink struct {
	Yield func(transcript.Record, error) bool

	done    bool
	pending []*transcript.Problem // waiting for Settle
}

// maxPending bounds the memory of problems that wait, in a file of bad lines only.
const maxPending = 1000

// Done reports whether the consumer has stopped.
func (s *Sink) Done() bool { return s.done }

// Emit yields a record, and reports whether the consumer wants more.
func (s *Sink) Emit(r transcript.Record) bool {
	s.done = s.done || !s.Yield(r, nil)
	return !s.done
}

// Hint yields a hint for the resolver, unless its value is empty.
func (s *Sink) Hint(run, key, value string, at transcript.Origin) {
	if value != "" {
		s.Emit(&transcript.Hint{Run: run, Key: key, Value: value, Origin: at})
	}
}

// Fail yields the reader's error, which ends the parse.
func (s *Sink) Fail(err error) {
	if !s.done {
		s.Yield(nil, err)
		s.done = true
	}
}

// Each yields the objects of jsontext.Objects or Elements until the consumer stops. Their error goes to Fail.
func (s *Sink) Each(objects iter.Seq2[jsontext.Object, error]) iter.Seq[jsontext.Object] {
	return func(yield func(jsontext.Object) bool) {
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

// Problem yields a problem of a run. As long as the run of the file is unknown, run is "": then problems wait
// for Settle, so that a copy of the file has the same ones. Problems beyond a thousand do not wait, and have no run.
func (s *Sink) Problem(run string, p *transcript.Problem) {
	switch {
	case run != "":
		p.Run = run
	case len(s.pending) < maxPending:
		s.pending = append(s.pending, p)
		return
	}
	s.Emit(p)
}

// Settle yields the problems that wait, as problems of a run.
func (s *Sink) Settle(run string) {
	for _, p := range s.pending {
		p.Run = run
		s.Emit(p)
	}
	s.pending = nil
}
