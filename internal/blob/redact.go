package blob

import (
	"bytes"
	"errors"
	"io"
	"sort"
	"strconv"
)

// PlanForget is the Plan of tombstones that have no grace period and are never retracted: their bytes should never have
// been kept.
const PlanForget = "forget"

// Redaction describes what replaces a version that was forgotten: the same version with some ranges overwritten by marks. It
// also serves to recognise a file that still has the original bytes, or has grown from them.
type Redaction struct {
	SHA256 Ref        `json:"sha256"` // of the version with its marks
	Root   Ref        `json:"root"`   // of the chain that begins with that version
	Places [][2]int64 `json:"places"` // offset and length of each mark; none when the version itself was compressed
	// Payloads says that the marks were made by MarkPayload, not by Mark.
	Payloads bool `json:"payloads,omitempty"`
}

const mark = "REDACTED"

// Mark overwrites b with a mark of the same length, so that lines stay where they are and JSON stays valid: line ends
// and unescaped quotes are kept, and text that is all digits becomes other digits, because it may be a number.
func Mark(b []byte) {
	digits := bytes.IndexFunc(b, func(r rune) bool { return r < '0' || r > '9' }) < 0
	n := 0
	for i := 0; i < len(b); i++ {
		escape := b[i] == '\\' && i+1 < len(b)
		switch {
		case !escape && (b[i] == '\n' || b[i] == '\r' || b[i] == '"'):
			continue
		case digits:
			b[i] = '1'
			continue
		}
		for range 1 + map[bool]int{true: 1}[escape] {
			b[i] = '*'
			if n < len(mark) && len(b) >= len(mark) {
				b[i] = mark[n]
			}
			n, i = n+1, i+1
		}
		i--
	}
}

// MinPayload is how many bytes MarkPayload needs for its text.
const MinPayload = 64

// MarkPayload overwrites b, the inside of a JSON string, with a text of the same length that states the length. The text
// depends on nothing else.
func MarkPayload(b []byte) {
	digits := strconv.Itoa(len(b))
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	n := copy(b, "[payload dropped by policy: "+digits+" bytes]")
	for i := n; i < len(b); i++ {
		b[i] = ' '
	}
}

// apply overwrites b, the bytes under one of the marks.
func (r *Redaction) apply(b []byte) {
	if r.Payloads {
		MarkPayload(b)
		return
	}
	Mark(b)
}

// WholeEscape returns where a match at i of b must begin so that it does not split a JSON escape: i, or the start of the
// escape that i is inside of.
func WholeEscape(b []byte, i int) int {
	for k := i - 1; k >= max(0, i-5); k-- {
		if b[k] != '\\' {
			continue
		}
		run := k
		for run > 0 && b[run-1] == '\\' {
			run--
		}
		if (k-run)%2 == 1 { // escaped by the backslash before it
			return i
		}
		length := 2
		if k+1 < len(b) && b[k+1] == 'u' {
			length = 6
		}
		if i < k+length {
			return k
		}
		return i
	}
	return i
}

// Redacted returns a reader of r with the marks of a redaction applied. The places of the redaction are in order.
func Redacted(r io.ReaderAt, marks *Redaction) io.ReaderAt { return &redacted{r, marks} }

type redacted struct {
	r     io.ReaderAt
	marks *Redaction
}

func (r *redacted) ReadAt(p []byte, offset int64) (int, error) {
	n, err := r.r.ReadAt(p, offset)
	end := offset + int64(n)
	first := sort.Search(len(r.marks.Places), func(i int) bool { return r.marks.Places[i][0]+r.marks.Places[i][1] > offset })
	for _, place := range r.marks.Places[first:] {
		if place[0] >= end {
			break
		}
		// A mark depends on all bytes under it, so they are read whole.
		under := make([]byte, place[1])
		m, uerr := r.r.ReadAt(under, place[0])
		if m < len(under) {
			if errors.Is(uerr, io.EOF) {
				uerr = io.ErrUnexpectedEOF
			}
			return 0, uerr
		}
		r.marks.apply(under)
		from, to := max(offset, place[0]), min(end, place[0]+place[1])
		copy(p[from-offset:to-offset], under[from-place[0]:])
	}
	return n, err
}
