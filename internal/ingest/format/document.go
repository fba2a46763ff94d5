package format

import (
	"errors"
	"fmt"
	"io"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Document reads all of r, which is one JSON value with an optional byte order mark, and returns the value and its place. If r is
// invalid ("bad json"), or longer than DocumentLimit ("too large"), it calls problem and returns an absent value. After an error of r it
// calls Fail and returns an absent value, too.
func (s *Sink) Document(r io.Reader, problem func(*transcript.Problem)) (Value, transcript.Origin) {
	file, err := ReadAll(r, DocumentLimit)
	whole := transcript.Origin{Length: int64(len(file))}
	if errors.Is(err, ErrTooLarge) {
		problem(&transcript.Problem{Kind: "too large", Reason: fmt.Sprintf("more than %d bytes", DocumentLimit)})
		return Value{}, whole
	}
	if err != nil {
		s.Fail(err)
		return Value{}, whole
	}
	v, err := ParseJSON(TrimBOM(file))
	if err != nil {
		problem(&transcript.Problem{Kind: "bad json", Reason: err.Error(), Origin: whole})
		return Value{}, whole
	}
	return v, transcript.Origin{Offset: v.OffsetIn(file), Length: int64(v.Len())}
}
