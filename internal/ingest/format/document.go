package format

import (
	"errors"
	"fmt"
	"io"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Document reads all of r, which is one JSON value and maybe a byte order mark before it, and gives the place of the value. When it is
// none ("bad json"), or longer than DocumentLimit ("too large"), it calls problem, and the value is absent. The error is r's.
func Document(r io.Reader, problem func(*transcript.Problem)) (Value, transcript.Origin, error) {
	file, err := ReadAll(r, DocumentLimit)
	whole := transcript.Origin{Length: int64(len(file))}
	if errors.Is(err, ErrTooLarge) {
		problem(&transcript.Problem{Kind: "too large", Reason: fmt.Sprintf("more than %d bytes", DocumentLimit)})
		return Value{}, whole, nil
	}
	if err != nil {
		return Value{}, whole, err
	}
	v, err := ParseJSON(TrimBOM(file))
	if err != nil {
		problem(&transcript.Problem{Kind: "bad json", Reason: err.Error(), Origin: whole})
		return Value{}, whole, nil
	}
	return v, transcript.Origin{Offset: v.OffsetIn(file), Length: int64(v.Len())}, nil
}
