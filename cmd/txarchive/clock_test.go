package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestClockWentBack: what is said of runs and sources holds, though it was said before by a clock that was years ahead.
func TestClockWentBack(t *testing.T) {
	dir := t.TempDir() + "/archive"
	ahead, now := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	at := func(now time.Time, line ...string) string {
		t.Helper()
		return runAt(t, now, dir, exitFine, line...)
	}
	const run, other, query = "r2fs94pz3fwak", "rdejf3b5mx4b3", "status:canceled"
	at(ahead, "ingest", runs+"/devflow")
	before := at(ahead, "list", "--json")
	at(ahead, "pin", run)
	at(ahead, "pin", other)
	at(ahead, "unpin", other)
	at(ahead, "tag", "add", run, "x")
	at(ahead, "prune", "--query", query, "--yes")

	at(now, "unpin", run)
	at(now, "tag", "remove", run, "x")
	at(now, "prune", "--undo")
	at(now, "pin", other)
	at(now, "source", "remove", "devflow")
	for _, again := range []bool{false, true} {
		if again {
			at(now, "reindex")
		}
		if pinned := at(now, "pin"); strings.Contains(pinned, run) || !strings.Contains(pinned, other) {
			t.Errorf("after a reindex: %v, pinned are\n%s", again, pinned)
		}
		if tagged := at(now, "list", "tag:x", "--json"); tagged != "" {
			t.Errorf("after a reindex: %v, tagged is\n%s", again, tagged)
		}
		if list := at(now, "source", "list"); !strings.Contains(list, "removed") {
			t.Errorf("after a reindex: %v, sources are\n%s", again, list)
		}
		if list := at(now, "list", "--json", query); !strings.Contains(list, other) {
			t.Errorf("after a reindex: %v, the run did not come back", again)
		}
	}
	at(now, "source", "add", runs+"/devflow")
	at(now, "unpin", other)
	at(ahead, "prune", "--query", query, "--thin", "search", "--yes")
	at(now, "prune", "--undo")
	at(ahead, "prune", "--query", query, "--yes")
	at(now, "gc")
	at(now, "ingest", "--pruned")
	if got := at(now, "list", "--json"); got != before {
		t.Errorf("in the end there are\n%s, there were\n%s", got, before)
	}
}

// TestClockWasAhead: what a clock that was years ahead has left behind does not silence status for years.
func TestClockWasAhead(t *testing.T) {
	dir := t.TempDir() + "/archive"
	ahead, now := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	runAt(t, ahead, dir, exitFine, "ingest", runs+"/devflow")
	runAt(t, ahead, dir, exitFine, "nightly")
	runAt(t, ahead, dir, exitFine, "status", "--check", "--max-age", "1h")

	runAt(t, now, dir, exitLimit, "status", "--max-age", "1h")
	if out := runAt(t, now, dir, exitLimit, "status", "--check"); !strings.Contains(out, "the clock was wrong then") || !strings.Contains(out, "unknown") {
		t.Errorf("nobody knows when the source was scanned:\n%s", out)
	}
	runAt(t, now, dir, exitFine, "nightly")
	runAt(t, now, dir, exitFine, "status", "--check", "--max-age", "1h")
	runAt(t, now.Add(48*time.Hour), dir, exitLimit, "status", "--max-age", "1h")
	runAt(t, now.Add(48*time.Hour), dir, exitLimit, "status", "--check")
}

// runAt runs a command line at a time, and returns what it prints.
func runAt(t *testing.T, now time.Time, dir string, want int, line ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, err: &errs, now: func() time.Time { return now }, log: slog.New(slog.DiscardHandler), getenv: func(key string) string {
		return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent"}[key]
	}}
	if code := execute(t.Context(), a, line); code != want {
		t.Fatalf("%s: exit %d, want %d\n%s%s", strings.Join(line, " "), code, want, out.String(), errs.String())
	}
	return out.String()
}
