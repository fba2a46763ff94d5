package jsontext

import (
	"bytes"
	"io"
	"iter"

	"github.com/txarchive/txarchive/internal/poison"
	"github.com/txarchive/txarchive/internal/transcript"
)

// MaxLine is the longest line, in bytes, that Lines keeps in memory.
const MaxLine = 64 << 20

// Line is one line of a text, without its line ending (LF or CRLF) and without the byte order mark of the file.
type Line struct {
	Origin transcript.Origin // of Bytes
	Bytes  []byte            // valid until the next line; nil if Long
	Torn   bool              // the last line, without a line feed
	Long   bool              // longer than MaxLine; Origin.Length has its length
}

// Lines yields every line of r, blank ones included, in memory bounded by the longest line and MaxLine. inner becomes
// Origin.Inner. The error is r's and ends the sequence.
func Lines(r io.Reader, inner string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		s := &splitter{r: r, buf: *bufferPool.Get().(*[]byte)}
		defer s.release()
		for n := 1; ; n++ {
			line, err := s.next(n == 1)
			if err != nil {
				if err != io.EOF {
					yield(Line{}, err)
				}
				return
			}
			line.Origin.Inner, line.Origin.Line = inner, n
			more := yield(line, nil)
			poison.Bytes(line.Bytes)
			if !more {
				return
			}
		}
	}
}

// splitter splits a reader into lines. buf[start:end] has been read and not yet returned; offset is the offset of start in the reader.
type splitter struct {
	r          io.Reader
	buf        []byte
	start, end int
	offset     int64
	err        error // of r, io.EOF included
}

// next returns the next line. Its bytes are in the buffer and valid until the next call.
func (s *splitter) next(first bool) (Line, error) {
	scanned := 0
	for {
		if n := bytes.IndexByte(s.buf[s.start+scanned:s.end], '\n'); n >= 0 {
			return s.cutLine(scanned+n, 1, first), nil
		}
		scanned = s.end - s.start
		if s.err == nil && scanned > MaxLine {
			return s.skipLongLine(first)
		}
		if s.err != nil {
			if s.err != io.EOF {
				return Line{}, s.err
			}
			if scanned == 0 || first && bytes.Equal(s.buf[s.start:s.end], []byte(bom)) {
				return Line{}, io.EOF
			}
			line := s.cutLine(scanned, 0, first)
			line.Torn = true
			return line, nil
		}
		s.fill()
	}
}

// cutLine consumes n bytes and a line feed of the given length, 1 or 0, and returns the line.
func (s *splitter) cutLine(n, end int, first bool) Line {
	b := s.buf[s.start : s.start+n]
	line := Line{Origin: transcript.Origin{Offset: s.offset}}
	s.start += n + end
	s.offset += int64(n + end)
	if first && bytes.HasPrefix(b, []byte(bom)) {
		b = b[len(bom):]
		line.Origin.Offset += int64(len(bom))
	}
	if end > 0 && len(b) > 0 && b[len(b)-1] == '\r' {
		b = b[:len(b)-1]
	}
	line.Origin.Length = int64(len(b))
	if line.Bytes = b; len(b) > MaxLine {
		line.Bytes, line.Long = nil, true
	}
	return line
}

// skipLongLine consumes the rest of a line that is longer than MaxLine.
func (s *splitter) skipLongLine(first bool) (Line, error) {
	line := Line{Long: true, Origin: transcript.Origin{Offset: s.offset}}
	if first && bytes.HasPrefix(s.buf[s.start:s.end], []byte(bom)) {
		line.Origin.Offset += int64(len(bom))
	}
	var last byte
	for {
		have := s.buf[s.start:s.end]
		n := bytes.IndexByte(have, '\n')
		if n > 0 {
			last = have[n-1]
		} else if n < 0 && len(have) > 0 {
			last = have[len(have)-1]
		}
		if n >= 0 {
			s.start += n + 1
			s.offset += int64(n + 1)
			line.Origin.Length = s.offset - 1 - line.Origin.Offset
			if last == '\r' {
				line.Origin.Length--
			}
			return line, nil
		}
		s.offset += int64(len(have))
		s.start, s.end = 0, 0
		if s.err == io.EOF {
			line.Torn = true
			line.Origin.Length = s.offset - line.Origin.Offset
			return line, nil
		}
		if s.err != nil {
			return Line{}, s.err
		}
		s.fill()
	}
}

func (s *splitter) release() {
	poison.Bytes(s.buf)
	if len(s.buf) <= maxPooled {
		bufferPool.Put(&s.buf)
	}
}

// fill reads once more into the buffer, after the unread bytes, and enlarges the buffer if it is full.
func (s *splitter) fill() {
	if s.start > 0 {
		copy(s.buf, s.buf[s.start:s.end])
		s.start, s.end = 0, s.end-s.start
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, max(64<<10, len(s.buf)))...)
	}
	for tries := 0; ; tries++ {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		s.err = err
		switch {
		case n > 0 || err != nil:
			return
		case tries == 100:
			s.err = io.ErrNoProgress
			return
		}
	}
}

const bom = "\xef\xbb\xbf"

// TrimBOM removes a byte order mark from the start of a file.
func TrimBOM[T string | []byte](file T) T {
	if len(file) >= len(bom) && string(file[:len(bom)]) == bom {
		return file[len(bom):]
	}
	return file
}

// BeginsObject reports whether a line begins with a brace, after white space. It is a cheap test that saves parsing most lines that are no
// JSON.
func BeginsObject(line []byte) bool {
	i := skipSpace(line, 0)
	return i < len(line) && line[i] == '{'
}
