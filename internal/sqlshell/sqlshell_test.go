package sqlshell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStatementComplete(t *testing.T) {
	for statement, want := range map[string]bool{
		"":                         false,
		"SELECT 1":                 false,
		"SELECT 1;":                true,
		"SELECT 1; -- done":        true,
		"SELECT 1 -- ;":            false,
		"SELECT 1 -- ;\n;":         true,
		"SELECT ';":                false,
		"SELECT ';'":               false,
		"SELECT 'it''s';":          true,
		`SELECT ";" FROM [a;b] ; `: true,
		"SELECT 1 /* ; */":         false,
		"SELECT 1 /* ; */ ;":       true,
		"SELECT 1 /* ;":            false,
		"SELECT 1; SELECT 2":       false,
		"SELECT '数据库；';":           true,
	} {
		if got := complete(statement); got != want {
			t.Errorf("%q: complete is %v", statement, got)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "h")
	open := func() *History {
		t.Helper()
		h, err := OpenHistory(path)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := open()
	h.Add("first")
	h.Add("evil \x1b[2J line")
	if err := os.WriteFile(path, append([]byte(strings.Repeat(strings.Repeat("x", 999)+"\n", 1100)), "last\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	h = open()
	if info, err := os.Stat(path); err != nil || info.Size() > maxHistorySize {
		t.Errorf("%v, %d bytes", err, info.Size())
	}
	if text := h.Text(); !strings.HasSuffix(text, "\nlast\n") || strings.Count(text, "\n") > maxHistoryLines {
		t.Errorf("%d lines", strings.Count(text, "\n"))
	}
	if (&History{}).Text() != "" {
		t.Error("no file has a text")
	}
}
