package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const sqlDoc = "../../docs/sql.md"

// workedQuery is a query of docs/sql.md with what it prints.
var workedQuery = regexp.MustCompile("(?s)```sql\n(.*?)\n```\n```\n(.*?)```\n")

// TestWorkedQueries runs the worked queries of docs/sql.md on the example runs and compares; -update writes what they
// print.
func TestWorkedQueries(t *testing.T) {
	b, err := os.ReadFile(sqlDoc)
	if err != nil {
		t.Fatal(err)
	}
	reference, worked, _ := strings.Cut(string(b), "\n## Worked queries\n")
	dir := allRuns(t)
	n := 0
	got := workedQuery.ReplaceAllStringFunc(worked, func(block string) string {
		n++
		m := workedQuery.FindStringSubmatch(block)
		code, stdout, stderr := inside(t.Context(), dir, "", "sql", m[1])
		if code != 0 || strings.Count(stdout, "\n") < 2 {
			t.Errorf("%s: exit %d, %q\n%s", m[1], code, stdout, stderr)
		}
		return "```sql\n" + m[1] + "\n```\n```\n" + stdout + "```\n"
	})
	if n < 20 {
		t.Errorf("there are %d worked queries", n)
	}
	if got == worked {
		return
	}
	if !*update {
		t.Errorf("the worked queries print\n%s\n%s has\n%s", got, sqlDoc, worked)
		return
	}
	if err := os.WriteFile(sqlDoc, []byte(reference+"\n## Worked queries\n"+got), 0o644); err != nil {
		t.Fatal(err)
	}
}

// allRuns is an archive with the examples of all formats, each a source of its own.
func allRuns(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "archive")
	examples, err := filepath.Glob(runs + "/*")
	if err != nil || len(examples) < 5 {
		t.Fatal(examples, err)
	}
	if code, _, stderr := inside(t.Context(), dir, "", append([]string{"ingest"}, examples...)...); code != 0 {
		t.Fatalf("ingest: exit %d\n%s", code, stderr)
	}
	return dir
}
