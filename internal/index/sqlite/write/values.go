package write

import (
	"database/sql"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Null returns nil, which is NULL, for "".
func Null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// NullNative returns a native id as it is stored: 16 bytes for a UUID, nil for "".
func NullNative(id *index.NativeID) any {
	if id.IsUUID {
		return id.UUID[:]
	}
	return Null(id.Text)
}

// NullTime returns microseconds since 1970, nil for an unknown time.
func NullTime(t transcript.Time) any {
	if !t.Valid {
		return nil
	}
	return t.UnixMicro
}

// NullZone returns the offset of a time from UTC, nil for an unknown time.
func NullZone(t transcript.Time) any {
	if !t.Valid {
		return nil
	}
	return int64(t.Offset)
}

// NullCount returns a count, nil for an unknown one.
func NullCount(c transcript.Count) any {
	if !c.Known {
		return nil
	}
	return c.N
}

// Flag returns 1 for true.
func Flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Attributes returns attributes as JSON.
func Attributes(a transcript.Attributes) (any, error) {
	if len(a) == 0 {
		return nil, nil
	}
	var room [256]byte
	b, err := index.AppendAttributes(room[:0], a)
	return string(b), err
}

// NullInt returns what reading the column of a number gives.
func NullInt(t *int64) (n sql.NullInt64) {
	if t != nil {
		n = sql.NullInt64{Int64: *t, Valid: true}
	}
	return n
}

// OrNil returns a number as a column, nil for none.
func OrNil(t *int64) any {
	if t == nil {
		return nil
	}
	return *t
}
