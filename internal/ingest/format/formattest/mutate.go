package formattest

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

var mutations = flag.Int("mutations", 8, "how many times Golden changes values of each original and checks what Parse makes of it")

// strangers take the place of values: other types than a parser expects there, extremes, and what looks like parts of a chat.
var strangers = []string{
	`null`, `true`, `0`, `-1`, `1.5`, `1e308`, `9223372036854775807`, `-9223372036854775808`, `1700000000000`, `""`, `" "`, `"x"`, `"\u0000"`, `"\ud83d"`, `"\""`, `"a/b\\c"`,
	`"../../x"`, `"2026-01-01T00:00:00Z"`, `"{\"a\":[1]}"`, `"[]"`, `[]`, `{}`, `[null]`, `[[]]`, `[{}]`, `["a","b"]`, `{"type":null}`, `{"text":"x"}`, `[{"type":"text","text":"x"}]`,
	`{"content":[{"type":"text"}]}`, `[{"role":"assistant","content":null}]`,
}

// mutate changes values of an original's JSON, or its lines, and sometimes cuts its end, and applies Check to the result: what a program has never written
// yet must break no promise either.
func mutate(tb testing.TB, f format.Format, o *Original, content []byte, rng *rand.Rand) {
	tb.Helper()
	for i := range *mutations {
		b := content
		for range 1 + rng.IntN(3) {
			b = Change(rng, b)
		}
		if rng.IntN(4) == 0 {
			b = b[:rng.IntN(len(b)+1)]
		}
		if in := o.Input(b); !passes(tb, f, in) {
			tb.Errorf("change %d of %s: see above", i, o.Path)
		}
	}
}

// passes applies Check, and turns a panic into an error, so that other cases go on.
func passes(tb testing.TB, f format.Format, in Input) bool {
	tb.Helper()
	failed := tb.Failed()
	defer func() {
		if p := recover(); p != nil {
			tb.Fatalf("%s: %v", in.Path, p)
		}
	}()
	Check(tb, f, in)
	return failed || !tb.Failed()
}

// Change puts a stranger, or another value of the same content, in the place of a random value, or changes a line: it is lost, comes twice, or
// elsewhere. Of content without JSON it changes a line.
func Change(rng *rand.Rand, b []byte) []byte {
	all := spans(b)
	if len(all) == 0 || rng.IntN(4) == 0 {
		return changeLine(rng, b)
	}
	at, with := all[rng.IntN(len(all))], []byte(strangers[rng.IntN(len(strangers))])
	if other := all[rng.IntN(len(all))]; rng.IntN(3) == 0 && other.to-other.from < 4<<10 {
		with = b[other.from:other.to]
	}
	return bytes.Join([][]byte{b[:at.from], with, b[at.to:]}, nil)
}

func changeLine(rng *rand.Rand, b []byte) []byte {
	lines := bytes.SplitAfter(b, []byte("\n"))
	from, to := rng.IntN(len(lines)), rng.IntN(len(lines)+1)
	line := lines[from]
	switch rng.IntN(4) {
	case 0: // lost
		lines = slices.Delete(lines, from, from+1)
	case 1: // cut, so that it and the next are one
		lines[from] = line[:rng.IntN(len(line)+1)]
	case 2: // twice
		lines = slices.Insert(lines, to, line)
	default: // elsewhere
		other := rng.IntN(len(lines))
		lines[from], lines[other] = lines[other], line
	}
	return bytes.Join(lines, nil)
}

// span is where a value is.
type span struct{ from, to int }

// spans returns where the values of a document, or of the lines of a log, are.
func spans(b []byte) (all []span) {
	if v, err := jsontext.Parse(b); err == nil {
		return appendSpans(nil, v, 0)
	}
	at := 0
	for line := range bytes.Lines(b) {
		if v, err := jsontext.Parse(line); err == nil {
			all = appendSpans(all, v, at)
		}
		at += len(line)
	}
	return all
}

func appendSpans(dst []span, v jsontext.Value, base int) []span {
	from := base + int(v.Offset())
	dst = append(dst, span{from, from + v.Len()})
	for _, member := range v.Fields() {
		dst = appendSpans(dst, member, base)
	}
	for item := range v.Items() {
		dst = appendSpans(dst, item, base)
	}
	return dst
}
