package secret

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// A long text is read in pieces of chunk bytes, each together with the end of the previous one, since a secret may
// cross the boundary.
const (
	chunk   = 1 << 20
	tail    = 32 << 10 // end of a piece, searched again together with the next one
	context = 256      // bytes before a piece that patterns may examine
)

// Found is a secret in a stream.
type Found struct {
	Rule   string
	Line   int64 // from 1
	Offset int64
	Size   int
}

// buffers are the buffers of scans: most streams are far smaller, and there are many.
var buffers = sync.Pool{New: func() any { return new([chunk + tail + context]byte) }}

// Scan finds the secrets of a stream, in order. It holds a few megabytes in memory whatever the length. It stops when
// report returns false. Errors are those of the reader; what comes before one is searched.
func Scan(r io.Reader, report func(Found) bool) error {
	s := scanner{line: 1, report: report}
	whole := buffers.Get().(*[chunk + tail + context]byte)
	defer buffers.Put(whole)
	buf := whole[:0]
	for {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		end := len(buf)
		if err == nil {
			end -= tail
		}
		if !s.piece(buf, end) || last {
			return nil
		}
		if err != nil {
			return err
		}
		keep := end - context
		s.line += int64(bytes.Count(buf[:keep], []byte{'\n'}))
		s.offset += int64(keep)
		s.skip = context
		buf = buf[:copy(buf, buf[keep:])]
	}
}

type scanner struct {
	line, offset int64 // position of the buffer's first byte
	skip         int   // bytes of the buffer that were searched before
	report       func(Found) bool
}

// piece reports the secrets that begin before end in the buffer.
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
