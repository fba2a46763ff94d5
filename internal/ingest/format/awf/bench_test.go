package awf

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

func BenchmarkTranscript(b *testing.B) {
	names, err := filepath.Glob("testdata/sample/in/storage/transcripts/*.jsonl")
	if err != nil || len(names) == 0 {
		b.Fatal(err)
	}
	var content []byte
	for _, name := range names {
		file, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		content = append(content, file...)
	}
	content = bytes.Repeat(content, 100)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		in := format.Input{Path: "t.jsonl", Role: roleTranscript, Reader: bytes.NewReader(content)}
		for _, err := range New().Parse(in) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
