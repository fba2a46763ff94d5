package gc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/seedtest"
)

func pattern(t *testing.T, s string) *Pattern {
	t.Helper()
	p, err := ParsePattern(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParsePattern(t *testing.T) {
	for _, s := range []string{"", "abc", "/", "//", "/(/", "/a*/", "\"\"\n\"", "1111", "****"} {
		if _, err := ParsePattern(s); err == nil {
			t.Errorf("%q is taken for a pattern", s)
		}
	}
	if _, err := ParsePattern(strings.Repeat("x", maxText+1)); err == nil {
		t.Error("a text that may be longer than what scan looks at is taken for a pattern")
	}
	if _, err := ParsePattern("/sk-[secret/"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a bad pattern: %v", err)
	}
}

// TestPatternForms finds a text however JSON encodes it, and leaves valid JSON.
func TestPatternForms(t *testing.T) {
	const secret = "p<ss/w\"rd é世😀\\\n+'!"
	p := pattern(t, secret)
	plain, _ := json.Marshal(map[string]string{"a": "before " + secret + " after"})
	twice, _ := json.Marshal(map[string]string{"arguments": string(plain)})
	for _, doc := range []string{
		string(plain), string(twice), strings.ReplaceAll(string(plain), "/", `\/`),
		`{"a":"p<ss/w\"rd \u00e9\u4e16\ud83d\ude00\\\n+'!"}`, `{"a":"p<ss/w\"rd \u00E9\u4E16\uD83D\uDE00\\\n+'!"}`,
		`{"a":"p\u003Css/w\u0022rd \u00E9\u4E16\uD83D\uDE00\\\n\u002B\u0027!"}`, // System.Text.Json
		`{"a":"p\u003css/w\"rd é世😀\\\n+\u0027!"}`,                               // Windows PowerShell
		`{"a":"p\u003css/w\"rd é世😀\\\n+\u0027\u0021"}`,                          // some of what could be escaped
		`{"a":"\u0070\u003c\u0073\u0073\u002f\u0077\u0022\u0072\u0064\u0020\u00e9\u4e16\ud83d\ude00\u005c\u000a\u002b\u0027\u0021"}`,
		`{"arguments":"{\"a\":\"p\\u003Css/w\\u0022rd \\u00E9\\u4E16\\uD83D\\uDE00\\\\\\n\\u002B\\u0027!\"}"}`,
	} {
		if !p.in(doc) {
			t.Errorf("%s: not found", doc)
			continue
		}
		b := []byte(doc)
		for _, m := range p.find(b) {
			blob.Mark(b[blob.WholeEscape(b, m[0]):m[1]])
		}
		if !json.Valid(b) || p.in(string(b)) || len(b) != len(doc) {
			t.Errorf("%s became %s", doc, b)
		}
	}
	for _, other := range []string{`p<ss/w\"rd é世😀\\n+'!`, `p<ss/w\"rd \u00e8世😀\\\n+'!`, `p\u003`, `p\u003c`, `\`, `\ud83d`, `\ud83d\u0`} {
		if p.in(other) {
			t.Errorf("%s: found", other)
		}
	}
}

// TestPatternInEscapes finds a text if any of its characters are escaped, each in any of its ways, up to three times over.
func TestPatternInEscapes(t *testing.T) {
	r := seedtest.Rand(t)
	alphabet := []rune("abcun05 \"\\/\n\té世😀<=+")
	for range 3000 {
		text := make([]rune, 4+r.IntN(12))
		for i := range text {
			text[i] = alphabet[r.IntN(len(alphabet))]
		}
		doc := string(text)
		for range r.IntN(maxEscaped + 1) {
			doc = escaped(r, doc)
		}
		before, after := alphabet[r.IntN(3)], alphabet[r.IntN(3)]
		whole := []byte(string(before) + doc + string(after))
		p, err := ParsePattern(string(text))
		if err != nil || p.re != nil {
			continue
		}
		found := p.find(whole)
		for _, m := range found {
			blob.Mark(whole[m[0]:m[1]])
		}
		if len(found) == 0 || p.in(string(whole)) {
			t.Fatalf("%q: %v in %q, which became %s", string(text), found, doc, whole)
		}
	}
}

// escaped returns the inside of a string of JSON, with escapes wherever they must be and in other places too.
func escaped(r *rand.Rand, text string) string {
	var out strings.Builder
	for _, c := range text {
		short := strings.IndexRune("\"\\/\n\t", c)
		switch n := r.IntN(4); {
		case n == 0:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&out, []string{`\u%04x`, `\u%04X`}[r.IntN(2)], unit)
			}
		case short >= 0 && (c != '/' || n == 1):
			out.WriteString([]string{`\"`, `\\`, `\/`, `\n`, `\t`}[short])
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

func BenchmarkPatternFind(b *testing.B) {
	p, err := ParsePattern(`ghp_16C7e42F292c6912E7710c838347Ae178B4a`)
	if err != nil {
		b.Fatal(err)
	}
	for name, line := range map[string]string{"text": `{"a":"if x := \"y\"; x != nil {\n\treturn \"\u001b[1m\"\n}\n"}`, "backslashes": `\\\\\\\\`} {
		b.Run(name, func(b *testing.B) {
			text := bytes.Repeat([]byte(line), 1<<20/len(line))
			b.SetBytes(int64(len(text)))
			for range b.N {
				if len(p.find(text)) > 0 {
					b.Fatal("found")
				}
			}
		})
	}
}

// TestRedactedJSON redacts random parts of random JSON, with patterns cut out of the decoded text.
func TestRedactedJSON(t *testing.T) {
	r := seedtest.Rand(t)
	alphabet := []rune("abcdefgh0123456789 \"\\/\n\té世😀<>&")
	for range 3000 {
		text := make([]rune, 40)
		for i := range text {
			text[i] = alphabet[r.IntN(len(alphabet))]
		}
		from := r.IntN(30)
		secret := string(text[from : from+6+r.IntN(4)])
		p, err := ParsePattern(secret)
		if err != nil || p.re != nil {
			continue
		}
		line, err := json.Marshal(map[string]any{"t": string(text), "n": 12345})
		if err != nil {
			t.Fatal(err)
		}
		line = append(line, '\n')
		places, err := p.scan(bytes.NewReader(line))
		if err != nil || len(places) == 0 {
			t.Fatalf("%q in %s: %v, %v", secret, line, places, err)
		}
		out, err := io.ReadAll(&redacted{r: bytes.NewReader(line), places: places})
		if err != nil || len(out) != len(line) || !json.Valid(out) || bytes.Count(out, []byte("\n")) != 1 {
			t.Fatalf("%q in %s became %s, %v", secret, line, out, err)
		}
	}
}

// TestScanWindows finds matches wherever the windows of a long stream are cut.
func TestScanWindows(t *testing.T) {
	const secret = "AKIA0123456789ABCDEF"
	for _, pat := range []string{secret, "/AKIA[0-9A-F]{16}/"} {
		p := pattern(t, pat)
		long := bytes.Repeat([]byte("0123456789 abcdefg\n"), 200_000)
		var want [][2]int64
		for at := 900_000; at+100 < len(long); at += 29_989 {
			copy(long[at:], secret)
			want = append(want, [2]int64{int64(at), int64(len(secret))})
		}
		got, err := p.scan(iotestReader{bytes.NewReader(long)})
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %d places of %d, %v", pat, len(got), len(want), err)
		}
	}
}

// iotestReader returns odd amounts.
type iotestReader struct{ r io.Reader }

func (r iotestReader) Read(p []byte) (int, error) { return r.r.Read(p[:min(len(p), 7919)]) }

func TestMark(t *testing.T) {
	for in, want := range map[string]string{
		"secret":            "******",
		"a longer secret":   "REDACTED*******",
		"0123456789":        "1111111111",
		"two\nlines \"q\"":  "RED\nACTED*\"*\"",
		`with \" inside it`: "REDACTED*********",
	} {
		b := []byte(in)
		if blob.Mark(b); string(b) != want {
			t.Errorf("%q became %q, want %q", in, b, want)
		}
	}
}
