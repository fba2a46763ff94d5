package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var nights = flag.Int("nights", 3, "how many nights TestMonth takes, more if none of them goes wrong")

// mainAt is the program at another time (TEST_NOW), on a disk that is full after so many operations (TEST_FULL).
func mainAt() {
	now, err := time.Parse(time.RFC3339, os.Getenv("TEST_NOW"))
	if err != nil {
		panic(err)
	}
	a, began := newApp(), time.Now()
	a.Now = func() time.Time { return now.Add(time.Since(began)) }
	if left, err := strconv.ParseInt(os.Getenv("TEST_FULL"), 10, 64); err == nil {
		var done atomic.Int64
		a.fault = func(op, _ string) error {
			if op != disk.OpRemove && op != disk.OpClose && done.Add(1) > left {
				return syscall.ENOSPC
			}
			return nil
		}
	}
	os.Exit(execute(context.Background(), a, os.Args[1:]))
}

// simulation is a month of producers that write, rewrite and clean up, and of nights that go wrong.
type simulation struct {
	t      *testing.T
	rnd    *rand.Rand
	dir    string
	now    time.Time // of the next night
	files  map[string]string
	times  map[string]time.Time
	born   map[string]time.Time       // AWF runs, when all of their events were
	states map[string]map[string]bool // contents of each file that finished nights met
	nights []finished
	bad    int // nights that went wrong
}

// finished is a night: when it was over, and what there was if it archived everything.
type finished struct {
	over  time.Time
	files map[string]string
}

const keepDays = 6 // of AWF runs, by the policy

const monthPolicy = `version: 1
rules:
  - name: old
    match: {format: awf}
    max_age: 6d
    action: prune
`

// TestMonth: at the end every byte that stood there at a finished night can be restored, but for what the policy let
// go, which is what it says by hand; the backup is whole and gives the same; and after every night that went wrong
// status said so before the next.
func TestMonth(t *testing.T) {
	s := newSimulation(t, seedtest.Seed(t))
	must(t, os.WriteFile(s.path("policy.yaml"), []byte(monthPolicy), 0o600))
	s.check(os.CopyFS(s.path("chibi"), os.DirFS(runs+"/chibi"))) // whose home takes notes beside it
	s.day()
	s.must("ingest", s.path("awf"), s.path("chibi"))
	s.met(s.now.Add(time.Minute))
	s.must("backup", s.path("backup"))
	s.must(s.job()...)
	for n := 0; n < *nights || s.bad == 0; n++ {
		s.day()
		s.night()
	}
	s.day()
	s.calm()
	s.end()
}

func newSimulation(t *testing.T, seed uint64) *simulation {
	return &simulation{
		t: t, rnd: rand.New(rand.NewPCG(seed, 30)), dir: t.TempDir(), now: time.Date(2026, 3, 1, 3, 17, 0, 0, time.UTC),
		files: map[string]string{}, times: map[string]time.Time{}, born: map[string]time.Time{}, states: map[string]map[string]bool{},
	}
}

func (s *simulation) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

// day is what producers do between two nights.
func (s *simulation) day() {
	s.t.Helper()
	s.now = s.now.Add(24 * time.Hour)
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		chibi := strings.HasPrefix(name, "chibi")
		switch n := s.rnd.IntN(8); {
		case n == 0 || !chibi && s.now.Sub(s.times[name]) > 4*24*time.Hour: // its producer cleans up
			delete(s.files, name)
			s.check(os.Remove(s.path(name)))
		case n < 3 && !chibi: // a log grows
			s.write(name, s.files[name]+s.events(name, s.rnd.IntN(40)))
		case n < 3:
			s.write(name, s.files[name]+s.words(s.rnd.IntN(3000)))
		case n == 3 && chibi: // rewritten
			s.write(name, s.words(s.rnd.IntN(5000)))
		case n == 4 && chibi: // cut, and begun anew
			s.write(name, s.files[name][:len(s.files[name])/2])
		}
	}
	for range 1 + s.rnd.IntN(2) {
		run := fmt.Sprintf("%08x-0000-4000-8000-%012x", s.rnd.Uint32(), s.rnd.Uint64()>>16)
		name := "awf/storage/transcripts/" + run + ".jsonl"
		s.born[name] = s.now.Add(-17 * time.Hour)
		s.write(name, s.events(name, 1+s.rnd.IntN(20)))
		s.write(fmt.Sprintf("chibi/.chibi/contexts/main/note-%x.txt", s.rnd.Uint32()), s.words(1+s.rnd.IntN(4000)))
	}
}

