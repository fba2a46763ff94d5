//go:build unix

package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest"
)

// TestSpecialFiles scans links, pipes and odd names below a root: files are archived, and the rest is reported, except for links that hide
// nothing.
func TestSpecialFiles(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.write(transcriptA, awfLines(runA, 1, 2))
	s.write("storage/plugins/empty", "")
	s.write("storage/.hidden/note.txt", "kept")
	s.write("storage/.env", "SECRET=1")
	s.write("beside.txt", "belongs to nothing")
	at := func(name string) string { return filepath.Join(s.dir, "storage", name) }
	for _, err := range []error{
		os.Symlink("..", at("loop")), os.Symlink("nothing", at("broken")), os.Symlink("/dev/null", at("device")), os.Symlink("/etc/passwd", at("outside")),
		syscall.Mkfifo(at("pipe"), 0o600),
		os.WriteFile(at("new\nline\xff"), []byte("odd name"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r := w.ingest("awf", s.dir, ".")
	if len(r.Problems) != 2 || r.Ignored != 1 || r.LeftOut != 1 {
		t.Errorf("special files: %+v", r)
	}
	if got := w.versions("storage/new\nline\xff"); len(got) != 1 || got[0] != "odd name" {
		t.Errorf("a file with an odd name: %q", got)
	}
	if got := w.versions("storage/.hidden/note.txt"); len(got) != 1 {
		t.Error("a hidden directory was not archived")
	}
	if n := w.totals().Totals.Problems; n != 2 {
		t.Errorf("%d problems, want 2", n)
	}
	if r := w.ingest("awf", s.dir, "."); r.Packs != 0 {
		t.Errorf("the same problems again made a pack: %+v", r)
	}
	os.Remove(at("pipe"))
	w.ingest("awf", s.dir, ".")
	if n := w.totals().Totals.Problems; n != 1 {
		t.Errorf("%d problems after one went away, want 1", n)
	}
	before := w.dump()
	w.open("again.db")
	if _, err := w.Reindex(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.compareDumps("reindex", w.dump(), before)
}

// TestLinksOut scans links outside of what a format owns: their targets are reported until they are sources.
func TestLinksOut(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.write(transcriptA, awfLines(runA, 1, 2))
	elsewhere, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"latest": "storage", "gone": "nothing", "self": "self", "projects": elsewhere, "passwd": "/etc/passwd"} {
		if err := os.Symlink(to, filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r := w.ingest("awf", s.dir, ".")
	if want := []ingest.Link{{Source: "awf", Path: "passwd", To: "/etc/passwd"}, {Source: "awf", Path: "projects", To: elsewhere}}; !slices.Equal(r.NotFollowed, want) || len(r.Problems) > 0 {
		t.Errorf("%+v and %+v, want %+v", r.NotFollowed, r.Problems, want)
	}
	other := newTree(t)
	other.dir = elsewhere
	other.write("storage/transcripts/"+runB+".jsonl", awfLines(runB, 1, 2))
	if r := w.ingest("elsewhere", elsewhere, "."); len(r.NotFollowed) > 0 {
		t.Errorf("%+v", r.NotFollowed)
	}
	if r := w.ingest("awf", s.dir, "."); len(r.NotFollowed) != 1 {
		t.Errorf("%+v is told of what is a source", r.NotFollowed)
	}
	// A source that follows one file of a directory does not cover the others.
	files := newTree(t)
	files.write("one.jsonl", awfLines(runB, 1, 2))
	files.write("two.jsonl", awfLines(runB, 1, 2))
	w.ingest("files", files.dir, "one.jsonl")
	for _, name := range []string{"one.jsonl", "two.jsonl"} {
		if err := os.Symlink(filepath.Join(files.dir, name), filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if r := w.ingest("awf", s.dir, "."); len(r.NotFollowed) != 2 || r.NotFollowed[1].Path != "two.jsonl" {
		t.Errorf("%+v", r.NotFollowed)
	}
}
