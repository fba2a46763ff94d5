package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/seedtest"
)

func TestManifestRoundTrip(t *testing.T) {
	ref := blob.RefOf([]byte("x"))
	m := blob.Manifest{
		Writer: "box1", Created: testTime, Replaces: []string{"2026/11/old"},
		Members: []blob.Member{{Offset: 0, Size: 99, Raw: 0, RawSize: 1024, SHA256: ref}},
		Versions: []blob.Version{
			{Source: "src\xfe", Path: "a\xff/<b>&\u2028", Number: 3, Root: ref, Size: 5, SHA256: ref, ModTime: testTime, Mode: 0o4755,
				Format: "f", Role: "r", Claim: "\xff", Extents: []blob.Extent{{Offset: 4, Size: 1, SHA256: ref, Raw: 512}}},
			{Source: "s", Path: "copy", Number: 1, Root: ref, ModTime: testTime,
				Extents: []blob.Extent{{Size: 1, SHA256: ref, CopyOf: &blob.Copy{Pack: "2026/11/other", Raw: 7}}}},
		},
		Facts: []blob.Fact{
			{Kind: "pin", Key: "run", Time: testTime, Value: json.RawMessage(`{"a":[1,"<"]}`)},
			{Kind: "pin", Key: "gone", Time: testTime, Value: json.RawMessage(`null`)},
		},
	}
	id, err := packID("box1", testTime)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := encodeManifest(m, id, "00")
	if err != nil {
		t.Fatal(err)
	}
	got, _, gotID, err := decodeManifest(append(lines, `{"type":"from the future","x":1}`...), selection{})
	if err != nil || gotID != id || !reflect.DeepEqual(got, m) {
		t.Errorf("came back as\n%+v, want\n%+v, %v", got, m, err)
	}
	want := `{"type":"copy","pack":"2026/11/other","raw":7,"size":1,"sha256":"` + ref.String() + `","entry":"s/copy"}` + "\n"
	if !strings.Contains(string(lines), want) {
		t.Errorf("no line %s in\n%s", want, lines)
	}
}

func TestManifestErrors(t *testing.T) {
	id := "20241121T014712.123456Z-box1"
	first := `{"type":"pack","format":1,"id":"` + id + `"}` + "\n"
	for text, want := range map[string]error{
		"":                                      nil,
		"x":                                     nil,
		`{"type":"fact"}`:                       nil,
		strings.Replace(first, id, "../", 1):    nil,
		first + `{"type":"version","size":"x"}`: nil,
		first + `{"type":"other"`:               nil,
		strings.Replace(first, `format":1`, `format":2`, 1): blob.ErrTooNew,
	} {
		_, _, _, err := decodeManifest([]byte(text), selection{})
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestStrangeTimes(t *testing.T) {
	for in, want := range map[time.Time]int{
		time.Date(-44, 3, 15, 0, 0, 0, 0, time.UTC):   0,
		time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC):  9999,
		time.Date(1969, 7, 20, 0, 0, 0, 17, time.UTC): 1969,
	} {
		m := blob.Manifest{Versions: []blob.Version{{Source: "s", Path: "p", Number: 1, ModTime: in}}}
		lines, err := encodeManifest(m, "20241121T014712.123456Z-box1", "00")
		if err != nil {
			t.Error(err)
			continue
		}
		got, _, _, err := decodeManifest(lines, selection{})
		if err != nil || got.Versions[0].ModTime.Year() != want {
			t.Errorf("%v came back as %v, %v", in, got.Versions, err)
		}
	}
}

// FuzzManifest checks that decoding, encoding and decoding again gives the same manifest.
func FuzzManifest(f *testing.F) {
	first := `{"type":"pack","format":1,"id":"20241121T014712.123456Z-box1","writer":"box1","created":"2024-11-21T01:47:12.123456Z"}` + "\n"
	for _, line := range []string{
		"", `{"type":"fact","fact":"pin","key":"r","time":"2026-11-21T00:00:00Z","value":{"a":[1]}}`, `{"type":"other","x":[[]]}`,
		`{"type":"version","source":"s","path_b64":"/w==","version":1,"size":1,"mtime":"2026-11-21T00:00:00Z","mode":"0644"}`,
		`{"type":"member","offset":0,"size":9,"raw":0,"raw_size":1024}`,
	} {
		f.Add([]byte(first + line))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		m, _, id, err := decodeManifest(lines, selection{})
		if err != nil {
			return
		}
		again, err := encodeManifest(m, id, "00")
		if err != nil {
			return // what no writer would be given
		}
		n, _, id2, err := decodeManifest(again, selection{})
		if err != nil || id2 != id {
			t.Fatalf("%v, %q\n%s", err, id2, again)
		}
		third, err := encodeManifest(n, id2, "00")
		if err != nil || string(third) != string(again) {
			t.Fatalf("%v\n%s\n%s", err, again, third)
		}
	})
}

