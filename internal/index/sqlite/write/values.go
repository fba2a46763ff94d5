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

func NullNative(id *index.NativeID) any {
	if id.IsUUID {
		return id.UUID[:]
	}
	return Null(id.Text)
}

func NullTime(t transcript.Time) any {
	if !t.Valid {
		return nil
	}
	return t.UnixMicro
}

func NullZone(t transcript.Time) any {
	if !t.Valid {
		return nil
	}
	return int64(t.Offset)
}

func NullCount(c transcript.Count) any {
	if !c.Known {
		return nil
	}
	return c.N
}

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

func NullInt(t *int64) (n sql.NullInt64) {
	if t != nil {
		n = sql.NullInt64{Int64: *t, Valid: true}
	}
	return n
}

func OrNil(t *int64) any {
	if t == nil {
		return nil
	}
	return *t
}
