package layer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// stringsLayer begins the layer of strings in JSON lines: "strings:<member>.<member>".
const stringsLayer = "strings:"

// maxStringLine is the length of the longest line whose string is read.
const maxStringLine = 128 << 20

// Strings returns a reader of the strings that the JSON objects in r, one in each line, have at a path of members ("row.event_json"): one in
// each line, with spaces instead of line breaks, which nothing but JSON would notice. Objects that have no string there are left out; lines
// that are no JSON are unchanged, so that whoever reads them sees that.
func Strings(r io.Reader, path string) io.Reader {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxStringLine)
	return &stringReader{lines: lines, path: strings.Split(path, ".")}
}

type stringReader struct {
	lines *bufio.Scanner
	path  []string
	rest  []byte // of a line
	err   error
}

// Read returns lines of strings.
func (s *stringReader) Read(p []byte) (int, error) {
	for len(s.rest) == 0 && s.err == nil {
		s.next()
	}
	if len(s.rest) == 0 {
		return 0, s.err
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next reads a line.
func (s *stringReader) next() {
	if !s.lines.Scan() {
		switch s.err = s.lines.Err(); {
		case s.err == nil:
			s.err = io.EOF
		case errors.Is(s.err, bufio.ErrTooLong):
			s.err = fmt.Errorf("strings: %w", ErrTooLarge)
		}
		return
	}
	line := s.lines.Bytes()
	text, ok := stringAt(line, s.path)
	switch {
	case ok:
		line = bytes.Map(spaceForBreak, []byte(text))
	case len(bytes.TrimSpace(line)) == 0 || json.Valid(line):
		return
	}
	s.rest = append(append(s.rest[:0], line...), '\n')
}

func spaceForBreak(r rune) rune {
	if r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

// stringAt returns the string at a path of members.
func stringAt(line []byte, path []string) (text string, ok bool) {
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(line, &members) != nil {
			return "", false
		}
		line = members[name]
	}
	return text, len(line) > 0 && line[0] == '"' && json.Unmarshal(line, &text) == nil
}
