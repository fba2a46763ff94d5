package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/printer"
)

// onTerminal runs a command line whose results and messages go to a terminal of 80 columns.
func onTerminal(t *testing.T, dir string, env map[string]string, line ...string) (code int, screen string) {
	t.Helper()
	slave, shown := terminalOf(t, 80)
	a := &app{Printer: printer.Printer{Out: slave, Err: slave, Now: time.Now, Getenv: func(key string) string {
		if v, ok := env[key]; ok {
			return v
		}
		return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent", "TERM": "xterm", "NO_COLOR": "1"}[key]
	}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
	code = execute(t.Context(), a, line)
	return code, shown()
}

// marking is a pager that puts a mark before every line.
var marking = map[string]string{"TXARCHIVE_PAGER": "sed 's/^/P: /'"}

func TestPager(t *testing.T) {
	dir := filled(t)
	if code, _, stderr := inside(t.Context(), dir, "", "report", "save", "weekly", "--", "cost", "--by", "week"); code != 0 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	for _, line := range []string{"list", "list conversations", "show r4tga7f3ymvx3", "tree r4tga7f3ymvx3", "stats", "doctor", "cat awf/storage/audit.jsonl",
		"report run token-trend", "report run weekly -q", "report diff 2026-10 all -q"} {
		code, screen := onTerminal(t, dir, marking, strings.Fields(line)...)
		for _, s := range strings.Split(strings.TrimSpace(screen), "\n") {
			if code != 0 || !strings.HasPrefix(s, "P: ") {
				t.Errorf("%s: exit %d, a line past the pager: %q", line, code, s)
				break
			}
		}
		if _, screen = onTerminal(t, dir, marking, append(strings.Fields(line), "--no-pager")...); strings.Contains(screen, "P: ") {
			t.Errorf("%s --no-pager: %q", line, screen)
		}
	}
	for _, env := range []map[string]string{{"TXARCHIVE_PAGER": "cat", "PAGER": "sed 's/^/P: /'"}, {"PAGER": "sed 's/^/P: /'", "TERM": "dumb"}} {
		if _, screen := onTerminal(t, dir, env, "list"); strings.Contains(screen, "P: ") {
			t.Errorf("with %v there is a pager: %q", env, screen)
		}
	}
	if code, screen := onTerminal(t, dir, map[string]string{"PAGER": "sed 's/^/P: /'"}, "sql", "SELECT 1 AS one"); code != 0 || screen != "P: one\nP:   1\n" {
		t.Errorf("sql: exit %d, %q", code, screen)
	}
}

// TestPagerUTF8 holds that less shows UTF-8 in every locale, unless somebody wants otherwise.
func TestPagerUTF8(t *testing.T) {
	dir, env := filled(t), map[string]string{"PAGER": "echo $LESSCHARSET; cat >/dev/null"}
	t.Setenv("LESSCHARSET", "latin1")
	if _, screen := onTerminal(t, dir, env, "list"); !strings.HasPrefix(screen, "latin1\n") {
		t.Errorf("what was set is another: %q", screen)
	}
	must(t, os.Unsetenv("LESSCHARSET"))
	if _, screen := onTerminal(t, dir, env, "list"); !strings.HasPrefix(screen, "utf-8\n") {
		t.Errorf("%q", screen)
	}
}

// TestPagerMessages holds that messages come after the page, and errors as they are.
func TestPagerMessages(t *testing.T) {
	dir := filled(t)
	code, screen := onTerminal(t, dir, marking, "search", "workflow")
	if i, j := strings.LastIndex(screen, "P: "), strings.Index(screen, "searched rows"); code != 0 || i < 0 || j < i {
		t.Errorf("exit %d\n%s", code, screen)
	}
	if code, screen := onTerminal(t, dir, marking, "show", "rnothere"); code != failure.ExitNotFound || strings.Contains(screen, "P: ") || !strings.Contains(screen, "hint: ") {
		t.Errorf("exit %d\n%s", code, screen)
	}
	if code, screen := onTerminal(t, dir, map[string]string{"PAGER": "/no/such/pager"}, "stats"); code != 0 || !strings.Contains(screen, "--no-pager") {
		t.Errorf("a pager that is not there: exit %d\n%s", code, screen)
	}
}

// TestPagerLeft holds that a reader who has seen enough ends the program, and well.
func TestPagerLeft(t *testing.T) {
	top := t.TempDir()
	var big bytes.Buffer
	for i := range 40_000 {
		fmt.Fprintf(&big, "line %d of a long note\n", i)
	}
	must(t, os.WriteFile(top+"/notes.txt", big.Bytes(), 0o600))
	dir := top + "/archive"
	if code, _, stderr := inside(t.Context(), dir, "", "ingest", "--all", top+"/notes.txt"); code != 0 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	code, screen := onTerminal(t, dir, map[string]string{"PAGER": "head -3"}, "sql", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
	if code != 0 || strings.Count(screen, "\n") != 3 {
		t.Errorf("sql without an end: exit %d, %d lines", code, strings.Count(screen, "\n"))
	}
	if code, screen = onTerminal(t, dir, map[string]string{"PAGER": "head -3"}, "cat", top+"/notes.txt"); code != 0 || strings.Count(screen, "\n") != 3 {
		t.Errorf("cat: exit %d\n%s", code, screen)
	}
}

// TestNothingActsOnATerminal: what a terminal would act on comes through in no form of results, and in no message.
func TestNothingActsOnATerminal(t *testing.T) {
	dir := filled(t)
	evil := "a\x1b[2J\x1b]0;owned\a\u009b31mb"
	for _, format := range []string{"table", "csv", "json", "ndjson", "markdown"} {
		if code, screen := onTerminal(t, dir, nil, "--no-pager", "sql", "--format", format, "SELECT '"+evil+"' AS x"); code != 0 || strings.ContainsAny(screen, "\x1b\a\u009b") || !strings.Contains(screen, "b") {
			t.Errorf("%s: exit %d, %q", format, code, screen)
		}
	}
	odd := t.TempDir() + "/" + evil
	must(t, os.Mkdir(odd, 0o700))
	for _, line := range [][]string{{"source", "add", odd}, {"source", "add", odd}, {"source", "list"}, {"ingest", odd}, {"show", evil}, {"cat", evil}, {"search", "nothing", "source:" + evil},
		{"policy", "check", odd}, {"source", "remove", filepath.Base(odd)}, {"--" + evil}, {evil}} {
		if _, screen := onTerminal(t, dir, nil, append(line, "--no-pager")...); strings.ContainsAny(screen, "\x1b\a\u009b") {
			t.Errorf("%q: %q", line, screen)
		}
	}
}
