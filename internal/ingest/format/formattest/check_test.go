package formattest

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// words is a format with one event per line, into which a test can build a fault.
type words struct {
	fault func(*transcript.Event) *transcript.Event
	text  string
}

func (words) Name() string                    { return "words" }
func (words) Version() int                    { return 1 }
func (words) Detect(format.Head) format.Claim { return format.Claim{Strength: format.Likely} }

func (w words) Text(_ string, raw []byte, _ int) (string, error) { return w.text + string(raw), nil }

func (w words) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		for line, err := range jsontext.Lines(in.Reader, "") {
			if err != nil {
				yield(nil, err)
				return
			}
			e := &transcript.Event{Run: "r", Kind: transcript.KindMessage, Origin: line.Origin,
				Parts: []transcript.Part{{Text: string(line.Bytes)}}}
			if w.fault != nil {
				e = w.fault(e)
			}
			if e != nil && !yield(e, nil) {
				return
			}
		}
	}
}

// recorder records the failures that Check reports.
type recorder struct {
	testing.TB
	failures []string
}

func (l *recorder) Helper() {}

func (l *recorder) Errorf(s string, args ...any) {
	l.failures = append(l.failures, fmt.Sprintf(s, args...))
}

func (l *recorder) Fatalf(s string, args ...any) {
	l.Errorf(s, args...)
	panic(l)
}

func runCheck(w words, content string) (heard string) {
	l := &recorder{}
	defer func() {
		if r := recover(); r != nil && r != any(l) {
			panic(r)
		}
		heard = strings.Join(l.failures, "|")
	}()
	Check(l, w, Input{Path: "x.jsonl", Bytes: []byte(content)})
	return ""
}

func TestCheckHearsWhatIsWrong(t *testing.T) {
	edit := func(f func(e *transcript.Event)) func(*transcript.Event) *transcript.Event {
		return func(e *transcript.Event) *transcript.Event { f(e); return e }
	}
	const content = "some\n\nwords\n"
	for name, c := range map[string]struct {
		w    words
		want string
	}{
		"nothing":     {words{}, ""},
		"other text":  {words{text: "x"}, "Text of part 0"},
		"no parts":    {words{fault: edit(func(e *transcript.Event) { e.Parts = nil })}, "without parts"},
		"no owner":    {words{fault: edit(func(e *transcript.Event) { e.Run = "" })}, "without parts, kind or owner"},
		"outside":     {words{fault: edit(func(e *transcript.Event) { e.Origin.Length += 100 })}, "outside"},
		"before":      {words{fault: edit(func(e *transcript.Event) { e.Origin.Offset = -1 })}, "outside"},
		"part":        {words{fault: edit(func(e *transcript.Event) { e.Parts[0].Offset, e.Parts[0].Length = 1, 99 })}, "outside its event"},
		"backwards":   {words{fault: edit(func(e *transcript.Event) { e.Origin.Offset = 8 - e.Origin.Offset })}, "comes after"},
		"duplicate":   {words{fault: edit(func(e *transcript.Event) { e.Verdict, e.Global = transcript.DuplicateOf, true })}, "duplicate with an id"},
		"lost a line": {words{fault: dropLine}, "x.jsonl:3 gives no record"},
		"bad layer":   {words{fault: edit(func(e *transcript.Event) { e.Origin.Inner = "rar" })}, "no such layer"},
	} {
		heard := runCheck(c.w, content)
		if c.want == "" && heard != "" || !strings.Contains(heard, c.want) {
			t.Errorf("%s: heard %q, want %q", name, heard, c.want)
		}
	}
}

// dropLine loses one line, even if that is parsed alone.
func dropLine(e *transcript.Event) *transcript.Event {
	if e.Parts[0].Text == "words" {
		return nil
	}
	return e
}

func TestRecordsAreReadable(t *testing.T) {
	got := appendRecord(nil, &transcript.Event{
		Conversation: "c", Kind: transcript.KindMessage, Time: transcript.Time{UnixMicro: 1795218674419282, Offset: 60, Valid: true},
		Origin: transcript.Origin{Inner: "gzip", Line: 2, Offset: 10, Length: 5}, Seq: transcript.Known(0),
		Parts:      []transcript.Part{{Text: "a<b>\x00" + strings.Repeat("é", 2000), Result: &transcript.Result{Failed: transcript.Yes}}},
		Attributes: transcript.Attributes{"b": int64(9007199254740993), "a": true},
	})
	want := `{"record":"event","conversation":"c","kind":"message","time":"2026-11-21T00:51:14.419282+01:00","origin":"gzip:2@10+5","seq":0,` +
		`"parts":[{"text":"a<b>\u0000` + strings.Repeat("é", 97) + `... 4005 bytes, sha256 `
	if !bytes.HasPrefix(got, []byte(want)) || !bytes.HasSuffix(got, []byte(`"result":{"failed":"yes"}}],"attributes":{"a":true,"b":9007199254740993}}`+"\n")) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
