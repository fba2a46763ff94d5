package main

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/printer"
)

// TestClockWentBack: what is said of runs and sources holds, though it was said before by a clock that was years ahead.
func TestClockWentBack(t *testing.T) {
	dir := t.TempDir() + "/archive"
	ahead, now := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	at := func(now time.Time, line ...string) string {
		t.Helper()
		return runAt(t, now, dir, failure.ExitFine, line...)
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
	runAt(t, ahead, dir, failure.ExitFine, "ingest", runs+"/devflow")
	runAt(t, ahead, dir, failure.ExitFine, "nightly")
	runAt(t, ahead, dir, failure.ExitFine, "status", "--check", "--max-age", "1h")

	runAt(t, now, dir, failure.ExitLimit, "status", "--max-age", "1h")
	if out := runAt(t, now, dir, failure.ExitLimit, "status", "--check"); !strings.Contains(out, "the clock was wrong then") || !strings.Contains(out, "unknown") {
		t.Errorf("nobody knows when the source was scanned:\n%s", out)
	}
	runAt(t, now, dir, failure.ExitFine, "nightly")
	runAt(t, now, dir, failure.ExitFine, "status", "--check", "--max-age", "1h")
	runAt(t, now.Add(48*time.Hour), dir, failure.ExitLimit, "status", "--max-age", "1h")
	runAt(t, now.Add(48*time.Hour), dir, failure.ExitLimit, "status", "--check")
}

// runAt runs a command line at a time, and returns what it prints.
func runAt(t *testing.T, now time.Time, dir string, want int, line ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{Printer: printer.Printer{Out: &out, Err: &errs, Now: func() time.Time { return now }, Getenv: func(key string) string {
		return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent"}[key]
	}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
	if code := execute(t.Context(), a, line); code != want {
		t.Fatalf("%s: exit %d, want %d\n%s%s", strings.Join(line, " "), code, want, out.String(), errs.String())
	}
	return out.String()
}

// TestClockAheadForANight: by a clock that is years ahead everything is old, but the nightly job does not believe it at once.
func TestClockAheadForANight(t *testing.T) {
	dir, bk, keep := t.TempDir()+"/archive", t.TempDir()+"/backup", t.TempDir()+"/keep.yaml"
	must(t, os.WriteFile(keep, []byte("version: 1\nrules:\n  - name: old\n    match: {format: devflow}\n    max_age: 90d\n    action: prune\n"), 0o600))
	now := time.Date(2026, 1, 9, 3, 0, 0, 0, time.UTC)
	at := func(want int, line ...string) string {
		t.Helper()
		return runAt(t, now, dir, want, line...)
	}
	night := func() string {
		t.Helper()
		return at(failure.ExitFine, "nightly", "--utc", "--policy", keep, "--backup", bk, "--keep-within", "30d", "--grace", "2d")
	}
	at(failure.ExitFine, "ingest", runs+"/devflow")
	at(failure.ExitFine, "backup", bk)
	night()
	at(failure.ExitFine, "ingest", runs+"/chibi")
	before := at(failure.ExitFine, "list", "--json")
	now = now.Add(24 * time.Hour)
	night()

	now = now.AddDate(10, 0, 0)
	report := night()
	for _, doubted := range []string{"policy    skipped   nothing is deleted before 2036-01-11 15:00Z", "gc        skipped   nothing is deleted", "2 snapshots; nothing is deleted"} {
		if !strings.Contains(report, doubted) {
			t.Errorf("%q is not in\n%s", doubted, report)
		}
	}
	if status := at(failure.ExitFine, "status", "--utc"); !strings.Contains(status, "nothing is deleted before 2036-01-11 15:00Z: 3652d passed between two nightly runs, or the clock is wrong") {
		t.Errorf("status:\n%s", status)
	}
	if got := at(failure.ExitFine, "list", "--json"); got != before {
		t.Errorf("there are\n%s, there were\n%s", got, before)
	}

	now = now.AddDate(-10, 0, 1)
	if report = night(); strings.Contains(report, "nothing is deleted") || !strings.Contains(report, "policy    ok        nothing to prune") {
		t.Errorf("the clock is right again:\n%s", report)
	}
	if got := at(failure.ExitFine, "list", "--json"); got != before {
		t.Errorf("there are\n%s, there were\n%s", got, before)
	}

	now = now.AddDate(2, 0, 0) // two years without any night
	night()
	now = now.AddDate(0, 0, 2)
	if report = night(); !strings.Contains(report, " pruned, ") {
		t.Errorf("the policy has not come back:\n%s", report)
	}
}
