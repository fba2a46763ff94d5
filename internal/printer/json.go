package printer

import (
	"fmt"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Encode returns v as JSON on one line, in which nothing acts on a terminal.
func Encode(v any) string {
	s, err := terminal.EncodeJSON(v)
	if err != nil {
		return fmt.Sprintf(`{"error":{"code":%d,"message":"encode JSON","hint":null}}`, failure.ExitUnexpected)
	}
	return s
}

// PrintJSON writes one object on one line.
func (p *Printer) PrintJSON(v any) error {
	_, err := fmt.Fprintln(p.Out, Encode(v))
	return err
}

// Timestamp is a time in a report. It is null in JSON when it is zero.
type Timestamp struct{ time.Time }

// Stamp returns a time for a report.
func Stamp(t time.Time) Timestamp { return Timestamp{t} }

// MarshalJSON implements json.Marshaler.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(t.UTC().Format(`"` + transcript.TimeLayout + `"`)), nil
}

// OrNull returns a text for JSON, nil if it is empty.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Value returns what p points at, nil for nil.
func Value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