// events are lines of an AWF transcript, all on the day on which its run began.
func (s *simulation) events(name string, n int) string {
	var b strings.Builder
	run := strings.TrimSuffix(filepath.Base(name), ".jsonl")
	for range n {
		seq := strings.Count(s.files[name], "\n") + strings.Count(b.String(), "\n")
		fmt.Fprintf(&b, `{"seq":%d,"run_id":%q,"type":"message.user","path":"w","iteration":0,"timestamp":%q,"payload":{"role":"user","blocks":[{"type":"text","text":"%x"}]}}`+"\n",
			seq, run, s.born[name].Add(time.Duration(seq)*time.Second).Format(time.RFC3339), s.rnd.Uint64())
	}
	return b.String()
}

func (s *simulation) words(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghij \n"[s.rnd.IntN(12)]
	}
	return string(b)
}

func (s *simulation) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *simulation) write(name, content string) {
	s.t.Helper()
	s.check(os.MkdirAll(filepath.Dir(s.path(name)), 0o700))
	s.check(os.WriteFile(s.path(name), []byte(content), 0o600))
	at := s.now.Add(-time.Duration(s.rnd.Int64N(int64(20 * time.Hour))))
	s.check(os.Chtimes(s.path(name), at, at))
	s.files[name], s.times[name] = content, at
}

// met remembers what stands there: a night that was finished by then has seen it.
func (s *simulation) met(over time.Time) {
	s.nights = append(s.nights, finished{over, maps.Clone(s.files)})
	for name, content := range s.files {
		if s.states[name] == nil {
			s.states[name] = map[string]bool{}
		}
		s.states[name][content] = true
	}
}

