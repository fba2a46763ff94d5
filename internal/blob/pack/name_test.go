package pack

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/seedtest"
)

func TestEntryName(t *testing.T) {
	root := blob.RefOf([]byte("abc"))
	long := strings.Repeat("é", 200)
	tests := []struct {
		source, path string
		version      int
		offset       int64
		want         string
	}{
		{"runs", "fix/a.jsonl", 1, 0, "runs/fix/a.jsonl"},
		{"runs", "fix/a.jsonl", 1, 4711, "runs/fix/a.jsonl@ba7816bf.0000000000004711"},
		{"runs", "fix/a.jsonl", 2, 0, "runs/fix/a.jsonl@ba7816bf.0000000000000000"},
		{"runs", "../../etc/passwd", 1, 0, "runs/%2E%2E/%2E%2E/etc/passwd"},
		{"runs", "/etc/passwd", 1, 0, "runs/%-/etc/passwd"},
		{"runs", "./a//b/", 1, 0, "runs/%2E/a/%-/b/%-"},
		{"runs", "", 1, 0, "runs/%-"},
		{"..", "a", 1, 0, "%2E%2E/a"},
		{"", "a", 1, 0, "%-/a"},
		{"a/b", "c", 1, 0, "a%2Fb/c"},
		{".txarchive", "a", 1, 0, "%2Etxarchive/a"},
		{"runs", ".txarchive/a", 1, 0, "runs/.txarchive/a"},
		{"runs", "100%", 1, 0, "runs/100%25"},
		{"runs", "new\nline\x00\x7f\t", 1, 0, "runs/new%0Aline%00%7F%09"},
		{"runs", "x@ba7816bf.0000000000004711", 1, 0, "runs/x%40ba7816bf.0000000000004711"},
		{"runs", "x@ba7816bf.0000000000004711/y", 1, 0, "runs/x@ba7816bf.0000000000004711/y"},
		{"runs", "x@2026.txt", 1, 0, "runs/x@2026.txt"},
		{"runs", "数据库 \xff\xfe'\"\\", 1, 0, "runs/数据库 \xff\xfe'\"\\"},
		{"runs", strings.Repeat("d", 60) + "/\xff\n%é", 1, 0, "runs/" + strings.Repeat("d", 60) + "/%FF%0A%25é"},
		{"runs", strings.Repeat("d", 59) + "\xff", 1, 0, "runs/" + strings.Repeat("d", 59) + "\xff"},
		{"runs", long, 1, 0, "runs/" + strings.Repeat("é", 105) + "%~9f5c1d9c0a5f3ad5"},
	}
	for _, test := range tests {
		got := entryName(test.source, test.path, test.version, root, test.offset)
		if i := strings.Index(test.want, "%~"); i >= 0 && len(got) == len(test.want) {
			got = got[:i+2] + test.want[i+2:] // the hash is checked by the test of clashes
		}
		if got != test.want {
			t.Errorf("%q %q version %d at %d is\n%q, want\n%q", test.source, test.path, test.version, test.offset, got, test.want)
		}
	}
}

// TestEntryNamesDoNotClash combines hostile pieces of names, and checks that different originals get different entry names, which
// every file system accepts.
func TestEntryNamesDoNotClash(t *testing.T) {
	rnd := seedtest.Rand(t)
	pieces := []string{
		"a", "b", ".", "..", "/", "//", "%", "%2E", "%-", "%~", "%25", "@", "@ba7816bf.0000000000000000", "%40", "\n", "\xff",
		"é", strings.Repeat("x", 229), strings.Repeat("é", 120), strings.Repeat("deep/", 210), ".txarchive", " ",
	}
	word := func() string {
		var b strings.Builder
		for range rnd.IntN(5) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		return b.String()
	}
	root := blob.RefOf([]byte("abc"))
	seen := map[string]string{}
	for range 20000 {
		source, path, version, offset := word(), word(), 1+rnd.IntN(2), int64(rnd.IntN(2))
		key := fmt.Sprintf("%q %q %v %d", source, path, version == 1 && offset == 0, offset)
		name := entryName(source, path, version, root, offset)
		if other, ok := seen[name]; ok && other != key {
			t.Fatalf("%s and %s are both %q", other, key, name)
		}
		seen[name] = key
		if base := entryBase(source, path, mustEscape); isPlain(source, path) && base != source+"/"+path {
			t.Errorf("%s is plain, and called %q", key, base)
		}
		if strings.ContainsAny(name, "\n\x00") || len(name) > maxName || name[0] == '/' {
			t.Errorf("%s is called %q", key, name)
		}
		for part := range strings.SplitSeq(name, "/") {
			if part == "" || part == "." || part == ".." || len(part) > maxPart {
				t.Errorf("%s is called %q", key, name)
			}
		}
		if strings.HasPrefix(name, manifestDir+"/") {
			t.Errorf("%s hides among the manifests", key)
		}
	}
}

func TestCutKeepsCharacters(t *testing.T) {
	for n := range 8 {
		part := strings.Repeat("y", n) + strings.Repeat("漢", 100)
		if name := entryName("s", part, 1, blob.Ref{}, 0); !utf8.ValidString(name) {
			t.Errorf("%q is cut in the midst of a character", name)
		}
		part = strings.Repeat("y", n) + strings.Repeat("\n", 100)
		name := entryName("s", part, 1, blob.Ref{}, 0)
		escapes := name[len("s/")+n : strings.Index(name, "%~")]
		if strings.Trim(escapes, "%0A") != "" || len(escapes)%3 != 0 {
			t.Errorf("%q is cut in the midst of an escape", name)
		}
	}
}

func TestPackID(t *testing.T) {
	now := time.Date(2026, 11, 21, 1, 47, 12, 123456789, time.FixedZone("", 3600))
	id, err := packID("box1", now)
	if err != nil || id != "20261121T004712.123456Z-box1" || !validID(id) {
		t.Errorf("%q, %v", id, err)
	}
	if got := packName(id, "0123456789abcdef"); got != "2026/11/"+id+"-0123456789abcdef" || !blob.ValidName(got) {
		t.Errorf("name %q", got)
	}
	for _, writer := range []string{"", "A", "a-b", "../x", strings.Repeat("a", 33)} {
		if _, err := packID(writer, now); err == nil {
			t.Errorf("%q is taken for a writer id", writer)
		}
	}
	for _, bad := range []string{"", "x", id[:20], strings.ToUpper(id), "20261321T004712.123456Z-box1", id + "/..", id + " "} {
		if validID(bad) {
			t.Errorf("%q is taken for an id", bad)
		}
	}
}
