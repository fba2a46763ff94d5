package pack

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/blob"
)

// quickVersion parses a version line in the form in which encodeVersion writes nearly all of them, in a tenth of the time that
// encoding/json takes: the catalog of a million originals is read with it, more than once. If the line differs from that form in
// any way, ok is false and encoding/json must parse it. Strings that equal those of the previous version share their memory.
func quickVersion(line []byte, prev *blob.Version) (v blob.Version, ok bool) {
	q := lineParser{rest: bytes.TrimSuffix(line, []byte("\n")), ok: true}
	q.literal(`{"type":"version","source":`)
	v.Source = q.text(prev.Source)
	q.literal(`,"path":`)
	v.Path = q.text("")
	q.literal(`,"version":`)
	v.Number = int(q.number())
	q.literal(`,"root":`)
	v.Root = q.ref()
	q.literal(`,"size":`)
	v.Size = q.number()
	q.literal(`,"sha256":`)
	v.SHA256 = q.ref()
	q.literal(`,"mtime":`)
	q.ok = q.ok && v.ModTime.UnmarshalJSON(q.quoted(true)) == nil
	q.literal(`,"mode":`)
	mode := q.number()
	v.Mode = uint32(mode)
	if q.tryLiteral(`,"format":`) {
		v.Format = q.text(prev.Format)
	}
	if q.tryLiteral(`,"role":`) {
		v.Role = q.text(prev.Role)
	}
	if q.tryLiteral(`,"root_dir":`) {
		v.Claim = q.text(prev.Claim)
	}
	if q.tryLiteral(`,"extents":[`) {
		v.Extents = q.extents()
	}
	if q.tryLiteral(`,"archived":`) {
		q.ok = q.ok && v.Archived.UnmarshalJSON(q.quoted(true)) == nil
	}
	q.literal("}")
	return v, q.ok && len(q.rest) == 0 && int64(v.Mode) == mode
}

