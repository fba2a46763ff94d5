package main

import (
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/txarchive/txarchive/internal/seedtest"
)

var (
	kills = flag.Int("kills", 2, "how many times the crash tests kill the program")
)

// built is the real binary, made once by the first test that wants it; TestMain removes it.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// builtProgram names the real binary in the environment of a test that another test has begun.
const builtProgram = "TEST_TXARCHIVE"

// program is the real binary: a test binary that runs itself would die with its tests.
func program(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv(builtProgram); bin != "" {
		return bin
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "txarchive-built"); built.err != nil {
			return
		}
		build := exec.Command("go", "build", "-pgo=off", "-ldflags=-w", "-o", filepath.Join(built.dir, "txarchive"), ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if raced {
			build.Args = slices.Insert(build.Args, 2, "-race")
			build.Env = append(os.Environ(), "CGO_ENABLED=1")
		}
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("build: %w\n%s", err, out)
		}
	})
	must(t, built.err)
	return filepath.Join(built.dir, "txarchive")
}

// TestKilledIngest kills ingests of a growing source at random instants. After every kill the archive verifies, and
// in the end the repeated command has reached what an undisturbed ingest of the same steps gives.
func TestKilledIngest(t *testing.T) {
	bin, source := program(t), filepath.Join(t.TempDir(), "runs")
	disturbed, calm := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	examples := filepath.Join(t.TempDir(), "few")
	fewRuns(t, examples)
	for round, done := 0, 0; done < *kills; round++ {
		r := seedtest.Rand(t)
		grow(t, r, examples, filepath.Join(source, fmt.Sprintf("part%02d", round%4)), round)
		took := run(t, bin, calm, "ingest", source)
		for n := 0; n < 6 && done < *kills; n++ {
			if struck(t, bin, disturbed, r, took, []string{"ingest", source}) {
				done++
			}
			if _, err := os.Stat(filepath.Join(disturbed, "packs")); err == nil { // else it was killed before there was an archive
				run(t, bin, disturbed, "verify")
			}
		}
		run(t, bin, disturbed, "ingest", source)
	}
	run(t, bin, disturbed, "ingest", source)
	run(t, bin, disturbed, "verify")
	want, got := dumpViews(t, calm), dumpViews(t, disturbed)
	if !slices.Equal(want, got) {
		t.Errorf("after %d kills the views differ from an undisturbed archive (%d rows against %d); first:\n%s", *kills, len(got), len(want), firstDifference(got, want))
	}
}

// grow lays a copy of the examples and makes its logs longer.
func grow(t *testing.T, r *rand.Rand, from, to string, round int) {
	t.Helper()
	if _, err := os.Stat(to); err != nil {
		must(t, os.CopyFS(to, os.DirFS(from)))
	}
	line := fmt.Sprintf(`{"seq":%d,"run_id":"7bbb1888-b9f8-4f6d-99fa-5db6adc0f63e","type":"message.user","path":"w","iteration":0,"timestamp":"2026-11-21T%02d:%02d:%02dZ","payload":{"role":"user","blocks":[{"type":"text","text":"round %d %d"}]}}`+"\n",
		1000+round, round/3600%24, round/60%60, round%60, round, r.Uint64())
	name := filepath.Join(to, "awf/storage/transcripts", fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", round))
	must(t, os.WriteFile(name, []byte(strings.Repeat(line, 1+r.IntN(2000))), 0o600))
	past := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(to, func(p string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			err = os.Chtimes(p, past, past)
		}
		return err
	})
	must(t, err)
}

// run expects a command to end well and says how long it took.
func run(t *testing.T, bin, archive string, args ...string) time.Duration {
	t.Helper()
	began := time.Now()
	out, err := exec.Command(bin, append([]string{"--archive", archive}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return time.Since(began)
}

// dumpViews is every row of every view of an archive, sorted.
func dumpViews(t *testing.T, archive string) []string {
	t.Helper()
	var queries []string
	for _, view := range []string{"v_runs", "v_conversations", "v_steps", "v_events", "v_tool_calls", "v_usage", "v_receipts", "v_links",
		"v_files", "v_problems", "v_cost_daily"} {
		queries = append(queries, "SELECT * FROM "+view)
	}
	return dumpRows(t, archive, "", queries...)
}

// dumpRows is every row of some queries to the index of an archive, but for one column, sorted.
func dumpRows(t *testing.T, archive, but string, queries ...string) (all []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(archive, "index.db")+"?mode=ro")
	must(t, err)
	defer db.Close()
	for _, query := range queries {
		rows, err := db.Query(query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		columns, err := rows.Columns()
		must(t, err)
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			must(t, rows.Scan(values...))
			var line strings.Builder
			line.WriteString(query)
			for i, v := range values {
				if columns[i] != but {
					fmt.Fprintf(&line, " %s=%v", columns[i], *v.(*any))
				}
			}
			all = append(all, line.String())
		}
		must(t, rows.Err())
		rows.Close()
	}
	slices.Sort(all)
	return all
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return "got  " + got[i] + "\nwant " + want[i]
		}
	}
	return fmt.Sprintf("%d rows against %d", len(got), len(want))
}
