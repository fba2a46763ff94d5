package terminal

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"
)

// Screen is a writer that is not itself a terminal and leads to one, through a pager for instance.
type Screen interface {
	Columns() int // how wide the terminal is
}

// Detect reports whether a stream is a terminal or leads to one, and how many columns it has: 80 if the terminal does not say.
func Detect(stream any) (width int, ok bool) {
	if s, ok := stream.(Screen); ok {
		return s.Columns(), true
	}
	if results, ok := stream.(*Output); ok {
		stream = results.W
	}
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width, true
	}
	return 80, true
}

// Output is the writer that all results go to. It keeps the first error of a write, so that a command need not check every
// line that it prints, and none succeeds when the disk under its results was full.
type Output struct {
	W            io.Writer
	IgnoreClosed bool  // a closed pipe is not an error: the work goes on without a reader
	Err          error // of the first write that failed
}

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.W.Write(b)
	if o.IgnoreClosed && errors.Is(err, syscall.EPIPE) {
		return len(b), nil
	}
	if o.Err == nil {
		o.Err = err
	}
	return n, err
}
