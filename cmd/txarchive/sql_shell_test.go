package main

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/sqlshell"
)

// typing is somebody who types lines; "^C" is Ctrl-C.
type typing struct {
	lines   []string
	prompts []string
	kept    []string
}

func (p *typing) Prompt(prompt string) (string, error) {
	p.prompts = append(p.prompts, prompt)
	if len(p.lines) == 0 {
		return "", io.EOF
	}
	typed := p.lines[0]
	p.lines = p.lines[1:]
	if typed == "^C" {
		return "", sqlshell.ErrAborted
	}
	return typed, nil
}

func (p *typing) AppendHistory(s string) { p.kept = append(p.kept, s) }

// shellOf is a shell over an archive with the AWF example in it.
func shellOf(t *testing.T, typed ...string) (s *sqlshell.Shell, p *typing, stdout, stderr *bytes.Buffer) {
	t.Helper()
	dir, state := filled(t), t.TempDir()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	a := &app{Printer: printer.Printer{Out: stdout, Err: stderr, Now: time.Now, Color: "never",
		Getenv: func(key string) string { return map[string]string{"XDG_STATE_HOME": state}[key] }}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler), archive: dir}
	store, err := a.openRead(t.Context())
	must(t, err)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	words, err := sqlshell.ReadWords(t.Context(), store.Index())
	must(t, err)
	p = &typing{lines: typed}
	s = a.shell(store, &sqlOptions{format: "csv"}, nil, words)
	s.Lines, s.History = p, a.history("sql_history")
	return s, p, stdout, stderr
}

func TestShell(t *testing.T) {
	s, p, stdout, stderr := shellOf(t,
		"", "SELECT count(*) AS n", "FROM v_runs", "WHERE counted;", // over three lines
		"SELECT nope;", "SELECT 1", "^C", "SELECT 'a;", "b' AS text;",
		".format ndjson", "SELECT 2 AS two;", ".format xml", ".nope", ".help", ".views", ".schema v_problems", ".schema v_nope", "DROP TABLE runs;", "SELECT", "exit", ";", "Help", "exit;", "SELECT 3;")
	must(t, s.Run(t.Context()))
	for _, want := range []string{"n\n7\n", "text\n\"a;\nb\"\n", `{"two":2}`, "Ctrl-C stops", "  v_cost_daily\n", "problem_id, format, kind, reason"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for _, want := range []string{"no such column: nope", "  SELECT nope;", "no such column: exit", "unknown format \"xml\"", "unknown command \".nope\"", "unknown view \"v_nope\"", "1 row, "} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in\n%s", want, stderr)
		}
	}
	if len(p.lines) != 1 || p.prompts[1] != "sql> " || p.prompts[2] != "...> " {
		t.Errorf("left %v, prompts %q", p.lines, p.prompts)
	}
	if !slices.Contains(p.kept, "SELECT count(*) AS n FROM v_runs WHERE counted;") || !slices.Contains(p.kept, "b' AS text;") {
		t.Errorf("history %q", p.kept)
	}
	if s.History.Text() != strings.Join(p.kept, "\n")+"\n" {
		t.Errorf("the file has %q", s.History.Text())
	}
	for path, mode := range map[string]os.FileMode{s.History.Path: 0o600, filepath.Dir(s.History.Path): 0o700} {
		info, err := os.Stat(path)
		must(t, err)
		if os.PathSeparator == '/' && info.Mode().Perm() != mode {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
	}
}

// TestShellHelpIsNarrow: nothing wraps it.
func TestShellHelpIsNarrow(t *testing.T) {
	s, _, stdout, _ := shellOf(t, ".help")
	must(t, s.Run(t.Context()))
	for l := range strings.Lines(stdout.String()) {
		if len(l) > 80 {
			t.Errorf("%d columns: %s", len(l), l)
		}
	}
}

func TestShellEnds(t *testing.T) {
	s, _, stdout, _ := shellOf(t, "SELECT 1") // and then Ctrl-D
	if err := s.Run(t.Context()); err != nil || stdout.String() != "\n" {
		t.Errorf("%v, %q", err, stdout)
	}
}

func TestSQLCompletion(t *testing.T) {
	s, _, _, _ := shellOf(t)
	for _, c := range []struct {
		typed, head string
		offers      []string
	}{
		{"SELECT * FROM v_ru", "SELECT * FROM ", []string{"v_runs"}},
		{"sel", "", []string{"SELECT"}},
		{"SELECT producer_v", "SELECT ", []string{"producer_version"}},
		{"SELECT p.reas FROM v_problems p WHERE p.pro", "SELECT p.reas FROM v_problems p WHERE p.", []string{"problem_id"}},
		{"SELECT event_te", "SELECT ", []string{"event_text("}},
		{".sch", "", []string{".schema"}},
		{".schema v_ru", ".schema ", []string{"v_runs"}},
		{"SELECT 1 ", "SELECT 1 ", nil},
		{"SELECT '数据库' AS 汉", "SELECT '数据库' AS 汉", nil},
	} {
		head, offers := s.Words.Complete(c.typed)
		if head != c.head || !slices.Equal(offers, c.offers) {
			t.Errorf("%q: %q %q, want %q %q", c.typed, head, offers, c.head, c.offers)
		}
	}
}
