package formattest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// maxString is the length in bytes up to which a golden file shows a string in full.
const maxString = 2000

var strengths = map[format.Strength]string{format.None: "none", format.Weak: "weak", format.Likely: "likely", format.Certain: "certain"}

// appendClaim appends a format's claim on a file as one line.
func appendClaim(dst []byte, o *Original) []byte {
	dst = append(dst, `{"file":`...)
	dst = appendJSON(dst, o.Path)
	dst = append(dst, `,"claim":`...)
	dst = appendJSON(dst, strengths[o.Claim.Strength])
	rest := o.Claim
	rest.Strength = format.None
	dst = appendFields(dst, reflect.ValueOf(rest), true)
	return append(dst, "}\n"...)
}

// appendRecord appends a record as one line: its type, and its non-zero fields in the order of the struct.
func appendRecord(dst []byte, record transcript.Record) []byte {
	v := reflect.ValueOf(record).Elem()
	dst = append(dst, `{"record":`...)
	dst = appendJSON(dst, strings.ToLower(v.Type().Name()))
	dst = appendFields(dst, v, true)
	return append(dst, "}\n"...)
}

func dump(records []transcript.Record) (b []byte) {
	for _, record := range records {
		b = appendRecord(b, record)
	}
	return b
}

// appendFields appends the members of a struct without the braces. more says that members precede them.
func appendFields(dst []byte, v reflect.Value, more bool) []byte {
	for i := range v.NumField() {
		field := v.Field(i)
		if field.IsZero() || field.Kind() == reflect.Map && field.Len() == 0 {
			continue
		}
		if more {
			dst = append(dst, ',')
		}
		more = true
		dst = appendJSON(dst, snake(v.Type().Field(i).Name))
		dst = append(dst, ':')
		dst = appendValue(dst, field)
	}
	return dst
}

func appendValue(dst []byte, v reflect.Value) []byte {
	switch x := v.Interface().(type) {
	case transcript.Time:
		return appendJSON(dst, formatTime(x))
	case transcript.Count:
		return appendJSON(dst, x.N)
	case transcript.Truth:
		return appendJSON(dst, map[transcript.Truth]string{transcript.No: "no", transcript.Yes: "yes"}[x])
	case transcript.Origin:
		return appendJSON(dst, formatOrigin(x))
	}
	switch v.Kind() {
	case reflect.Pointer:
		return appendValue(dst, v.Elem())
	case reflect.Struct:
		dst = append(dst, '{')
		dst = appendFields(dst, v, false)
		return append(dst, '}')
	case reflect.Slice:
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, v.Index(i))
		}
		return append(dst, ']')
	case reflect.String:
		return appendJSON(dst, abbreviate(v.String()))
	}
	return appendJSON(dst, v.Interface())
}

// appendJSON appends a scalar or a map of scalars (sorted by key) without HTML escapes.
func appendJSON(dst []byte, x any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(x); err != nil {
		return fmt.Appendf(dst, "%q", err.Error())
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// abbreviate cuts a long string and adds a hash that identifies it.
func abbreviate(s string) string {
	if len(s) <= maxString {
		return s
	}
	cut := maxString / 10
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s... %d bytes, sha256 %x", s[:cut], len(s), sha256.Sum256([]byte(s)))
}

func formatTime(t transcript.Time) string {
	zone := time.FixedZone("", int(t.Offset)*60)
	return time.UnixMicro(t.UnixMicro).In(zone).Format(time.RFC3339Nano)
}

// formatOrigin formats an Origin as [inner:]line@offset+length.
func formatOrigin(o transcript.Origin) string {
	s := fmt.Sprintf("%d@%d+%d", o.Line, o.Offset, o.Length)
	if o.Inner != "" {
		s = o.Inner + ":" + s
	}
	return s
}

func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		startsWord := unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(runes[i-1])
		if startsWord {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