// program is the program at a time, not yet started.
func (s *simulation) program(now time.Time, env string, args ...string) *exec.Cmd {
	cmd := exec.Command("txarchive-at", append([]string{"--archive", s.path("archive")}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "TEST_NOW="+now.Format(time.RFC3339), env)
	return cmd
}

func (s *simulation) must(args ...string) string {
	s.t.Helper()
	out, err := s.program(s.now, "", args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *simulation) job() []string {
	return []string{"nightly", "--json", "--wait=0s", "--grace=2d", "--verify-days=5", "--policy", s.path("policy.yaml"), "--backup", s.path("backup"), "--keep-last=3"}
}

// night runs the job, and lets it go wrong more often than not.
func (s *simulation) night() {
	s.t.Helper()
	now, env, kill := s.now.Add(time.Duration(s.rnd.IntN(40))*time.Minute), "", time.Duration(0)
	switch s.rnd.IntN(6) {
	case 0, 1:
		kill = time.Duration(s.rnd.Int64N(int64(300 * time.Millisecond)))
	case 2:
		env = fmt.Sprintf("TEST_FULL=%d", s.rnd.IntN(60))
	case 3:
		now = now.Add(time.Duration(s.rnd.IntN(60)-40) * time.Hour) // the clock is wrong
	}
	cmd := s.program(now, env, s.job()...)
	var out strings.Builder
	cmd.Stdout = &out
	began := time.Now()
	s.check(cmd.Start())
	if kill > 0 {
		time.AfterFunc(kill, func() { _ = cmd.Process.Kill() }) // it may have ended before
	}
	err := cmd.Wait()
	over := now.Add(time.Since(began))
	s.t.Logf("night %d: at %v, kill after %v, %q: %v", len(s.nights), now, kill, env, err)
	whole := false
	var report struct {
		Steps []struct{ Step, Outcome string }
	}
	if json.Unmarshal([]byte(out.String()), &report) == nil {
		for _, step := range report.Steps {
			whole = whole || step.Step == "ingest" && step.Outcome == "ok"
		}
	}
	if whole {
		s.met(over)
	} else {
		s.nights = append(s.nights, finished{over: over}) // some of it may have been archived, at this time
	}
	if err == nil {
		return
	}
	s.bad++
	// Within a day: at the latest some hours after the next night should have been.
	status, err := s.program(s.now.Add(27*time.Hour), "", "status", "--check", "--json").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != failure.ExitLimit {
		s.t.Errorf("the night of %v went wrong (kill %v, %s), and status does not say so: %v\n%s\n%s", now, kill, env, err, status, out.String())
	}
}

// calm is a night in which nothing goes wrong; the one before may have left something to be done.
func (s *simulation) calm() {
	s.t.Helper()
	s.must(s.job()...)
	s.met(s.now.Add(time.Minute))
	s.must("status", "--check")
	s.must("verify", "--deep")
	s.must("backup", "verify", s.path("backup"), "--full")
}

// end compares the archive, and one that is made of the backup alone, with what was met.
func (s *simulation) end() {
	s.t.Helper()
	cutoff := s.now.AddDate(0, 0, -keepDays)
	for _, from := range []string{"archive", "again"} {
		if from == "again" {
			s.must("backup", "restore", s.path("backup"), "--to", s.path("again"))
		}
		back := s.path("back-" + from)
		s.must("--archive", s.path(from), "restore", "--all", "--all-versions", "--to", back)
		versions := restored(s.t, back)
		for name, states := range s.states {
			gone := !s.born[name].IsZero() && s.born[name].Before(cutoff)
			if gone && len(versions[name]) > 0 {
				s.t.Errorf("%s: %s should have been pruned", from, name)
			}
			for state := range states {
				if !gone && !slices.ContainsFunc(versions[name], func(v string) bool { return strings.HasPrefix(v, state) }) {
					s.t.Errorf("%s: %d bytes that %s once had are nowhere in %d versions", from, len(state), name, len(versions[name]))
				}
			}
		}
		s.then(from, cutoff)
	}
}

// then restores what was archived at the end of a few nights: the very bytes of then. Nights during which the clock was
// wrong, and those that seem to come after them or before, tell no order.
func (s *simulation) then(from string, cutoff time.Time) {
	s.t.Helper()
	for _, i := range s.rnd.Perm(len(s.nights))[:min(3, len(s.nights))] {
		night := s.nights[i]
		if slices.ContainsFunc(s.nights[:i], func(n finished) bool { return !n.over.Before(night.over) }) ||
			slices.ContainsFunc(s.nights[i+1:], func(n finished) bool { return !n.over.After(night.over) }) {
			continue
		}
		back := s.path(fmt.Sprintf("then-%s-%d", from, i))
		s.must("--archive", s.path(from), "restore", "--all", "--at", night.over.Format(time.RFC3339Nano), "--to", back)
		for name, want := range night.files {
			if !s.born[name].IsZero() && s.born[name].Before(cutoff) {
				continue // pruned since
			}
			if got, err := os.ReadFile(filepath.Join(back, name)); err != nil || string(got) != want {
				s.t.Errorf("%s: %s had %d bytes at the end of night %d, restored are %d: %v", from, name, len(want), i, len(got), err)
			}
		}
	}
}

// restored reads what was restored: the contents of each file, older versions beside the newest.
func restored(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, all := filesIn(t, dir), map[string][]string{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		name, _, _ := strings.Cut(file, "@v")
		all[name] = append(all[name], files[file])
	}
	return all
}
