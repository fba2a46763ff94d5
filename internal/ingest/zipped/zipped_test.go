package zipped

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// packed returns a zip of alternating names and contents. A content that begins with "stored:" is not compressed.
func packed(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &zip.FileHeader{Name: files[i], Method: zip.Deflate, Modified: time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)}
		content, stored := strings.CutPrefix(files[i+1], "stored:")
		if stored {
			h.Method = zip.Store
		}
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(f, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// listed returns a zip from its central directory on.
func listed(b []byte) []byte { return b[bytes.Index(b, []byte("PK\x01\x02")):] }

func open(t testing.TB, b []byte) []File {
	t.Helper()
	all, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestOpen(t *testing.T) {
	long := strings.Repeat("all work and no play ", 50000)
	all := open(t, packed(t, "dir/", "", "conversations.json", "[]", "dir/a.png", "stored:"+long, "long.txt", long))
	for i, want := range []struct{ path, content string }{{"conversations.json", "[]"}, {"dir/a.png", long}, {"long.txt", long}} {
		f := &all[i]
		if f.Path != want.path || f.Name != want.path || f.Size != int64(len(want.content)) || f.ModTime.Format("2006-01-02") != "2026-05-01" || f.Err != nil {
			t.Errorf("%+v, want %s of %d bytes", f, want.path, len(want.content))
		}
		if err := f.Check(); err != nil {
			t.Error(f.Path, err)
		}
		if head, err := f.Head(10); err != nil || string(head) != want.content[:min(10, len(want.content))] {
			t.Errorf("%s begins with %q, %v", f.Path, head, err)
		}
		c := f.Content()
		defer c.Close()
		if err := iotest.TestReader(io.NewSectionReader(c, 0, f.Size), []byte(want.content[:min(len(want.content), 1<<10)])); len(want.content) < 1<<10 && err != nil {
			t.Error(err)
		}
		for _, at := range [][2]int{{0, 1}, {len(want.content) / 2, len(want.content)}, {1, 2}, {0, len(want.content)}} { // forth and back
			got, err := io.ReadAll(io.NewSectionReader(c, int64(at[0]), int64(at[1]-at[0])))
			if err != nil || string(got) != want.content[at[0]:at[1]] {
				t.Errorf("%s from %d to %d: %d bytes, %v", f.Path, at[0], at[1], len(got), err)
			}
		}
	}
	if len(all) != 3 {
		t.Errorf("%d files, want 3", len(all))
	}
}

// TestNames has names that lead out of the zip, and names that collide.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"../../etc/passwd": "..%2F..%2Fetc%2Fpasswd", "/etc/passwd": "%2Fetc%2Fpasswd", "..": "%2E%2E", ".": "%2E", "": "%", "a//b": "a%2F%2Fb",
		`C:\x`: "C%3A%5Cx", "C:x": "C%3Ax", "a\x00b": "a%00b", "\xff.txt": "%FF.txt", "a/./b": "a%2F.%2Fb", "übung/日本.txt": "übung/日本.txt",
	} {
		if got := pathOf(name); got != want || !fs.ValidPath(got) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	var left []string
	b := packed(t, "a", "1", "b", "2", "a", "3", "b/c", "4", "b-", "5", "../x", "6", "..%2Fx", "7", strings.Repeat("n", maxName+1), "8",
		"d/"+strings.Repeat("e", maxElement), "9", "d/"+strings.Repeat("f", maxElement+1), "10", "../"+strings.Repeat("é", 99), "11")
	for _, f := range open(t, b) {
		if (f.Err == nil) != (f.Check() == nil) {
			t.Errorf("%+v: %v", f, f.Check())
		}
		if f.Err != nil {
			left = append(left, fmt.Sprintf("%.9s: %v", f.Name, f.Err))
		}
	}
	want := []string{"a: " + errTwice.Error(), "b: " + errTwice.Error(), "..%2Fx: " + errTwice.Error(), "nnnnnnnnn: " + errName.Error(),
		"d/fffffff: " + errName.Error(), "../éééééé: " + errName.Error()}
	slices.Sort(left)
	if slices.Sort(want); !slices.Equal(left, want) {
		t.Errorf("left out:\n%s\nwant\n%s", strings.Join(left, "\n"), strings.Join(want, "\n"))
	}
}

// TestHostile has zips that Open must refuse.
func TestHostile(t *testing.T) {
	good := packed(t, "conversations.json", strings.Repeat("[1] ", 9999))
	large := func(size uint32) []byte { // than it is
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(listed(b)[24:], size)
		return b
	}
	many := func(names int) []byte {
		files := make([]string, 0, 2*names)
		for i := range names {
			files = append(files, fmt.Sprintf("%09d%s", i, strings.Repeat("x", 1000)), "")
		}
		return packed(t, files...)
	}
	// It says of itself that it lists 2^40 files, and is long enough for the standard library to believe it.
	countless := append(append([]byte("PK\x06\x06"), make([]byte, 52)...), append([]byte("PK\x06\x07"), make([]byte, 16)...)...)
	binary.LittleEndian.PutUint64(countless[32:], 1<<40)
	binary.LittleEndian.PutUint64(countless[64:], 1<<50)
	binary.LittleEndian.PutUint32(countless[72:], 1)
	countless = append(countless, append([]byte("PK\x05\x06"), make([]byte, 18)...)...)
	binary.LittleEndian.PutUint16(countless[76+10:], 0xffff)
	for name, c := range map[string]struct {
		b    []byte
		at   int64 // zeros before it
		want error
	}{
		"empty":           {nil, 0, ErrFormat},
		"text":            {[]byte("hello"), 0, ErrFormat},
		"cut":             {good[:len(good)-30], 0, ErrFormat},
		"beginning alone": {good[:60], 0, ErrFormat},
		"bomb":            {large(1 << 30), 0, ErrTooLarge},
		"many":            {many(9000), 0, ErrTooMany},
		"countless":       {countless, 1 << 50, ErrTooMany},
	} {
		if _, err := Open(&behind{c.b, c.at}, c.at+int64(len(c.b))); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := Open(&behind{good, 1 << 20}, 1<<20+int64(len(good))); err != nil {
		t.Errorf("behind a program: %v", err)
	}
	broken := errors.New("disk")
	if _, err := Open(failing{broken}, 100); !errors.Is(err, broken) {
		t.Errorf("a disk that fails: %v", err)
	}
}

// behind reads bytes at an offset, after zeros.
type behind struct {
	b  []byte
	at int64
}

func (z *behind) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < z.at {
		k := int(min(int64(len(p)-n), z.at-off))
		clear(p[n : n+k])
		n, off = n+k, off+int64(k)
	}
	k, err := bytes.NewReader(z.b).ReadAt(p[n:], off-z.at)
	return n + k, err
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

// TestDamaged has files that differ from their entries in the central directory.
func TestDamaged(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		"encrypted":  func(b []byte) { listed(b)[8] |= 1 },
		"checksum":   func(b []byte) { listed(b)[16] ^= 1 },
		"content":    func(b []byte) { b[60] ^= 0x55 },
		"too short":  func(b []byte) { binary.LittleEndian.PutUint32(listed(b)[24:], 40001) },
		"too long":   func(b []byte) { binary.LittleEndian.PutUint32(listed(b)[24:], 39999) },
		"method":     func(b []byte) { listed(b)[10] = 99 },
		"elsewhere":  func(b []byte) { binary.LittleEndian.PutUint32(listed(b)[42:], 1<<30) },
		"not a file": func(b []byte) { b[0] = 'X' },
		"directory":  func(b []byte) { listed(b)[46] = '/' }, // with a content
	} {
		b := packed(t, "a", strings.Repeat("[1] ", 10000))
		if change(b); open(t, b)[0].Check() == nil {
			t.Errorf("%s: nothing is wrong with it", name)
		}
	}
}

// TestMemory opens a zip with as many files as allowed, and reads a long file: neither takes memory in proportion to the content.
func TestMemory(t *testing.T) {
	files := make([]string, 0, 200000)
	for i := range 80000 {
		files = append(files, fmt.Sprintf("dalle/%020d.webp", i), "")
	}
	files = append(files, "long", strings.Repeat("0123456789abcdef", 4<<20))
	b := packed(t, files...)
	files = nil
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all := open(t, b)
	if err := all[len(all)-1].Check(); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 96<<20 {
		t.Errorf("%d MiB for %d files", took>>20, len(all))
	}
	runtime.KeepAlive(all)
}

// FuzzOpen checks the promises for arbitrary zips: paths are local and unique, and what is read is what is stated and
// what Check accepted.
func FuzzOpen(f *testing.F) {
	f.Add(packed(f, "conversations.json", `[{"a":1}]`, "dir/", "", "dir/a", "stored:xyz"))
	f.Add(packed(f, "../a", "1", "a", "2", "a", "3", "a/b", "4"))
	f.Add(packed(f))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrTooMany) && !errors.Is(err, ErrTooLarge) {
				t.Errorf("%v", err)
			}
			return
		}
		paths, dirs := map[string]bool{}, map[string]bool{}
		for i := range all {
			one := &all[i]
			if !fs.ValidPath(one.Path) || one.Path == "." || strings.ContainsAny(one.Path, "\\:\x00") {
				t.Errorf("%q became %q", one.Name, one.Path)
			}
			if one.Check() != nil {
				continue
			}
			if paths[one.Path] {
				t.Errorf("two files %q", one.Path)
			}
			paths[one.Path] = true
			for at, c := range one.Path {
				if c == '/' {
					dirs[one.Path[:at]] = true
				}
			}
			c := one.Content()
			got, err := io.ReadAll(io.NewSectionReader(c, 0, one.Size+9))
			again, _ := io.ReadAll(io.NewSectionReader(c, 0, one.Size))
			c.Close()
			head, headErr := one.Head(3)
			if err != nil || headErr != nil || int64(len(got)) != one.Size || !bytes.Equal(got, again) || !bytes.HasPrefix(got, head) {
				t.Errorf("%q of %d bytes: %d, %v, %v", one.Path, one.Size, len(got), err, headErr)
			}
		}
		for p := range paths {
			if dirs[p] {
				t.Errorf("%q is a file and a directory", p)
			}
		}
	})
}