// The fast paths must give what encoding/json gives, and must take nearly all lines.
func TestQuickVersion(t *testing.T) {
	r := seedtest.Rand(t)
	texts := []string{"", "plain", "a/b c", "日本", "q\"uote", "back\\slash", "tab\t", "\xff", "<&>", "\u2028", "x\x7fy"}
	pick := func() string { return texts[max(0, r.IntN(4*len(texts))-3*len(texts))] }
	before, quickly, written := blob.Version{}, 0, 0
	for range 2000 {
		v := blob.Version{Source: pick(), Path: pick(), Number: r.IntN(3), Root: blob.RefOf([]byte(pick())), Size: r.Int64() >> r.IntN(63), SHA256: blob.RefOf([]byte(pick())),
			ModTime: time.Unix(r.Int64N(1<<40)-1<<38, r.Int64N(1e9)), Mode: r.Uint32(), Format: pick(), Role: pick(), Claim: pick()}
		for range r.IntN(3) {
			e := blob.Extent{Offset: r.Int64N(99), Size: r.Int64N(1e12), SHA256: v.Root, Raw: r.Int64N(99)}
			if r.IntN(3) == 0 {
				e.CopyOf = &blob.Copy{Pack: pick(), Raw: r.Int64N(99)}
			}
			v.Extents = append(v.Extents, e)
		}
		if r.IntN(4) == 0 {
			v.Archived = testTime
		}
		if r.IntN(8) == 0 {
			v.Earlier = []blob.State{{Archived: testTime, Size: 1}}
		}
		var asJSON bytes.Buffer
		enc := json.NewEncoder(&asJSON)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(lineOf(&v)); err != nil {
			t.Fatal(err)
		}
		if b, ok := appendVersion(nil, &v); ok {
			if written++; string(b) != asJSON.String() {
				t.Fatalf("%+v is written as\n%s, want\n%s", v, b, &asJSON)
			}
		}
		lines, err := encodeManifest(blob.Manifest{Versions: []blob.Version{v}}, "x", "y")
		if err != nil {
			t.Fatal(err)
		}
		line := bytes.SplitAfter(lines, []byte("\n"))[1]
		if r.IntN(4) == 0 { // anything may stand there
			line = bytes.Clone(line)
			line[r.IntN(len(line))] = byte(" \"0{},\\9x"[r.IntN(9)])
		}
		var want versionLine
		err = json.Unmarshal(line, &want)
		if name, ok := quickName(line, &before); ok && err == nil && (want.SourceRaw != nil || want.PathRaw != nil || name != blob.Name{Source: want.Source, Path: want.Path}) {
			t.Fatalf("%s is of %v", line, name)
		}
		got, ok := quickVersion(line, &before)
		if !ok {
			continue
		}
		quickly++
		if err != nil || want.SourceRaw != nil || want.PathRaw != nil || want.ClaimRaw != nil || !reflect.DeepEqual(got, want.Version) {
			t.Fatalf("%s is read as\n%+v, want\n%+v, %v", line, got, want.Version, err)
		}
		before = got
	}
	if quickly < 200 || written < 200 {
		t.Errorf("only %d of 2000 lines were read quickly, and %d written", quickly, written)
	}
}

func TestQuickFact(t *testing.T) {
	r := seedtest.Rand(t)
	texts := []string{"tombstone", "ledger", "", "q\"uote", "\xff", "日本", "a}"}
	values := []string{"null", "{}", `{"a":"}"}`, `[1,2]`, `"x"`, "12", `{"a":{"b":null}}`}
	quickly := 0
	for range 2000 {
		f := blob.Fact{Kind: texts[r.IntN(len(texts))], Key: texts[r.IntN(len(texts))], Time: time.Unix(r.Int64N(1<<40)-1<<38, r.Int64N(1e9)),
			Value: json.RawMessage(values[r.IntN(len(values))])}
		lines, err := encodeManifest(blob.Manifest{Facts: []blob.Fact{f}}, "x", "y")
		if err != nil {
			t.Fatal(err)
		}
		line := bytes.SplitAfter(lines, []byte("\n"))[1]
		if back, err := decodeFact(line); err != nil || back.Key != f.Key {
			t.Fatalf("%q came back as %q, %v", f.Key, back.Key, err)
		}
		if r.IntN(3) == 0 { // anything may stand there
			line = bytes.Clone(line)
			line[r.IntN(len(line))] = byte(" \"0{},\\9x"[r.IntN(9)])
		}
		got, ok := quickFact(line)
		if !ok {
			continue
		}
		quickly++
		var want factLine
		if err := json.Unmarshal(line, &want); err != nil || want.KeyRaw != nil || !reflect.DeepEqual(got, want.Fact) {
			t.Fatalf("%s is read as\n%+v, want\n%+v, %v", line, got, want.Fact, err)
		}
	}
	if quickly < 200 {
		t.Errorf("only %d of 2000 lines were read quickly", quickly)
	}
}

// TestOpenOriginals checks that OpenOriginals returns the same versions of some originals as Open, and nothing else.
func TestOpenOriginals(t *testing.T) {
	m := blob.Manifest{Members: []blob.Member{{Size: 1}}, Facts: []blob.Fact{{Kind: "tag", Value: json.RawMessage("{}")}}}
	for i, path := range []string{"a", "b", "a", "q\"uote", "\xff", "\uFFFD", "日本", "a"} {
		m.Versions = append(m.Versions, blob.Version{Source: []string{"s", "t", "\xfe"}[i%3], Path: path, Number: i + 1, ModTime: testTime})
	}
	lines, err := encodeManifest(m, "20261121T010000.000000Z-box", "00")
	if err != nil {
		t.Fatal(err)
	}
	all, sum, _, err := decodeManifest(lines, selection{})
	if err != nil || len(sum.stored) != 0 || sum.last == (blob.Name{}) {
		t.Fatal(sum, err)
	}
	for _, of := range all.Versions {
		name := blob.Name{Source: of.Source, Path: of.Path}
		got, sum, _, err := decodeManifest(lines, selection{originals: func(n blob.Name) bool { return n == name }})
		var want []blob.Version
		for _, v := range all.Versions {
			if v.Source == of.Source && v.Path == of.Path {
				want = append(want, v)
			}
		}
		if err != nil || !reflect.DeepEqual(got.Versions, want) || len(got.Facts) > 0 || sum.last != (blob.Name{}) {
			t.Errorf("of %q: %+v, %v", name, got, err)
		}
	}
}
