package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/printer"
)

// sitting is a terminal with somebody at it who does something when a question appears, and then types an answer, if any.
type sitting struct {
	bytes.Buffer
	asked  func()
	answer string
}

func (s *sitting) Columns() int { return 80 }

func (s *sitting) Read(p []byte) (int, error) {
	if s.answer == "" {
		select {}
	}
	return copy(p, s.answer), nil
}

func (s *sitting) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("[y/N]")) {
		s.asked()
	}
	return s.Buffer.Write(b)
}

// at runs a command at the terminal, in the archive in dir.
func (s *sitting) at(ctx context.Context, dir string, line ...string) (code int) {
	a := &app{Printer: printer.Printer{Out: s, Err: s, Now: time.Now, Getenv: func(key string) string {
		return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent", "NO_COLOR": "1"}[key]
	}}, in: s, log: slog.New(slog.DiscardHandler)}
	return execute(ctx, a, line)
}

// TestInterruptedQuestion holds that Ctrl-C is an answer: a question does not wait for a line that is typed after it.
func TestInterruptedQuestion(t *testing.T) {
	dir := filled(t)
	for _, line := range []string{"prune --run r4tga7f3ymvx3", "forget --match workflow --apply"} {
		ctx, interrupt := context.WithCancel(t.Context())
		screen := &sitting{asked: interrupt}
		code := make(chan int, 1)
		go func() { code <- screen.at(ctx, dir, strings.Fields(line)...) }()
		select {
		case got := <-code:
			if s := screen.String(); got != failure.ExitInterrupted || !strings.HasSuffix(s, "[y/N] \ntxarchive: interrupted\nhint: nothing was done\n") {
				t.Errorf("%s: exit %d\n%s", line, got, s)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s still waits for an answer", line)
		}
	}
}

// TestQuestionHoldsNobodyUp has another command write while one waits for an answer, as a night's work may do when the terminal is
// forgotten. What was shown is still what is done, or nothing.
func TestQuestionHoldsNobodyUp(t *testing.T) {
	const run, other = "rben1g1hma5at", "r4tga7f3ymvx3"
	damaged := func(dir string) {
		packs, err := filepath.Glob(dir + "/packs/*/*/*.tar.gz")
		must(t, err)
		b, err := os.ReadFile(packs[0])
		must(t, err)
		for i := len(b) / 4; i < len(b)/2; i++ { // one bit may be one that nothing depends on: then nothing is lost, and nothing asked
			b[i] ^= 0x55
		}
		written(t, packs[0], b)
		must(t, os.Rename(dir+"/../runs", dir+"/../away"))
	}
	for _, c := range []struct {
		before    func(dir string)
		asks      string
		meanwhile string
		code      int
		said      string
	}{
		{nil, "prune --run " + run, "pin " + other, failure.ExitFine, "Applied as plan"},
		{nil, "prune --run " + run, "pin " + run, failure.ExitRefused, "run " + run + " has changed"},
		{nil, "forget --match workflow --apply", "pin " + other, failure.ExitFine, "nothing is left"},
		{nil, "forget --match workflow --apply", "tag add " + other + " workflow", failure.ExitRefused, "nothing was removed: the archive has changed"},
		{nil, "forget --match workflow --apply", "forget --match workflow --apply --yes", failure.ExitNotFound, "nothing in the archive matches"},
		{damaged, "verify --repair", "pin " + other, failure.ExitFine, "No errors remain"},
		{damaged, "verify --repair", "verify --repair --yes", failure.ExitRefused, "nothing was changed: the archive has changed"},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		must(t, os.CopyFS(dir+"/../runs", os.DirFS(runs+"/awf")))
		call(t, dir, "ingest", dir+"/../runs")
		if c.before != nil {
			c.before(dir)
		}
		asked := false
		screen := &sitting{asked: func() { asked = true; call(t, dir, strings.Fields(c.meanwhile)...) }, answer: "y\n"}
		if code := screen.at(t.Context(), dir, strings.Fields(c.asks)...); code != c.code || !strings.Contains(screen.String(), c.said) {
			t.Errorf("%s, and %s meanwhile: exit %d, want %d and %q\n%s", c.asks, c.meanwhile, code, c.code, c.said, screen.String())
		}
		if !asked {
			t.Errorf("%s asked nothing", c.asks)
		}
		call(t, dir, "verify", "--deep")
	}
}
