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

// quickVersion reads the line of a version as encodeVersion writes nearly all of them, in a tenth of the time that
// encoding/json takes: a catalogue of a million originals is read by it, more than once. What looks otherwise in any way is not ok,
// and for encoding/json. Strings that are those of the version before share their memory.
func quickVersion(line []byte, before *blob.Version) (v blob.Version, ok bool) {
	q := quick{rest: bytes.TrimSuffix(line, []byte("\n")), ok: true}
	q.lit(`{"type":"version","source":`)
	v.Source = q.text(before.Source)
	q.lit(`,"path":`)
	v.Path = q.text("")
	q.lit(`,"version":`)
	v.Number = int(q.number())
	q.lit(`,"root":`)
	v.Root = q.ref()
	q.lit(`,"size":`)
	v.Size = q.number()
	q.lit(`,"sha256":`)
	v.SHA256 = q.ref()
	q.lit(`,"mtime":`)
	q.ok = q.ok && v.ModTime.UnmarshalJSON(q.quoted(true)) == nil
	q.lit(`,"mode":`)
	mode := q.number()
	v.Mode = uint32(mode)
	if q.opt(`,"format":`) {
		v.Format = q.text(before.Format)
	}
	if q.opt(`,"role":`) {
		v.Role = q.text(before.Role)
	}
	if q.opt(`,"root_dir":`) {
		v.Claim = q.text(before.Claim)
	}
	if q.opt(`,"extents":[`) {
		v.Extents = q.extents()
	}
	if q.opt(`,"archived":`) {
		q.ok = q.ok && v.Archived.UnmarshalJSON(q.quoted(true)) == nil
	}
	q.lit("}")
	return v, q.ok && len(q.rest) == 0 && int64(v.Mode) == mode
}

// appendVersion writes what quickVersion reads, as encoding/json writes it. What is not plain in any way is not ok, and for encoding/json.
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
	for _, said := range [...]struct{ key, value string }{{"format", v.Format}, {"role", v.Role}, {"root_dir", v.Claim}} {
		if said.value != "" {
			b = append(append(append(b, `,"`...), said.key...), `":"`...)
			b = append(append(b, said.value...), '"')
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

// plainText says that texts stand in JSON as they are.
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

// quickName reads of which original such a line tells. One whose name is no UTF-8 is not ok: it stands at the end of the line.
func quickName(line []byte, before *blob.Version) (n blob.Name, ok bool) {
	q := quick{rest: line, ok: true}
	q.lit(`{"type":"version","source":`)
	n.Source = q.text(before.Source)
	q.lit(`,"path":`)
	n.Path = q.text("")
	return n, q.ok && !strings.ContainsRune(n.Source, utf8.RuneError) && !strings.ContainsRune(n.Path, utf8.RuneError)
}

// quickFact reads the line of a fact as it is written, without reading its value: there may be more of them than versions.
func quickFact(line []byte) (f blob.Fact, ok bool) {
	q := quick{rest: bytes.TrimSuffix(line, []byte("}\n")), ok: bytes.HasSuffix(line, []byte("}\n"))}
	q.lit(`{"type":"fact","fact":`)
	f.Kind = q.text(blob.FactTombstone)
	q.lit(`,"key":`)
	f.Key = q.text("")
	q.lit(`,"time":`)
	q.ok = q.ok && f.Time.UnmarshalJSON(q.quoted(true)) == nil
	q.lit(`,"value":`)
	if q.ok = q.ok && len(bytes.TrimSpace(q.rest)) == len(q.rest) && json.Valid(q.rest); q.ok {
		f.Value = bytes.Clone(q.rest)
	}
	return f, q.ok
}

// quick is what is left of a line. Once it is not ok, nothing is read any more.
type quick struct {
	rest []byte
	ok   bool
}

func (q *quick) opt(s string) bool {
	rest, ok := bytes.CutPrefix(q.rest, []byte(s))
	if ok {
		q.rest = rest
	}
	return ok
}

func (q *quick) lit(s string) { q.ok = q.ok && q.opt(s) }

// quoted is a string without escapes, with its quotes or without.
func (q *quick) quoted(quotes bool) []byte {
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

func (q *quick) text(before string) string {
	s := q.quoted(false)
	if string(s) == before {
		return before
	}
	q.ok = q.ok && utf8.Valid(s)
	return string(s)
}

func (q *quick) ref() (r blob.Ref) {
	s := q.quoted(false)
	if len(s) != hex.EncodedLen(len(r)) {
		q.ok = false
		return r
	}
	_, err := hex.Decode(r[:], s)
	q.ok = q.ok && err == nil
	return r
}

// number is one of at most 18 digits, none too many.
func (q *quick) number() (n int64) {
	i := 0
	for ; i < len(q.rest) && q.rest[i]-'0' < 10; i++ {
		n = n*10 + int64(q.rest[i]-'0')
	}
	q.ok = q.ok && 0 < i && i <= 18 && (i == 1 || q.rest[0] != '0')
	q.rest = q.rest[i:]
	return n
}

func (q *quick) extents() (all []blob.Extent) {
	for q.ok {
		var e blob.Extent
		q.lit(`{"offset":`)
		e.Offset = q.number()
		q.lit(`,"size":`)
		e.Size = q.number()
		q.lit(`,"sha256":`)
		e.SHA256 = q.ref()
		q.lit(`,"raw":`)
		e.Raw = q.number()
		if q.opt(`,"copy_of":{"pack":`) {
			e.CopyOf = &blob.Copy{Pack: q.text("")}
			q.lit(`,"raw":`)
			e.CopyOf.Raw = q.number()
			q.lit("}")
		}
		q.lit("}")
		all = append(all, e)
		if q.opt("]") {
			return all
		}
		q.lit(",")
	}
	return nil
}
