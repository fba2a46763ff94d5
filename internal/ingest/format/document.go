package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// DocumentLimit is the largest document, in bytes, that a parser should read whole. With its parsed nodes and its texts it takes three
// times that in memory.
const DocumentLimit = 128 << 20

// ReadAll reads r to its end, or returns layer.ErrTooLarge if there are more than limit bytes. With any other error it returns what was read before.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	if known, ok := r.(interface{ Len() int }); ok { // known length: allocate once
		if int64(known.Len()) > limit {
			return nil, layer.ErrTooLarge
		}
		b := make([]byte, known.Len())
		_, err := io.ReadFull(r, b)
		return b, err
	}
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return b, err
	}
	if int64(len(b)) > limit {
		return nil, layer.ErrTooLarge
	}
	return b, nil
}

// Memory is a Reader of content in memory, which must not change until the parse is over.
type Memory struct {
	bytes.Reader
	content []byte
}

// InMemory returns a Reader of content.
func InMemory(content []byte) *Memory {
	m := &Memory{content: content}
	m.Reset(content)
	return m
}

// ReadText is ReadAll with a string as its result. For a Memory the string is no copy, so neither it nor a part of it may be used after the parse.
func ReadText(r io.Reader, limit int64) (string, error) {
	if m, ok := r.(*Memory); ok && m.Len() == len(m.content) && int64(m.Len()) <= limit {
		return asString(m.content), nil
	}
	b, err := ReadAll(r, limit)
	return asString(b), err
}

// Document reads all of r, which is one JSON value with an optional byte order mark, and returns the value and its place. If r is
// invalid ("bad json"), or longer than DocumentLimit ("too large"), it calls problem and returns an absent value. After an error of r it
// calls Fail and returns an absent value, too.
func (s *Sink) Document(r io.Reader, problem func(*transcript.Problem)) (jsontext.Value, transcript.Origin) {
	file, err := ReadAll(r, DocumentLimit)
	whole := transcript.Origin{Length: int64(len(file))}
	if errors.Is(err, layer.ErrTooLarge) {
		problem(&transcript.Problem{Kind: "too large", Reason: fmt.Sprintf("more than %d bytes", DocumentLimit)})
		return jsontext.Value{}, whole
	}
	if err != nil {
		s.Fail(err)
		return jsontext.Value{}, whole
	}
	v, err := jsontext.Parse(jsontext.TrimBOM(file))
	if err != nil {
		problem(&transcript.Problem{Kind: "bad json", Reason: err.Error(), Origin: whole})
		return jsontext.Value{}, whole
	}
	return v, transcript.Origin{Offset: v.OffsetIn(file), Length: int64(v.Len())}
}

// MaxText is the largest file beside sessions, in bytes, that is indexed as one text.
const MaxText = 16 << 20

// TextFile reads a file that is one text, such as a plan, and completes e, its only event: an uncounted row. It returns false if the file
// is larger than MaxText, and after an error of r, which it passes to Fail.
func (s *Sink) TextFile(r io.Reader, e *transcript.Event) bool {
	raw, err := ReadAll(r, MaxText)
	if err != nil {
		if !errors.Is(err, layer.ErrTooLarge) {
			s.Fail(err)
		}
		return false
	}
	e.Verdict, e.Origin = transcript.Uncounted, transcript.Origin{Length: int64(len(raw))}
	e.Parts = []transcript.Part{{Text: LooseText(raw)}}
	return true
}
