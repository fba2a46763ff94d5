package pack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
)

// TestPackingAllocates bounds the allocations of packing: the compressed bytes of a member and their slot in a list, and the name
// of a small entry.
func TestPackingAllocates(t *testing.T) {
	const entries, large = 400, 4 << 20
	w := newWorld(t, 1)
	small, long := w.text(500), w.text(large)
	b := NewBuilder(Options{})
	v := &blob.Version{Source: "src", Path: "threads/a/.meta/transcripts/20260301-1000.txt", Number: 1, ModTime: testTime, Extents: []blob.Extent{{Size: 500, Raw: 512}}}
	versions := make([]blob.Version, entries)
	for i := range versions {
		versions[i] = *v
		versions[i].Path = fmt.Sprintf("threads/a/.meta/transcripts/%d.txt", i)
	}
	var content bytes.Reader
	add := func() {
		for i := range versions {
			content.Reset(small)
			if _, err := b.Put(&versions[i], &v.Extents[0], &content); err != nil {
				t.Fatal(err)
			}
		}
		if b.Flush() == nil {
			t.Fatal("no unit")
		}
	}
	add()
	if n := testing.AllocsPerRun(5, add) / entries; n > 1.1 {
		t.Errorf("%.2f allocations for each small entry", n)
	}
	line := make([]byte, 0, 1<<10)
	if n := testing.AllocsPerRun(5, func() {
		if name := entryName(v.Source, v.Path, v.Number, v.Root, 0); name != v.Source+"/"+v.Path {
			t.Fatal(name)
		}
		if _, ok := appendVersion(line, v); !ok {
			t.Fatal("no plain version")
		}
	}); n > 2 {
		t.Errorf("%.2f allocations for the name and the line of a version", n)
	}
	one := func() {
		l, err := b.Large(v, &blob.Extent{Size: large})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Write(long); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	one()
	if n := testing.AllocsPerRun(3, one) / (large / DefaultMemberSize); n > 2.5 {
		t.Errorf("%.1f allocations for each member", n)
	}
}

// BenchmarkSmall packs receipts of 500 bytes into shared members.
func BenchmarkSmall(b *testing.B) {
	content := newWorld(b, 1).text(500)
	builder := NewBuilder(Options{})
	var raw, stored int64
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		v := blob.Version{Source: "runs", Path: fmt.Sprintf("run-%d/receipt.json", i), Number: 1, ModTime: testTime}
		unit, err := builder.Put(&v, &blob.Extent{Size: int64(len(content))}, bytes.NewReader(content))
		if err != nil {
			b.Fatal(err)
		}
		raw += int64(len(content))
		if unit != nil {
			stored += unit.StoredSize()
		}
	}
	b.ReportMetric(float64(stored)/float64(raw), "stored/raw")
}

// BenchmarkLarge packs a transcript of 8 MiB.
func BenchmarkLarge(b *testing.B) {
	content := newWorld(b, 1).text(8 << 20)
	builder := NewBuilder(Options{})
	b.SetBytes(int64(len(content)))
	v := blob.Version{Source: "runs", Path: "a.jsonl", Number: 1, ModTime: testTime}
	b.ReportAllocs()
	for b.Loop() {
		w, err := builder.Large(&v, &blob.Extent{Size: int64(len(content))})
		if err != nil {
			b.Fatal(err)
		}
		for rest := content; len(rest) > 0; rest = rest[min(len(rest), 64<<10):] {
			if _, err := w.Write(rest[:min(len(rest), 64<<10)]); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadRange reads 2 KiB of a cold member.
func BenchmarkReadRange(b *testing.B) {
	w := newWorld(b, 1)
	w.opts.MemberSize = 0
	w.begin()
	text := reads(b)
	c := w.add("runs", "a.jsonl", 1, text)
	m := w.seal()
	data := blobtest.Bytes(blobtestRead(b, w.store, m.Pack))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		raw := c.extents[0].Raw + int64(i)*100003%int64(len(text)-2048)
		if _, err := (&View{Pack: data, Members: m.Members}).ReadRange(context.Background(), raw, 2048); err != nil {
			b.Fatal(err)
		}
	}
}

// reads returns a transcript in which an agent reads the sources of these packages. Each line contains a source twice, as Claude
// Code writes it.
func reads(b *testing.B) (lines []byte) {
	b.Helper()
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		line, err := json.Marshal(map[string]any{
			"type":          "user",
			"message":       map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": path, "content": string(file)}}},
			"toolUseResult": map[string]any{"type": "text", "file": map[string]any{"filePath": path, "content": string(file)}},
		})
		lines = append(append(lines, line...), '\n')
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return lines
}
