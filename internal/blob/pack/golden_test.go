package pack

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
)

var writeTiny = flag.Bool("write-tiny", false, "write testdata/tiny again: docs/pack-format.md shows its bytes, so `make golden` does not")

// TestTinyPack reads a pack that was written once and is never regenerated: old packs must stay readable.
func TestTinyPack(t *testing.T) {
	ctx := context.Background()
	if *writeTiny {
		makeTiny(t)
	}
	name, data := readTiny(t)
	p := blobtest.Bytes(data)
	if err := Verify(ctx, name, p, func(d Damage) { t.Error(d) }); err != nil {
		t.Fatal(err)
	}
	r, err := Open(ctx, p, name)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Manifest()
	if len(m.Versions) != 1 || len(m.Facts) != 1 || m.Versions[0].Path != "hello.txt" || m.Facts[0].Kind != "tag" {
		t.Fatalf("manifest %+v", m)
	}
	e := m.Versions[0].Extents[0]
	if got, err := (&View{Name: name, Pack: p, Members: m.Members}).ReadRange(ctx, e.Raw, e.Size); err != nil || string(got) != "hello\n" {
		t.Errorf("read %q, %v", got, err)
	}
}

func makeTiny(t *testing.T) {
	w := newWorld(t, 0)
	w.begin()
	w.now = testTime
	w.add("runs", "hello.txt", 1, []byte("hello\n"))
	w.pending.Versions[0].Claim = ""
	w.pending.Facts = []blob.Fact{{Kind: "tag", Key: "0a1b2c3d", Time: testTime, Value: []byte(`"first"`)}}
	m, _, err := w.w.Seal(context.Background(), w.pending)
	w.check(err)
	old, err := filepath.Glob("testdata/tiny/*.tar.gz")
	w.check(err)
	for _, path := range old {
		w.check(os.Remove(path))
	}
	w.check(os.MkdirAll("testdata/tiny", 0o755))
	w.check(os.WriteFile(filepath.Join("testdata/tiny", filepath.Base(m.Pack)+".tar.gz"), blobtestRead(t, w.store, m.Pack), 0o644))
}

func readTiny(t *testing.T) (name string, data []byte) {
	t.Helper()
	paths, err := filepath.Glob("testdata/tiny/*.tar.gz")
	if err != nil || len(paths) != 1 {
		t.Fatalf("%q, %v", paths, err)
	}
	data, err = os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(filepath.Base(paths[0]), ".tar.gz")
	return base[:4] + "/" + base[4:6] + "/" + base, data
}

// TestDocumentedBytes compares the hex dumps of docs/pack-format.md with the tiny pack: "s" lines are of the pack
// as stored, "t" lines of its tar stream.
func TestDocumentedBytes(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/pack-format.md")
	if err != nil {
		t.Fatal(err)
	}
	name, data := readTiny(t)
	var tarStream []byte
	for rest := data; len(rest) > 0; {
		size, _, ok := parseMember(rest)
		if _, trailer := parseTrailer(rest); trailer {
			tarStream, rest = append(tarStream, make([]byte, trailerRaw)...), nil
			continue
		}
		raw, wrong := inflate(rest[:size])
		if !ok || wrong != "" {
			t.Fatal(wrong)
		}
		tarStream, rest = append(tarStream, raw...), rest[size:]
	}
	lines := regexp.MustCompile(`(?m)^    ([st]) (\d{5})  ((?:[0-9a-f]{2} ?)+)`).FindAllSubmatch(doc, -1)
	if len(lines) < 20 {
		t.Errorf("only %d lines of hex in the document", len(lines))
	}
	for _, line := range lines {
		from := map[string][]byte{"s": data, "t": tarStream}[string(line[1])]
		at, _ := strconv.Atoi(string(line[2])) // digits, by the expression
		want, err := hex.DecodeString(strings.ReplaceAll(string(line[3]), " ", ""))
		if err != nil || at+len(want) > len(from) || !bytes.Equal(from[at:at+len(want)], want) {
			t.Errorf("not so: %s", line[0])
		}
	}
	if !bytes.Contains(doc, []byte(filepath.Base(name))) {
		t.Errorf("the document does not name the pack %s", name)
	}
}
