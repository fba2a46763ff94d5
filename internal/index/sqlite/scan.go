package sqlite

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/transcript"
)

// text scans a column in which NULL is "".
type text[T ~string] struct{ to *T }

func (t text[T]) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*t.to = ""
	case string:
		*t.to = T(v)
	case []byte:
		*t.to = T(v)
	case int64:
		*t.to = T(fmt.Sprint(v))
	default:
		return fmt.Errorf("scan %T as text", v)
	}
	return nil
}

func str[T ~string](to *T) text[T] { return text[T]{to} }

// count scans a number that may be unknown.
type count struct{ to *transcript.Count }

func (c count) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*c.to = transcript.Count{}
	case int64:
		*c.to = transcript.Known(v)
	default:
		return fmt.Errorf("scan %T as a number", v)
	}
	return nil
}

// number scans a number for which NULL is 0.
type number[T ~int | ~int64 | ~uint32] struct{ to *T }

func (n number[T]) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*n.to = 0
	case int64:
		*n.to = T(v)
	default:
		return fmt.Errorf("scan %T as a number", v)
	}
	return nil
}

func num[T ~int | ~int64 | ~uint32](to *T) number[T] { return number[T]{to} }

// when scans microseconds.
type when struct{ to *transcript.Time }

func (w when) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		w.to.Valid = false
	case int64:
		w.to.UnixMicro, w.to.Valid = v, true
	default:
		return fmt.Errorf("scan %T as a time", v)
	}
	return nil
}

// zone scans the offset in minutes that a time was written with.
type zone struct{ to *transcript.Time }

func (z zone) Scan(v any) error {
	if n, ok := v.(int64); ok {
		z.to.Offset = int16(n)
	}
	return nil
}

// truth scans a flag that may be unknown.
type truth struct{ to *transcript.Truth }

func (t truth) Scan(v any) error {
	*t.to = transcript.Unstated
	if n, ok := v.(int64); ok {
		*t.to = transcript.True(n != 0)
	}
	return nil
}

// verdictNames are the words of the table verdicts.
var verdictNames = []transcript.Verdict{counted: transcript.Counted, duplicate: transcript.DuplicateOf,
	copiedHistory: transcript.CopiedHistory, derivedTotal: transcript.DerivedTotal, outsideReceipt: transcript.OutsideReceipt,
	earlierVersion: transcript.EarlierVersion, uncounted: transcript.Uncounted}
