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

// TestPagesFit: prose, lists and tables of the documentation are no wider than a terminal, and say what they say in a pipe.
func TestPagesFit(t *testing.T) {
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for _, page := range pageNames() {
		_, plain, _ := inside(t.Context(), t.TempDir(), "", "docs", page)
		for _, width := range []int{60, 80} {
			slave, screen := terminalOf(t, uint16(width))
			a := &app{Printer: printer.Printer{Out: slave, Err: new(bytes.Buffer), Now: time.Now, Getenv: func(string) string { return "" }}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
			code := execute(t.Context(), a, []string{"docs", page, "--no-pager"})
			out := screen()
			if code != 0 {
				t.Errorf("%s at %d columns: exit %d\n%s", page, width, code, out)
			}
			if !strings.Contains(plain, "\n|") && words(out) != words(plain) {
				t.Errorf("%s at %d columns says something else", page, width)
			}
			fenced := false
			for line := range strings.Lines(out) {
				fenced = fenced != strings.HasPrefix(line, "```")
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width && !fenced && !strings.HasPrefix(line, "    ") && !strings.Contains(line, "`txarchive ") && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s: %d of %d columns: %s", page, n, width, line)
				}
			}
		}
	}
}
