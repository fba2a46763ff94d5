//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
)

// interrupted runs a command, presses Ctrl-C as soon as ready says so, and returns how it ended.
func interrupted(t *testing.T, bin, archive string, ready func() bool, args ...string) (code int, stderr string) {
	t.Helper()
	c := exec.Command(bin, append([]string{"--archive", archive}, args...)...)
	var errs bytes.Buffer
	c.Stderr = &errs
	must(t, c.Start())
	for deadline := time.Now().Add(10 * time.Second); !ready() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	_ = c.Process.Signal(syscall.SIGINT) // it may have ended already
	err := c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), errs.String()
}

// TestCtrlC interrupts commands that work: they end cleanly, say what is kept, and go on when they are run again.
func TestCtrlC(t *testing.T) {
	top := t.TempDir()
	bin, source := program(t), filepath.Join(top, "runs")
	calm, disturbed := filepath.Join(top, "calm"), filepath.Join(top, "disturbed")
	examples, err := filepath.Abs(runs)
	must(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 2 {
		grow(t, r, examples, filepath.Join(source, fmt.Sprintf("part%02d", n)), n)
	}
	run(t, bin, calm, "ingest", source)
	there := func(path string) func() bool {
		return func() bool { _, err := os.Stat(path); return err == nil }
	}
	for _, c := range []struct {
		archive string
		ready   func() bool
		args    []string
		says    string
	}{
		{disturbed, there(filepath.Join(disturbed, "packs")), []string{"ingest", source}, "completed work is kept; run the command again to continue"},
		{calm, there(filepath.Join(top, "back", "runs")), []string{"restore", "--all", "--to", filepath.Join(top, "back")}, "files restored so far are complete"},
		{calm, func() bool {
			b, err := os.ReadFile(filepath.Join(calm, "lock"))
			return err == nil && bytes.Contains(b, []byte("reindex"))
		}, []string{"reindex"}, "the previous index is still in place"},
	} {
		code, stderr := interrupted(t, bin, c.archive, c.ready, c.args...)
		if code != failure.ExitInterrupted || !strings.Contains(stderr, "txarchive: interrupted\nhint: ") || !strings.Contains(stderr, c.says) || strings.Contains(stderr, "canceled") {
			t.Errorf("%s: exit %d, want %d, and %q in\n%s", c.args[0], code, failure.ExitInterrupted, c.says, stderr)
		}
		run(t, bin, c.archive, "verify")
		run(t, bin, c.archive, c.args...)
	}
	if want, got := dumpViews(t, calm), dumpViews(t, disturbed); !slices.Equal(want, got) {
		t.Errorf("an ingest that was interrupted and run again: %s", firstDifference(got, want))
	}
}

// TestClosedPipe has commands print into pipes that nobody reads: those that work go on to their end, those that only read end silently.
func TestClosedPipe(t *testing.T) {
	top := t.TempDir()
	bin, archive := program(t), filepath.Join(top, "archive")
	examples, err := filepath.Abs(runs)
	must(t, err)
	r, w, err := os.Pipe()
	must(t, errors.Join(err, r.Close()))
	defer w.Close()
	unread := func(stderr *os.File, args ...string) *os.ProcessState {
		c := exec.Command(bin, append([]string{"--archive", archive}, args...)...)
		c.Stdout, c.Stderr = w, stderr
		_ = c.Run() // the state says it
		return c.ProcessState
	}
	back, backup := filepath.Join(top, "back"), filepath.Join(top, "backup")
	for _, args := range [][]string{
		{"ingest", "-v", examples}, {"backup", "-v", backup}, {"verify", "-v"}, {"restore", "-v", "--all", "--to", back},
		{"prune", "-v", "--query", "format:awf", "--yes"}, {"gc", "-v"}, {"reindex", "-v"}, {"backup", "verify", "--full", backup}, {"nightly", "-v"},
	} {
		if state := unread(w, args...); state.ExitCode() != failure.ExitFine {
			t.Errorf("%s: %v", args[0], state)
		}
	}
	out, err := exec.Command(bin, "--archive", archive, "status", "--json").Output()
	if err != nil || !bytes.Contains(out, []byte(`"failed_steps":[],"problems":[]`)) || bytes.Contains(out, []byte(`"nightly":{"started":null`)) {
		t.Errorf("the nightly has not come to its end: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(back, "runs")); err != nil {
		t.Error(err)
	}
	if state := unread(nil, "list"); state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE {
		t.Errorf("list: %v", state)
	}
}
