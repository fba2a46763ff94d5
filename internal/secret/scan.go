package secret

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// How a long text is read: pieces of chunk bytes, each with what stood before it, since a secret may lie across.
const (
	chunk   = 1 << 20
	tail    = 32 << 10 // found again with what comes after
	context = 256      // what stands before a piece: patterns look at it
)

// Found is a secret in a stream.
type Found struct {
	Rule   string
	Line   int64 // from 1
	Offset int64
	Size   int
}

// buffers are those of scans: most streams are far smaller, and there are many.
var buffers = sync.Pool{New: func() any { return new([chunk + tail + context]byte) }}

// Scan finds the secrets of a stream, in order. It holds some megabytes whatever the length. A report that returns
// false ends it. Errors are those of the reader.
func Scan(r io.Reader, report func(Found) bool) error {
	s := scanner{line: 1, report: report}
	whole := buffers.Get().(*[chunk + tail + context]byte)
	defer buffers.Put(whole)
	buf := whole[:0]
	for {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		end := len(buf)
		if !last {
			end -= tail
		}
		if !s.piece(buf, end) || last {
			return nil
		}
		keep := end - context
		s.line += int64(bytes.Count(buf[:keep], []byte{'\n'}))
		s.offset += int64(keep)
		s.skip = context
		buf = buf[:copy(buf, buf[keep:])]
	}
}

type scanner struct {
	line, offset int64 // of the buffer's first byte
	skip         int   // bytes of the buffer that were looked at before
	report       func(Found) bool
}

// piece reports what begins in a part of the buffer.
func (s *scanner) piece(buf []byte, end int) bool {
	for _, m := range Find(string(buf)) {
		if m.Start < s.skip || m.Start >= end {
			continue
		}
		at := s.line + int64(bytes.Count(buf[:m.Start], []byte{'\n'}))
		if !s.report(Found{Rule: m.Rule, Line: at, Offset: s.offset + int64(m.Start), Size: m.End - m.Start}) {
			return false
		}
	}
	return true
}
