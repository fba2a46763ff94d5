package format

import (
	"errors"
	"fmt"
	"io"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Document reads all of r, which is one JSON value and maybe a byte order mark before it, and gives the place of the value. When it is
// none ("bad json"), or longer than DocumentLimit ("too large"), it calls problem, and the value is absent, as with an error of r, which
// ends the parse.
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
