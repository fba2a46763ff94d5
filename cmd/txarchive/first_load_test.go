package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestFirstLoad disturbs the first load of an archive, which has an index of its own until it is in: by a kill, by Ctrl-C, or not
// at all; in a short campaign by one of these. Whoever reads meanwhile finds nothing or everything, the archive verifies, and the next ingest brings it where an
// undisturbed one does.
func TestFirstLoad(t *testing.T) {
	bin, r := program(t), seedtest.Rand(t)
	source, calm := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "calm")
	events := largeRuns(t, r, source)
	took := run(t, bin, calm, "ingest", source)
	if link, err := os.Readlink(filepath.Join(calm, "index.db")); err != nil || link == "index-1.db" {
		t.Fatalf("after a first load of more than %d bytes the index is %q, %v: it has built none", ingest.BuildFrom, link, err)
	}
	want := dumpViews(t, calm)
	signals := []os.Signal{syscall.SIGKILL, os.Interrupt, nil}
	r.Shuffle(len(signals), func(i, j int) { signals[i], signals[j] = signals[j], signals[i] })
	for i := range max(1, *kills/16) {
		r := seedtest.Rand(t)
		dir := filepath.Join(t.TempDir(), "archive")
		c := exec.Command(bin, "--archive", dir, "ingest", source)
		must(t, c.Start())
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		signal := signals[i%3]
		after := time.NewTimer(time.Duration(r.Int64N(int64(took) + 1)))
		done := false
		for !done {
			select {
			case <-after.C:
				if signal != nil {
					_ = c.Process.Signal(signal) // it may have ended already
				}
			case <-ended:
				done = true
			default:
				// After Ctrl-C it is as much as was in.
				if got := eventsIn(t, bin, dir); signal != os.Interrupt && got != 0 && got != events {
					t.Fatalf("a reader finds %d events, want none or %d", got, events)
				}
				if *kills < 8 { // in a soak there is always a reader
					time.Sleep(took / 10)
				}
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "packs")); err == nil { // else there was no archive yet
			run(t, bin, dir, "verify")
		}
		run(t, bin, dir, "ingest", source)
		run(t, bin, dir, "verify")
		if got := dumpViews(t, dir); !slices.Equal(got, want) {
			t.Fatalf("%v: the views differ from an undisturbed archive (%d rows against %d); first:\n%s", signal, len(got), len(want), firstDifference(got, want))
		}
	}
}

// largeRuns writes AWF transcripts that make a first load large, and returns how many events they have.
func largeRuns(t *testing.T, r *rand.Rand, source string) (events int) {
	t.Helper()
	dir := filepath.Join(source, awfTranscripts)
	must(t, os.MkdirAll(dir, 0o755))
	size := 0
	for i := 0; size < ingest.BuildFrom*9/8; i++ {
		var b strings.Builder
		for seq := range 100 {
			text := strings.Repeat(fmt.Sprintf("%x ", r.Uint64N(1<<20)), 1+r.IntN(1600))
			fmt.Fprintf(&b, `{"seq":%d,"run_id":"%08d-0000-4000-8000-000000000000","type":"message.user","path":"w","iteration":0,"timestamp":"2026-11-%02dT10:%02d:%02dZ","payload":{"role":"user","blocks":[{"type":"text","text":%q}]}}`+"\n",
				seq, i, 1+i%20, seq/60, seq%60, text)
			events++
		}
		size += b.Len()
		written(t, filepath.Join(dir, fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", i)), []byte(b.String()))
	}
	return events
}

// eventsIn is how many events a reader counts; none in what is no archive yet.
func eventsIn(t *testing.T, bin, dir string) int {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "index.db")); err != nil {
		return 0
	}
	out, err := exec.Command(bin, "--archive", dir, "sql", "--json", "SELECT count(*) AS n FROM v_events").CombinedOutput()
	var rows []struct{ N int }
	if err == nil {
		err = json.Unmarshal(out, &rows)
	}
	if err != nil || len(rows) != 1 {
		t.Fatalf("a reader beside a first load: %v\n%s", err, out)
	}
	return rows[0].N
}

// TestFirstLoadKeepsFacts: of a pack of facts that is damaged, or gone, only the index tells what was in it, so that index stays.
func TestFirstLoadKeepsFacts(t *testing.T) {
	for name, harm := range map[string]func(path string){
		"nothing": func(string) {},
		"damaged": func(path string) {
			data, err := os.ReadFile(path)
			must(t, err)
			blobtest.Damage(data, len(data)/2)
			written(t, path, data)
		},
		"missing": func(path string) { must(t, os.Remove(path)) },
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		tx(t, dir, 0, "init")
		tx(t, dir, 0, "prices", "set", "our-model", "input=0.5", "output=2")
		packs, err := filepath.Glob(filepath.Join(dir, "packs/*/*/*"))
		must(t, err)
		if len(packs) != 1 {
			t.Fatalf("%d packs, want 1", len(packs))
		}
		harm(packs[0])
		a := newApp()
		a.buildFrom, a.Out, a.Err = 0, io.Discard, io.Discard
		if code := execute(t.Context(), a, []string{"--archive", dir, "ingest", runs + "/awf"}); code != 0 && code != failure.ExitProblems {
			t.Errorf("%s: ingest: exit %d", name, code)
		}
		link, err := os.Readlink(filepath.Join(dir, "index.db"))
		must(t, err)
		if built := link != "index-1.db"; built != (name == "nothing") {
			t.Errorf("%s: the index is %s", name, link)
		}
		if said := tx(t, dir, 0, "prices", "show", "our-model"); !strings.Contains(said, "0.5") {
			t.Errorf("%s: the price is lost: %s", name, said)
		}
	}
}
