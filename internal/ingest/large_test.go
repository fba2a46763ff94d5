package ingest_test

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob/pack"
)

// TestEqualLargeFiles: of files that have one content it is stored once, also when none of them is in the index before the
// others are read, and however many workers read them at the same time.
func TestEqualLargeFiles(t *testing.T) {
	for _, size := range []int{pack.DefaultMemberSize, 2 << 20} {
		s, w := newTree(t), newWorld(t)
		for _, name := range []string{"first", "second"} {
			text := awfLine(runA, 1, name) + awfLine(runA, 2, strings.Repeat("wicker ", size/7))
			var paths []string
			for _, copied := range []string{"", "-copy", "-again"} {
				paths = append(paths, "storage/transcripts/"+name+copied+".jsonl")
				s.write(paths[len(paths)-1], text)
			}
			r := w.ingest("awf", s.dir, ".")
			if r.New != 1 || r.Copies != 2 || len(r.Problems) > 0 {
				t.Errorf("the %s of %d bytes: %d new and %d copies, want 1 and 2: %v", name, len(text), r.New, r.Copies, r.Problems)
			}
			for _, path := range paths {
				if got := w.stored(path); len(got) != 1 || got[0] != text {
					t.Errorf("%s of %d bytes is stored in %d versions, not as it was written", path, len(text), len(got))
				}
			}
		}
		before := w.dump()
		again := &world{t: t, dir: w.dir}
		again.open("again.db")
		if _, err := again.Reindex(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.same("reindex", again.dump(), before)
	}
}
