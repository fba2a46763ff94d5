//go:build !386 && !arm

package ingest_test

import (
	"math"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTimesOfNobody has files with times beyond the range of nanoseconds since 1970, as far as the file system supports them; on 32-bit systems it does not.
func TestTimesOfNobody(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	for name, at := range map[string]time.Time{"early": time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), "windows": time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC),
		"late": time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC), "never": time.Unix(math.MaxInt32<<10, 0)} {
		file := piFile(name)
		s.write(file, piHead(name, 0, "")+piTurn(name, 1))
		to := unix.Timespec{Sec: at.Unix()}
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(s.dir, file), []unix.Timespec{to, to}, 0); err != nil {
			t.Fatal(err)
		}
	}
	w.ingest("home", s.dir, ".")
	w.checkReindex("times of nobody")
	if got := w.query("SELECT DISTINCT substr(mtime, 1, 4) FROM v_files WHERE path LIKE '%late.jsonl'"); len(got) != 1 || got[0] != "2262" {
		t.Errorf("a file of the year 2400 is of %v", got)
	}
	if r := w.ingest("home", s.dir, "."); r.Files != 4 || r.New+r.Grown+r.Rewritten != 0 {
		t.Errorf("once more: %+v", r)
	}
}
