package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/source"
)

// TestWalkBesideIndex walks a source before the scan's data is loaded from the index.
func TestWalkBesideIndex(t *testing.T) {
	dir := t.TempDir()
	const files = 50
	for i := range files {
		below := filepath.Join(dir, strconv.Itoa(i%7))
		if err := os.MkdirAll(below, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(below, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, unprepared := range []error{nil, errors.New("no index")} {
		for _, below := range []string{".", "3/3"} {
			s := &scan{g: &Ingester{}, root: source.Root{Dir: dir, Below: below}, report: &Report{}, statCache: &index.StatCache{}, loaded: make(chan struct{}), loadErr: unprepared}
			ended := make(chan error)
			go func() { ended <- s.walk(context.Background()) }()
			select {
			case err := <-ended:
				t.Fatalf("it ended before the index had told what it knows: %v", err)
			case s.loaded <- struct{}{}: // somebody waits
			}
			close(s.loaded)
			want := int64(files)
			if below != "." {
				want = 1
			}
			if unprepared != nil {
				want = 0
			}
			if err := <-ended; !errors.Is(err, unprepared) || s.total != want {
				t.Errorf("%s: met %d, want %d: %v", below, s.total, want, err)
			}
		}
	}
}
