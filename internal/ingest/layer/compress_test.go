package layer

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func gzipped(tb testing.TB, r io.Reader) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.Copy(w, r); err != nil || w.Close() != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(tb testing.TB, r io.Reader) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := io.Copy(w, r); err != nil || w.Close() != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func tarred(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Name: "run/", Typeflag: tar.TypeDir},
		{Name: "run/metadata.json", Size: 2, Typeflag: tar.TypeReg},
		{Name: "run/link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink},
		{Name: "../../evil", Size: 5, Typeflag: tar.TypeReg},
		{Name: strings.Repeat("long/", 40) + "file", Size: 700, Typeflag: tar.TypeReg},
	} {
		h.Mode = 0o600
		if err := w.WriteHeader(h); err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write(bytes.Repeat([]byte("x"), int(h.Size))); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestLayers(t *testing.T) {
	text := strings.Repeat("hello\n", 1000)
	two := append(gzipped(t, strings.NewReader(text[:100])), gzipped(t, strings.NewReader(text[100:]))...)
	archive := tarred(t)
	for _, c := range []struct {
		inner string
		in    []byte
		want  string
	}{
		{"", []byte(text), text},
		{"gzip", two, text},
		{"zstd", zstandard(t, strings.NewReader(text)), text},
		{"tar:run/metadata.json", archive, "xx"},
		{"gzip+tar:../../evil", gzipped(t, bytes.NewReader(archive)), "xxxxx"},
		{"zstd+tar:../../evil", zstandard(t, bytes.NewReader(archive)), "xxxxx"},
		{"strings:a.b", []byte(`{"a":{"b":"{\"c\":\n\"\\n\"}"}}` + "\n" + `{"a":"b"}` + "\n\ntorn {\n" + `{"a":{"b":"last"}}`), `{"c": "\n"}` + "\ntorn {\nlast\n"},
		{"zstd+strings:a", zstandard(t, strings.NewReader(`{"a":"b"}`)), "b\n"},
	} {
		r, err := Open(c.inner, iotest.HalfReader(bytes.NewReader(c.in)))
		if err != nil {
			t.Fatalf("%s: %v", c.inner, err)
		}
		got, err := io.ReadAll(r)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %d bytes, %v", c.inner, len(got), err)
		}
	}
	for _, inner := range []string{"tar:absent", "rar", "gzip+rar"} {
		if _, err := Open(inner, bytes.NewReader(archive)); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", inner, err)
		}
	}
}

func TestTarFiles(t *testing.T) {
	archive := tarred(t)
	var got []string
	for file, err := range TarFiles(bytes.NewReader(archive)) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(file.Reader)
		if err != nil {
			t.Errorf("%s: %v", file.Name, err)
		}
		got = append(got, file.Name+" "+string(b))
	}
	want := []string{"run/metadata.json xx", "../../evil xxxxx", strings.Repeat("long/", 40) + "file " + strings.Repeat("x", 700)}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, cut := range []int{0, 100, 700, 1025} {
		var last error
		for file, err := range TarFiles(bytes.NewReader(archive[:cut])) {
			if last = err; err == nil {
				_, last = io.ReadAll(file.Reader)
			}
		}
		if !IsContent(last) {
			t.Errorf("cut at %d: %v", cut, last)
		}
	}
}

// TestTarFilesToTheEnd damages bytes after the last one that a reader of the files needs.
func TestTarFilesToTheEnd(t *testing.T) {
	whole := gzipped(t, bytes.NewReader(tarred(t)))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-6] ^= 1
	for name, b := range map[string][]byte{"checksum": flipped, "cut": whole[:len(whole)-3]} {
		files, last := 0, error(nil)
		for _, err := range TarFiles(Gunzip(bytes.NewReader(b))) {
			if last = err; err == nil {
				files++
			}
		}
		if files != 3 || !IsContent(last) {
			t.Errorf("%s: %d files, %v", name, files, last)
		}
	}
}

func TestBadContentIsNoReaderError(t *testing.T) {
	good := gzipped(t, strings.NewReader(strings.Repeat("content ", 100)))
	flipped := bytes.Clone(good)
	flipped[len(flipped)-6] ^= 1
	broken := errors.New("broken disk")
	for name, c := range map[string]struct {
		r    io.Reader
		want bool
	}{
		"empty":        {Gunzip(strings.NewReader("")), true},
		"text":         {Gunzip(strings.NewReader("no gzip at all, is it")), true},
		"cut":          {Gunzip(bytes.NewReader(good[:len(good)-9])), true},
		"flipped":      {Gunzip(bytes.NewReader(flipped)), true},
		"garbage":      {Gunzip(bytes.NewReader(append(bytes.Clone(good), "garbage"...))), true},
		"disk":         {Gunzip(io.MultiReader(bytes.NewReader(good[:20]), iotest.ErrReader(broken))), false},
		"disk at once": {Gunzip(iotest.ErrReader(broken)), false},
		"zstd empty":   {Zstd(strings.NewReader("")), true},
		"zstd text":    {Zstd(strings.NewReader("no zstd at all, is it")), true},
		"zstd disk":    {Zstd(iotest.ErrReader(broken)), false},
	} {
		_, err := io.ReadAll(c.r)
		if err == nil || IsContent(err) != c.want || errors.Is(err, broken) == c.want {
			t.Errorf("%s: %v", name, err)
		}
		if _, again := c.r.Read(make([]byte, 1)); again == nil {
			t.Errorf("%s: no error the second time", name)
		}
	}
}

func TestBombs(t *testing.T) {
	bomb := zstandard(t, io.LimitReader(zeros{}, 200<<20))
	if _, err := io.Copy(io.Discard, Zstd(bytes.NewReader(bomb))); !errors.Is(err, ErrTooLarge) || !IsContent(err) {
		t.Errorf("%d bytes of zstd: %v", len(bomb), err)
	}
}

// zeros is an endless reader that takes no memory.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
