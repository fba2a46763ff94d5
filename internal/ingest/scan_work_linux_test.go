package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/source"
)

// TestListWork bounds the allocations of listing a directory: each file has its name, its directory entry and its path, and no path is
// made for a system call.
func TestListWork(t *testing.T) {
	const files = 2000
	dir := t.TempDir()
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%04d.txt", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := testing.AllocsPerRun(5, func() {
		s := &scan{g: &Ingester{}, root: source.Root{Dir: dir, Below: "."}, report: &Report{}}
		if err := s.walk(context.Background()); err != nil || s.total != files {
			t.Fatalf("%d files: %v", s.total, err)
		}
	})
	if each := n / files; each > 3.5 {
		t.Errorf("%.1f allocations a file, want at most 3", each)
	}
}
