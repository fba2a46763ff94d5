package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/printer"
)

// TestHelpFits: help is no wider than a terminal, but for command lines, which stay whole; and it says what it says in a pipe.
func TestHelpFits(t *testing.T) {
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	var check func(*cobra.Command)
	check = func(c *cobra.Command) {
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		_, plain, _ := inside(t.Context(), t.TempDir(), "", args...)
		for _, width := range []int{60, 80} {
			slave, screen := terminalOf(t, uint16(width))
			a := &app{Printer: printer.Printer{Out: slave, Err: new(bytes.Buffer), Now: time.Now, Getenv: func(string) string { return "" }}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
			code := execute(t.Context(), a, args)
			out := screen()
			if code != 0 || words(out) != words(plain) {
				t.Errorf("%s at %d columns: exit %d\n%s", args, width, code, out)
			}
			for line := range strings.Lines(out) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width && !strings.Contains(line, "txarchive ") && strings.Contains(line, " ") {
					t.Errorf("%s: %d of %d columns: %s", args, n, width, line)
				}
			}
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRootCommand(&app{}, ""))
}
