package format

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"runtime"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Bug is a panic of a format, which is a mistake of this program. It must not keep the other files from being archived, nor
// other texts from being read.
type Bug struct {
	Format string
	what   string
}

func (b *Bug) Error() string {
	return fmt.Sprintf("a bug in txarchive's reader of %s, please report it: %s", b.Format, b.what)
}

// Failed is the kind of the Problem of a parser that panicked: see Records.
const Failed = "failed"

// guarded returns what call, a method of f, returns, with a *Bug where that panics.
func guarded[T any](f Format, call func() T) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			var none T
			v, err = none, newBug(f, p)
		}
	}()
	return call(), nil
}

// Detect is f.Detect, with a *Bug where that panics.
func Detect(f Format, h Head) (Claim, error) {
	return guarded(f, func() Claim { return f.Detect(h) })
}

// Withholds is f.Withholds where f is a Withholder, with a *Bug where that panics.
func Withholds(f Format, h Head) (bool, error) {
	w, ok := f.(Withholder)
	if !ok {
		return false, nil
	}
	return guarded(f, func() bool { return w.Withholds(h) })
}

// InZip is f.InZip where f is Zipped, with a *Bug where that panics.
func InZip(f Format, name string) (bool, error) {
	z, ok := f.(Zipped)
	if !ok {
		return false, nil
	}
	return guarded(f, func() bool { return z.InZip(name) })
}

// Text is f.Text, with a *Bug where that panics.
func Text(f Format, role string, raw []byte, part int) (text string, err error) {
	text, bug := guarded(f, func() (text string) {
		text, err = f.Text(role, raw, part)
		return text
	})
	return text, cmp.Or(bug, err)
}

// Resolve is f.Resolve where f is a Resolver, with a *Bug where that panics: the family is then as far as it was edited.
func Resolve(f Format, family *transcript.Family) error {
	r, ok := f.(Resolver)
	if !ok {
		return nil
	}
	_, err := guarded(f, func() struct{} {
		r.Resolve(family)
		return struct{}{}
	})
	return err
}

// Records is f.Parse, with a Problem of the kind Failed as the last record where that panics. What the consumer panics with passes through.
func Records(f Format, in Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		var line int // of the last record
		yielding, stopped := false, false
		defer func() {
			if yielding {
				return // the panic is the consumer's
			}
			if p := recover(); p != nil && !stopped {
				reason := newBug(f, p).Error()
				if line > 0 {
					reason = fmt.Sprintf("%s (after the record of line %d)", reason, line)
				}
				yield(&transcript.Problem{Kind: Failed, Reason: reason}, nil)
			}
		}()
		for record, err := range f.Parse(in) {
			if o := transcript.OriginOf(record); o != nil {
				line = o.Line
			}
			yielding = true
			stopped = !yield(record, err)
			yielding = false
			if stopped {
				return
			}
		}
	}
}

// newBug describes what is being recovered from, without what it may quote of the original: a runtime error has only numbers and types.
func newBug(f Format, p any) *Bug {
	what := fmt.Sprintf("%T", p)
	if err, ok := p.(runtime.Error); ok {
		what = err.Error()
	}
	return &Bug{Format: f.Name(), what: what + " at " + strings.Join(panicked(3), ", ")}
}

// panicked returns the innermost places, up to n, of this program's code that panicked, in a deferred function.
func panicked(n int) (places []string) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	for below, more := false, true; more && len(places) < n; {
		var fr runtime.Frame
		fr, more = frames.Next()
		switch {
		case fr.Function == "runtime.gopanic":
			below = true
		case below && path.Base(fr.File) == "guard.go":
			return places
		case below && !strings.HasPrefix(fr.Function, "runtime."):
			places = append(places, fmt.Sprintf("%s:%d", path.Join(path.Base(path.Dir(fr.File)), path.Base(fr.File)), fr.Line))
		}
	}
	return places
}
