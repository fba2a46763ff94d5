package secret

import (
	"bytes"
	"io"
)

// Redactor is a writer that passes text on without credentials, whole lines at a time. It must be flushed at the end.
type Redactor struct {
	W    io.Writer
	line bytes.Buffer
}

// Write implements io.Writer.
func (r *Redactor) Write(b []byte) (int, error) {
	end := bytes.LastIndexByte(b, '\n') + 1
	r.line.Write(b[:end])
	if end > 0 {
		if err := r.Flush(); err != nil {
			return 0, err
		}
	}
	r.line.Write(b[end:])
	return len(b), nil
}

// Flush passes on what is left of a last line that has no line feed.
func (r *Redactor) Flush() error {
	_, err := io.WriteString(r.W, Redact(r.line.String()))
	r.line.Reset()
	return err
}
