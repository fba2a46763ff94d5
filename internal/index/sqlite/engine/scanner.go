package engine

import (
	"database/sql"
	"fmt"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Text scans a text column; NULL is "".
func Text[T ~string](to *T) sql.Scanner { return textOf[T]{to} }

type textOf[T ~string] struct{ to *T }

func (t textOf[T]) Scan(v any) error {
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

// Bytes scans a blob into the memory of *to. database/sql would copy it twice for a []byte.
func Bytes(to *[]byte) sql.Scanner { return bytesOf{to} }

type bytesOf struct{ to *[]byte }

func (b bytesOf) Scan(v any) error {
	blob, ok := v.([]byte)
	if !ok && v != nil {
		return fmt.Errorf("scan %T as bytes", v)
	}
	*b.to = append((*b.to)[:0], blob...)
	return nil
}

// integer returns the number of a value; known is false for NULL.
func integer(v any, what string) (n int64, known bool, err error) {
	switch v := v.(type) {
	case nil:
		return 0, false, nil
	case int64:
		return v, true, nil
	}
	return 0, false, fmt.Errorf("scan %T as %s", v, what)
}

// Count scans a number that may be unknown.
func Count(to *transcript.Count) sql.Scanner { return countOf{to} }

type countOf struct{ to *transcript.Count }

func (c countOf) Scan(v any) (err error) {
	c.to.N, c.to.Known, err = integer(v, "a number")
	return err
}

// Number scans a number; NULL is 0.
func Number[T ~int | ~int64 | ~uint32](to *T) sql.Scanner { return numberOf[T]{to} }

type numberOf[T ~int | ~int64 | ~uint32] struct{ to *T }

func (n numberOf[T]) Scan(v any) error {
	number, _, err := integer(v, "a number")
	*n.to = T(number)
	return err
}

// Time scans microseconds.
func Time(to *transcript.Time) sql.Scanner { return timeOf{to} }

type timeOf struct{ to *transcript.Time }

func (w timeOf) Scan(v any) (err error) {
	w.to.UnixMicro, w.to.Valid, err = integer(v, "a time")
	return err
}

// Zone scans the offset in minutes that a time was written with.
func Zone(to *transcript.Time) sql.Scanner { return zoneOf{to} }

type zoneOf struct{ to *transcript.Time }

func (z zoneOf) Scan(v any) error {
	minutes, _, err := integer(v, "an offset")
	z.to.Offset = int16(minutes)
	return err
}

// Truth scans a flag that may be unknown.
func Truth(to *transcript.Truth) sql.Scanner { return truthOf{to} }

type truthOf struct{ to *transcript.Truth }

func (t truthOf) Scan(v any) error {
	n, known, err := integer(v, "a flag")
	if *t.to = transcript.Unstated; known {
		*t.to = transcript.True(n != 0)
	}
	return err
}
