package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/printer"
)

// sitting is a terminal with somebody at it who types nothing, but presses Ctrl-C when a question appears.
type sitting struct {
	bytes.Buffer
	interrupt func()
}

func (s *sitting) Columns() int             { return 80 }
func (s *sitting) Read([]byte) (int, error) { select {} }

func (s *sitting) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("[y/N]")) {
		s.interrupt()
	}
	return s.Buffer.Write(b)
}

// TestInterruptedQuestion holds that Ctrl-C is an answer: a question does not wait for a line that is typed after it.
func TestInterruptedQuestion(t *testing.T) {
	dir := filled(t)
	for _, line := range []string{"prune --run r4tga7f3ymvx3", "forget --match workflow --apply"} {
		ctx, interrupt := context.WithCancel(t.Context())
		screen := &sitting{interrupt: interrupt}
		a := &app{Printer: printer.Printer{Out: screen, Err: screen, Now: time.Now, Getenv: func(key string) string {
			return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent", "NO_COLOR": "1"}[key]
		}}, in: screen, log: slog.New(slog.DiscardHandler)}
		code := make(chan int, 1)
		go func() { code <- execute(ctx, a, strings.Fields(line)) }()
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
