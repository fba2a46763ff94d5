package layer

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
)

// packedFile is a file of a test's zip.
type packedFile struct {
	name, text string
	method     uint16
	packed     []byte // "" is the text
}

// zipOf returns a zip as zipfile of Python writes it: with sizes before the content.
func zipOf(tb testing.TB, files ...packedFile) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		if f.packed == nil {
			f.packed = []byte(f.text)
		}
		out, err := w.CreateRaw(&zip.FileHeader{
			Name: f.name, Method: f.method, CRC32: crc32.ChecksumIEEE([]byte(f.text)), CompressedSize64: uint64(len(f.packed)), UncompressedSize64: uint64(len(f.text)),
		})
		if err == nil {
			_, err = out.Write(f.packed)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func deflated(tb testing.TB, text string) []byte {
	b := gzipped(tb, strings.NewReader(text))
	return b[10 : len(b)-8]
}

// unzipped reads all files of a zip, and returns what it met.
func unzipped(r io.Reader) (out string, err error) {
	for f, err := range ZipFiles(r) {
		if err != nil {
			return out, err
		}
		b, err := io.ReadAll(f.Reader)
		out += f.Name + "=" + string(b)
		if err != nil {
			if !IsContent(err) {
				return out, err
			}
			out += "!" + err.Error()
		}
		out += "|"
	}
	return out, nil
}

func TestZipFiles(t *testing.T) {
	text := strings.Repeat("all work and no play ", 9)
	frames := append(zstandard(t, strings.NewReader(text[:50])), zstandard(t, strings.NewReader(text[50:]))...)
	all := zipOf(t, packedFile{name: "a/", method: zipStored}, packedFile{name: "a/b", text: "one"}, packedFile{"c", text, zipDeflated, deflated(t, text)},
		packedFile{"d", text, zipZstd, frames}, packedFile{name: "a/b", text: "two"}, packedFile{"e", "", zipDeflated, deflated(t, "")},
		packedFile{"f", "?", 12, []byte("BZh")}, packedFile{"g", text, zipDeflated, deflated(t, text[1:])}, packedFile{"h", text, zipStored, []byte(strings.ToUpper(text))})
	want := "a/b=one|c=" + text + "|d=" + text + "|a/b=two|e=|f=!zip: it is compressed by method 12|g=" + text[1:] +
		"!zip: it has another size than stated|h=" + strings.ToUpper(text) + "!zip: it has another checksum than stated|"
	for _, r := range []io.Reader{bytes.NewReader(all), iotest.OneByteReader(bytes.NewReader(all)), iotest.DataErrReader(bytes.NewReader(all))} {
		if got, err := unzipped(r); got != want || err != nil {
			t.Errorf("%v\n got %s\nwant %s", err, got, want)
		}
	}
	// A failure of the reader is no fault of the zip, wherever it comes.
	broken := errors.New("broken disk")
	for n := range len(all) {
		_, err := unzipped(io.MultiReader(bytes.NewReader(all[:n]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Fatalf("at %d: %v", n, err)
		}
	}
}

// TestTornZips has zips whose writer was killed, and some that cannot be read as a stream.
func TestTornZips(t *testing.T) {
	whole := zipOf(t, packedFile{name: "a", text: "one"}, packedFile{name: "b", text: "two"})
	list := bytes.Index(whole, []byte("PK\x01\x02"))
	for n := range list {
		got, err := unzipped(bytes.NewReader(whole[:n]))
		if !IsContent(err) || n > 34 && !strings.HasPrefix(got, "a=one|") {
			t.Errorf("cut at %d: %s, %v", n, got, err)
		}
	}
	later := bytes.Clone(whole)
	later[6], later[18] = zipSizeAfter, 0 // of a file that is stored, only the list says where it ends
	secret := bytes.Clone(whole)
	secret[6] = zipEncrypted
	for name, c := range map[string]struct {
		in         []byte
		got, fault string
	}{
		"sizes after the content": {later, "", "stands behind it"}, "encrypted": {secret, "a=!zip: it is encrypted|b=two|", ""},
		"empty": {[]byte("PK\x05\x06" + strings.Repeat("\x00", 18)), "", ""}, "text": {[]byte("hello there, this is text"), "", "no header"},
	} {
		got, err := unzipped(bytes.NewReader(c.in))
		if got != c.got || (err == nil) != (c.fault == "") || err != nil && (!IsContent(err) || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// TestLargeZips has sizes where those of 4 GiB and more stand.
func TestLargeZips(t *testing.T) {
	in := zipOf(t, packedFile{name: "a", text: "one"})
	copy(in[18:26], "\xff\xff\xff\xff\xff\xff\xff\xff")
	in[28] = 24
	extra := "\x07\x00\x00\x00" + "\x01\x00\x10\x00" + "\x03\x00\x00\x00\x00\x00\x00\x00" + "\x03\x00\x00\x00\x00\x00\x00\x00"
	in = append(append(bytes.Clone(in[:31]), extra...), in[31:]...)
	if got, err := unzipped(bytes.NewReader(in)); got != "a=one|" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

// TestZipWindows reads files that each need a window of 128 MiB, as their 14 bytes say: one window is enough for all.
func TestZipWindows(t *testing.T) {
	const frame = "\x28\xb5\x2f\xfd\x00\x88\x11\x00\x00ab" // magic, no sizes, a window of 1<<27, one raw block of two bytes
	files := make([]packedFile, 50)
	for i := range files {
		files[i] = packedFile{name: "f", text: "ab", method: zipZstd, packed: []byte(frame)}
	}
	raw := zipOf(t, files...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for f, err := range ZipFiles(bytes.NewReader(raw)) {
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(f.Reader); err != nil || string(b) != "ab" {
			t.Fatalf("%q, %v", b, err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<30 {
		t.Errorf("%d MiB were allocated", got>>20)
	}
}

// TestZipOfBombs reads a zip whose files inflate by a ratio that is only allowed to small ones.
func TestZipOfBombs(t *testing.T) {
	text := strings.Repeat("0", freeOutput/2)
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, text)
	w.Close()
	bomb := packedFile{name: "f", text: text, method: zipZstd, packed: packed.Bytes()}
	n := 0
	for f, err := range ZipFiles(bytes.NewReader(zipOf(t, bomb, bomb, bomb, bomb))) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		_, err := io.Copy(io.Discard, f.Reader)
		if tooLarge := errors.Is(err, ErrTooLarge); tooLarge != (n > 2) {
			t.Errorf("file %d: %v", n, err)
		}
	}
}

// TestZipContents reads all files of a zip as one layer: what cannot be read is left out.
func TestZipContents(t *testing.T) {
	raw := zipOf(t, packedFile{name: "a", text: "plum ", method: zipDeflated, packed: deflated(t, "plum ")},
		packedFile{name: "b", text: "gone", method: 12}, packedFile{name: "c", text: "fig"})
	r, err := Open("zip", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "plum fig" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestZipContentsBehind reads what lies behind a file of which only the list of files says where it ends, and behind a gap.
func TestZipContentsBehind(t *testing.T) {
	for _, gap := range []int{0, 1, readAhead - 40, readAhead, 3 * readAhead} {
		raw := zipOf(t, packedFile{name: "a", text: "stored" + strings.Repeat("P", gap)}, packedFile{name: "b", text: "plum ", method: zipDeflated, packed: deflated(t, "plum ")},
			packedFile{name: "c", text: "fig"})
		raw[6], raw[18], raw[19], raw[20] = zipSizeAfter, 0, 0, 0
		second := 4 + bytes.Index(raw[4:], []byte("PK\x03\x04"))
		for _, in := range [][]byte{raw, append(append(bytes.Clone(raw[:31]), make([]byte, gap+1)...), raw[second:]...)} {
			r, err := Open("zip", bytes.NewReader(in))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || string(got) != "plum fig" {
				t.Errorf("%d: %q, %v", gap, got, err)
			}
		}
	}
}

// TestZipDirectory: a directory that some programs store as a deflated file of nothing is passed over, with its two bytes.
func TestZipDirectory(t *testing.T) {
	z := zipOf(t, packedFile{name: "samples.", method: zip.Deflate, packed: []byte{3, 0}}, packedFile{name: "samples/1.json", text: "{}"})
	z = bytes.ReplaceAll(z, []byte("samples."), []byte("samples/")) // which the writer does not give any content
	var names []string
	for file, err := range ZipFiles(bytes.NewReader(z)) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, file.Name)
	}
	if len(names) != 1 || names[0] != "samples/1.json" {
		t.Errorf("files %q", names)
	}
	all, err := io.ReadAll(zipContents(bytes.NewReader(z)))
	if err != nil || string(all) != "{}" {
		t.Errorf("contents %q, %v", all, err)
	}
}

// TestUnseekableZips has zips that zipfile of Python 3.11 has written where it could not go back, without and with force_zip64, and one of Go: the
// sizes stand behind the content.
func TestUnseekableZips(t *testing.T) {
	const want = "a.json=pear pear pear pear pear pear pear |empty.json=|b.json=plum|"
	for _, name := range []string{"testdata/unseekable.zip", "testdata/unseekable64.zip"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// The signature is not a part of the standard.
		for _, in := range [][]byte{raw, bytes.ReplaceAll(raw, []byte("PK\x07\x08"), nil)} {
			checkUnseekable(t, name, in, want)
		}
	}
	long := make([]byte, 300_000) // longer than any buffer, and neither compressible nor not
	for i, r := range rand.New(rand.NewPCG(1, 2)).Perm(len(long)) {
		long[i] = "abcdefgh       "[r%15]
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"a", "b"} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(long)
	}
	w.Close()
	if got, err := unzipped(bytes.NewReader(b.Bytes())); got != "a="+string(long)+"|b="+string(long)+"|" || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func checkUnseekable(t *testing.T, name string, raw []byte, want string) {
	for _, r := range []io.Reader{bytes.NewReader(raw), iotest.OneByteReader(bytes.NewReader(raw)), iotest.DataErrReader(bytes.NewReader(raw))} {
		if got, err := unzipped(r); got != want || err != nil {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, want)
		}
	}
	first, last := bytes.Index(raw, []byte("empty.json"))-30, bytes.Index(raw, []byte("PK\x01\x02"))
	for n := range last {
		got, err := unzipped(bytes.NewReader(raw[:n]))
		if !IsContent(err) || n >= first && !strings.HasPrefix(got, want[:strings.Index(want, "|")+1]) {
			t.Errorf("%s, cut at %d: %s, %v", name, n, got, err)
		}
		broken := errors.New("broken disk")
		if _, err := unzipped(io.MultiReader(bytes.NewReader(raw[:n]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
			t.Errorf("%s, broken at %d: %v", name, n, err)
		}
	}
	// What stands behind a file must fit to it: else nobody knows where the next one begins.
	wrong := bytes.Clone(raw)
	wrong[first-1]++
	if got, err := unzipped(bytes.NewReader(wrong)); !errors.Is(err, errZipEnd) || strings.Contains(got, "empty.json") {
		t.Errorf("%s, with a wrong size: %s, %v", name, got, err)
	}
	names := "" // of files that nobody reads
	for f, err := range ZipFiles(bytes.NewReader(raw)) {
		if err != nil {
			t.Fatal(err)
		}
		names += f.Name + " "
	}
	if names != "a.json empty.json b.json " {
		t.Errorf("%s: files %s", name, names)
	}
}

// TestZipLayers opens each file of zips by its layer: two of the same name, in a zip that can be sought, that cannot, and that is compressed itself.
func TestZipLayers(t *testing.T) {
	unseekable, err := os.ReadFile("testdata/unseekable64.zip")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("all work and no play ", 9)
	raw := zipOf(t, packedFile{name: "a/"}, packedFile{name: "a:b", text: "one"}, packedFile{"c", text, zipDeflated, deflated(t, text)}, packedFile{name: "a:b", text: "two"})
	for _, raw := range [][]byte{raw, unseekable} {
		packed := gzipped(t, bytes.NewReader(raw))
		for f, err := range ZipFiles(bytes.NewReader(raw)) {
			if err != nil {
				t.Fatal(err)
			}
			want, _ := io.ReadAll(f.Reader)
			for inner, r := range map[string]io.Reader{f.Inner: bytes.NewReader(raw), "gzip+" + f.Inner: bytes.NewReader(packed)} {
				r, err := Open(inner, r)
				if err != nil {
					t.Fatal(inner, err)
				}
				if got, err := io.ReadAll(r); !bytes.Equal(got, want) || err != nil {
					t.Errorf("%s: %q, %v", inner, got, err)
				}
			}
		}
	}
	for _, inner := range []string{"zip@0:z", "zip@0:a/", "zip@:c", "zip@-1:c", "zip@x:c", "zip@0", "zip:c", fmt.Sprintf("zip@%d:c", bytes.Index(raw, []byte("PK\x01\x02")))} {
		if _, err := Open(inner, bytes.NewReader(raw)); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", inner, err)
		}
	}
	if _, err := Open("zip@99999:c", bytes.NewReader(raw)); !IsContent(err) {
		t.Errorf("beyond the end: %v", err)
	}
}

// seeker counts what is read of a zip that can be sought.
type seeker struct {
	bytes.Reader
	n int
}

func (s *seeker) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.n += n
	return n, err
}

// TestZipLayerWork opens files all over a zip: that takes no more than their own bytes.
func TestZipLayerWork(t *testing.T) {
	text := strings.Repeat("x", 10_000)
	raw := zipOf(t, slices.Repeat([]packedFile{{name: "f", text: text}}, 1000)...)
	var layers []string
	for f, err := range ZipFiles(bytes.NewReader(raw)) {
		if err != nil {
			t.Fatal(err)
		}
		layers = append(layers, f.Inner)
	}
	s := &seeker{}
	for i := len(layers) - 1; i >= 0; i -= 5 {
		s.Reset(raw)
		r, err := Open(layers[i], s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); string(got) != text || err != nil {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	if most := 200 * (len(text) + 8<<10); s.n > most {
		t.Errorf("200 files of 1000 took %d bytes, more than %d", s.n, most)
	}
}
