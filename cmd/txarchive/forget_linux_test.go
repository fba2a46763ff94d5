package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/prune/gc"
)

// TestForgetKeepsLocks: to read the files of the index costs none of the locks that SQLite has on them. Without these, another process
// takes itself for the only one, and truncates the memory that the two share.
func TestForgetKeepsLocks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	if code, _, stderr := inside(t.Context(), dir, "", "ingest", runs+"/leslie"); code != 0 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	a := &app{Printer: printer.Printer{Out: new(bytes.Buffer), Err: new(bytes.Buffer), Now: time.Now, Getenv: func(string) string { return "" }}, archive: dir, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
	store, err := a.openRead(t.Context())
	must(t, err)
	defer store.Close()
	pattern, err := gc.ParsePattern("never said")
	must(t, err)
	w := &forgetJob{app: a, store: store, pattern: pattern}
	_, err = w.findAll(t.Context(), w.forgetter())
	must(t, err)
	if locksIn(t, dir) == 0 {
		t.Error("no lock on the index is left")
	}
}

// locksIn returns how many locks of this process there are on the files of an index.
func locksIn(t *testing.T, dir string) (n int) {
	t.Helper()
	all, err := os.ReadFile("/proc/locks")
	must(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "index-*"))
	must(t, err)
	for _, name := range files {
		info, err := os.Stat(name)
		must(t, err)
		inode := fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
		for _, l := range strings.Split(string(all), "\n") {
			if strings.Contains(l, "POSIX") && strings.Contains(l, inode) && strings.Contains(l, fmt.Sprintf(" %d ", os.Getpid())) {
				n++
			}
		}
	}
	return n
}