// appendVersion appends the version line that quickVersion parses, byte for byte as encoding/json writes it. If the version
// has anything unusual, ok is false and encoding/json must write it.
func appendVersion(b []byte, v *blob.Version) (line []byte, ok bool) {
	if len(v.Earlier) > 0 || !v.Archived.IsZero() || !plainText(v.Source, v.Path, v.Format, v.Role, v.Claim) {
		return nil, false
	}
	b = append(append(append(b, `{"type":"version","source":"`...), v.Source...), `","path":"`...)
	b = append(append(b, v.Path...), `","version":`...)
	b = append(strconv.AppendInt(b, int64(v.Number), 10), `,"root":"`...)
	b = append(hex.AppendEncode(b, v.Root[:]), `","size":`...)
	b = append(strconv.AppendInt(b, v.Size, 10), `,"sha256":"`...)
	b = append(hex.AppendEncode(b, v.SHA256[:]), `","mtime":"`...)
	b = append(jsonTime(v.ModTime).AppendFormat(b, time.RFC3339Nano), `","mode":`...)
	b = strconv.AppendUint(b, uint64(v.Mode), 10)
	for _, field := range [...]struct{ key, value string }{{"format", v.Format}, {"role", v.Role}, {"root_dir", v.Claim}} {
		if field.value != "" {
			b = append(append(append(b, `,"`...), field.key...), `":"`...)
			b = append(append(b, field.value...), '"')
		}
	}
	for i, e := range v.Extents {
		if e.CopyOf != nil {
			return nil, false
		}
		if i == 0 {
			b = append(b, `,"extents":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(strconv.AppendInt(append(b, `{"offset":`...), e.Offset, 10), `,"size":`...)
		b = append(strconv.AppendInt(b, e.Size, 10), `,"sha256":"`...)
		b = append(hex.AppendEncode(b, e.SHA256[:]), `","raw":`...)
		b = append(strconv.AppendInt(b, e.Raw, 10), '}')
	}
	if len(v.Extents) > 0 {
		b = append(b, ']')
	}
	return append(b, "}\n"...), true
}

// plainText reports whether JSON represents all texts without escapes.
func plainText(texts ...string) bool {
	for _, s := range texts {
		for i := range len(s) {
			if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
				return false
			}
		}
	}
	return true
}

// quickName parses the name of the original from a version line. It is not ok if the name may not be valid UTF-8: then the
// exact bytes are at the end of the line.
func quickName(line []byte, prev *blob.Version) (n blob.Name, ok bool) {
	q := lineParser{rest: line, ok: true}
	q.literal(`{"type":"version","source":`)
	n.Source = q.text(prev.Source)
	q.literal(`,"path":`)
	n.Path = q.text("")
	return n, q.ok && !strings.ContainsRune(n.Source, utf8.RuneError) && !strings.ContainsRune(n.Path, utf8.RuneError)
}

// quickFact parses a fact line as encodeManifest writes it, without decoding its value. There may be more facts than versions.
func quickFact(line []byte) (f blob.Fact, ok bool) {
	q := lineParser{rest: bytes.TrimSuffix(line, []byte("}\n")), ok: bytes.HasSuffix(line, []byte("}\n"))}
	q.literal(`{"type":"fact","fact":`)
	f.Kind = q.text(blob.FactTombstone)
	q.literal(`,"key":`)
	f.Key = q.text("")
	q.literal(`,"time":`)
	q.ok = q.ok && f.Time.UnmarshalJSON(q.quoted(true)) == nil
	q.literal(`,"value":`)
	if q.ok = q.ok && len(bytes.TrimSpace(q.rest)) == len(q.rest) && json.Valid(q.rest); q.ok {
		f.Value = bytes.Clone(q.rest)
	}
	return f, q.ok
}

// lineParser parses a line from left to right. rest is what is left of it; once ok is false, nothing more is read.
type lineParser struct {
	rest []byte
	ok   bool
}

func (q *lineParser) tryLiteral(s string) bool {
	rest, ok := bytes.CutPrefix(q.rest, []byte(s))
	if ok {
		q.rest = rest
	}
	return ok
}

func (q *lineParser) literal(s string) { q.ok = q.ok && q.tryLiteral(s) }

// quoted reads a string without escapes, and returns it with or without its quotes.
func (q *lineParser) quoted(quotes bool) []byte {
	if !q.ok || len(q.rest) == 0 || q.rest[0] != '"' {
		q.ok = false
		return nil
	}
	n := bytes.IndexByte(q.rest[1:], '"') + 1
	if n < 1 {
		q.ok = false
		return nil
	}
	with, s := q.rest[:n+1], q.rest[1:n]
	q.rest = q.rest[n+1:]
	for _, c := range s {
		if c < ' ' || c == '\\' {
			q.ok = false
		}
	}
	if quotes {
		return with
	}
	return s
}

func (q *lineParser) text(before string) string {
	s := q.quoted(false)
	if string(s) == before {
		return before
	}
	q.ok = q.ok && utf8.Valid(s)
	return string(s)
}

func (q *lineParser) ref() (r blob.Ref) {
	s := q.quoted(false)
	if len(s) != hex.EncodedLen(len(r)) {
		q.ok = false
		return r
	}
	_, err := hex.Decode(r[:], s)
	q.ok = q.ok && err == nil
	return r
}

// number reads a number of at most 18 digits, without leading zeros.
func (q *lineParser) number() (n int64) {
	i := 0
	for ; i < len(q.rest) && q.rest[i]-'0' < 10; i++ {
		n = n*10 + int64(q.rest[i]-'0')
	}
	q.ok = q.ok && 0 < i && i <= 18 && (i == 1 || q.rest[0] != '0')
	q.rest = q.rest[i:]
	return n
}

func (q *lineParser) extents() (all []blob.Extent) {
	for q.ok {
		var e blob.Extent
		q.literal(`{"offset":`)
		e.Offset = q.number()
		q.literal(`,"size":`)
		e.Size = q.number()
		q.literal(`,"sha256":`)
		e.SHA256 = q.ref()
		q.literal(`,"raw":`)
		e.Raw = q.number()
		if q.tryLiteral(`,"copy_of":{"pack":`) {
			e.CopyOf = &blob.Copy{Pack: q.text("")}
			q.literal(`,"raw":`)
			e.CopyOf.Raw = q.number()
			q.literal("}")
		}
		q.literal("}")
		all = append(all, e)
		if q.tryLiteral("]") {
			return all
		}
		q.literal(",")
	}
	return nil
}
