package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// TestCostScreens: reports fit terminals of 80 columns and more, side by side where that can be; explanations are whole.
func TestCostScreens(t *testing.T) {
	dir := example(t)
	for _, line := range []string{
		"cost", "cost --by format", "cost --by model,flow", "cost --by day,model,flow,step", "cost --by run,project", "cost --by hour,tool", "cost --by conversation",
		"cost --blocks", "cost --tree r4tga7f3ymvx3", "cost --tree review", "cost --budget 1000", "prices list", "prices list sonnet", "prices show gpt-5.4",
	} {
		for _, width := range []int{80, 200} {
			slave, screen := terminalOf(t, uint16(width))
			a := &app{Printer: printer.Printer{Out: slave, Err: new(bytes.Buffer), Now: time.Now, Getenv: func(key string) string {
				return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent", "TERM": "xterm", "TXARCHIVE_PAGER": "cat"}[key]
			}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
			code := execute(t.Context(), a, strings.Fields(line))
			out := screen()
			if code != 0 || strings.TrimSpace(out) == "" {
				t.Errorf("%s: exit %d, %q\n%v", line, code, out, a.Err)
			}
			for _, s := range strings.Split(out, "\n") {
				if n := terminal.Width(s); n > width {
					t.Errorf("%s: %d of %d columns: %q", line, n, width, s)
				}
			}
		}
	}
}
