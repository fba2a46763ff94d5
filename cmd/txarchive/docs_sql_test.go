package main

import (
	"os"
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
	must(t, err)
	reference, worked, _ := strings.Cut(string(b), "\n## Worked queries\n")
	dir := example(t)
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
	must(t, os.WriteFile(sqlDoc, []byte(reference+"\n## Worked queries\n"+got), 0o644))
}
