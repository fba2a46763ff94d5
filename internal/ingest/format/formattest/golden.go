// Package formattest tests what every format promises: golden records for the cases in its testdata, and the properties
// that hold for any bytes (see Check). A format's tests are calls of Golden, Fuzz and, if it has logs, Growth.
//
// It owns the layout of the cases:
//
//	testdata/<case>/in/<path in a source>     the originals
//	testdata/<case>/rows/<same path>.ndjson   for SQLite originals: the rows as the archive would export them
//	testdata/<case>/want.ndjson               claims and records, written by go test -update and read in review
package formattest

import (
	"bytes"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

var update = flag.Bool("update", false, "write want.ndjson anew instead of comparing with it")

// Original is one file of a case.
type Original struct {
	Path    string // in the source
	Bytes   []byte
	Rows    []byte // for a database: the input of Parse; nil if the case has none
	Claim   format.Claim
	records []transcript.Record
}

// Golden detects and parses the originals of every case under testdata and compares claims and records with the
// case's want.ndjson. Each original also passes Check.
func Golden(t *testing.T, f format.Format) {
	t.Helper()
	cases, err := filepath.Glob("testdata/*/in")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases under testdata: %v", err)
	}
	for _, in := range cases {
		dir := filepath.Dir(in)
		t.Run(filepath.Base(dir), func(t *testing.T) { golden(t, f, dir) })
	}
}

func golden(t *testing.T, f format.Format, dir string) {
	var got []byte
	rng := seedtest.Rand(t)
	for _, o := range Originals(t, f, dir) {
		check(t, f, o, rng)
		got = appendClaim(got, o)
		for _, record := range o.records {
			got = appendRecord(got, record)
		}
	}
	name := filepath.Join(dir, "want.ndjson")
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, name, got, want)
}

// compare reports the first lines that differ.
func compare(t *testing.T, name string, got, want []byte) {
	t.Helper()
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	line := func(lines [][]byte, i int) []byte {
		if i < len(lines) {
			return lines[i]
		}
		return nil
	}
	for i, shown := 0, 0; i < max(len(g), len(w)) && shown < 5; i++ {
		if !bytes.Equal(line(g, i), line(w, i)) {
			shown++
			t.Errorf("%s:%d\n got %s\nwant %s", name, i+1, line(g, i), line(w, i))
		}
	}
}

// check applies Check to an original, as it is and changed, and compares what Parse makes of it the second time.
func check(t *testing.T, f format.Format, o *Original, rng *rand.Rand) {
	t.Helper()
	detectCuts(f, o)
	content, ok := o.Content()
	if !ok {
		return
	}
	Check(t, f, o.Input(content))
	again := dump(parse(t, f, o.Input(content), iotest.HalfReader(bytes.NewReader(content)), -1))
	if !bytes.Equal(again, dump(o.records)) {
		t.Errorf("%s: other records the second time", o.Path)
	}
	mutate(t, f, o, content, rng)
	linear(t, f, o, content, rng)
}

// Originals reads, detects and parses the files of one case in path order.
func Originals(tb testing.TB, f format.Format, dir string) []*Original {
	tb.Helper()
	var all []*Original
	in := filepath.Join(dir, "in")
	err := filepath.WalkDir(in, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(in, name)
		if err != nil {
			return err
		}
		o := &Original{Path: filepath.ToSlash(rel)}
		if o.Bytes, err = os.ReadFile(name); err != nil {
			return err
		}
		if rows, err := os.ReadFile(filepath.Join(dir, "rows", rel+".ndjson")); err == nil {
			o.Rows = rows
		}
		o.Claim = Detect(f, o.Path, o.Bytes)
		if content, ok := o.Content(); ok {
			o.records = parse(tb, f, o.Input(content), bytes.NewReader(content), -1)
		}
		all = append(all, o)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// detectCuts detects an original whose first bytes end after one of its first quotes: the limit on them may cut any string.
func detectCuts(f format.Format, o *Original) {
	const cuts = 100
	for i, n := 0, 0; n < cuts; n++ {
		next := bytes.IndexByte(o.Bytes[i:min(len(o.Bytes), format.HeadSize)], '"')
		if next < 0 {
			return
		}
		i += next + 1
		f.Detect(format.Head{Path: o.Path, Size: int64(len(o.Bytes)), Bytes: o.Bytes[:i]})
	}
}

// Detect returns a format's claim on a file.
func Detect(f format.Format, path string, content []byte) format.Claim {
	head := content[:min(len(content), format.HeadSize)]
	return f.Detect(format.Head{Path: path, Size: int64(len(content)), Bytes: head})
}

// Claims are files, with what a format should claim of each.
type Claims = []struct {
	Path, Content string
	Want          format.Claim
}

// CheckClaims compares what a format claims with what it should.
func CheckClaims(t *testing.T, f format.Format, files Claims) {
	t.Helper()
	for _, file := range files {
		if got := Detect(f, file.Path, []byte(file.Content)); got != file.Want {
			t.Errorf("%s of %.60q:\n got %+v\nwant %+v", file.Path, file.Content, got, file.Want)
		}
	}
}

// Content returns the bytes that Parse reads. It returns false if there is nothing to parse.
func (o *Original) Content() ([]byte, bool) {
	switch {
	case o.Claim.Strength == format.None, o.Claim.Skip, o.Claim.Role == format.Other:
		return nil, false
	case o.Claim.Database:
		return o.Rows, o.Rows != nil
	}
	return o.Bytes, true
}

// Input returns the input of Parse for the original, with its content instead of a reader.
func (o *Original) Input(content []byte) Input {
	return Input{Path: o.Path, Root: o.Claim.Root, Role: o.Claim.Role, Bytes: content}
}

// Records returns the parsed records of the original.
func (o *Original) Records() []transcript.Record { return o.records }
