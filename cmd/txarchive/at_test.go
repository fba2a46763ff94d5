package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestRestoreAtAfterGC: whatever gc has joined, merged and thrown away, restore --at gives the bytes of each file as they
// were archived at each time, with the times of then; also without an index, and of what forget
// has put marks into.
func TestRestoreAtAfterGC(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, seedtest.Seed(t))
	s.check(os.CopyFS(s.path("chibi"), os.DirFS(runs+"/chibi")))
	log := "awf/storage/transcripts/00000001-0000-4000-8000-000000000001.jsonl"
	s.born[log] = s.now
	const secret = "hunter2-and-a-quokka"
	content := strings.Replace(s.events(log, 1), `"text":"`, `"text":"`+secret, 1)
	type then struct {
		at    time.Time
		files map[string]string
		times map[string]time.Time
	}
	var history []then
	for n := range 9 {
		s.day()
		s.files[log] = content
		content += s.events(log, 1+s.rnd.IntN(60))
		s.write(log, content)
		s.must("ingest", s.path("awf"), s.path("chibi"))
		history = append(history, then{s.now.Add(time.Hour), maps.Clone(s.files), maps.Clone(s.times)})
		if n == 7 {
			s.must("gc")
		}
	}
	if n := extentsOf(t, s.path("archive"), log); n > 4 { // of nine
		t.Errorf("gc has left %d extents", n)
	}
	var forgotten bool
	mark := []byte(secret)
	blob.Mark(mark)
	same := func(when string) {
		t.Helper()
		for i, h := range history {
			if *fulls == 1 && s.rnd.IntN(3) > 0 { // a soak looks at every day
				continue
			}
			back := s.path(fmt.Sprintf("back-%s-%d", when, i))
			s.must("restore", "--all", "--at", h.at.Format(time.RFC3339), "--to", back)
			for name, want := range h.files {
				file := filepath.Join(back, name)
				got, err := os.ReadFile(file)
				info, serr := os.Stat(file)
				if forgotten {
					got = bytes.ReplaceAll(got, mark, []byte(secret))
				}
				if err != nil || serr != nil || string(got) != want || !info.ModTime().Equal(h.times[name]) {
					t.Errorf("%s: on day %d %s had %d bytes, restored are %d (%v)", when, i, name, len(want), len(got), err)
				}
			}
		}
	}
	same("joined")
	withoutIndex(t, s.path("archive"))
	same("bare")
	s.must("reindex")
	s.must("gc")
	s.must("forget", "--match", secret, "--apply", "--yes")
	forgotten = true
	same("forgotten")
	s.must("verify", "--deep")
}

// extentsOf counts the extents of a file in all packs.
func extentsOf(t *testing.T, dir, name string) (n int) {
	t.Helper()
	packs, err := filepath.Glob(dir + "/packs/*/*/*.gz")
	must(t, err)
	for _, file := range packs {
		f, err := os.Open(file)
		must(t, err)
		info, err := f.Stat()
		must(t, err)
		r, err := pack.Open(t.Context(), sized{f, info.Size()}, "")
		must(t, err)
		for _, v := range r.Manifest().Versions {
			if v.Source+"/"+v.Path == name {
				n += len(v.Extents)
			}
		}
		must(t, f.Close())
	}
	return n
}

// sized is an open pack.
type sized struct {
	*os.File
	size int64
}

func (s sized) Size() int64 { return s.size }
