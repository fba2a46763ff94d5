package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNothingIsQuoted: what was archived is in results only. No message, no line of the log and no reason of a problem has a
// word of it, be the transcripts broken in any way, or the archive damaged.
func TestNothingIsQuoted(t *testing.T) {
	t.Parallel()
	const word = "secretword"
	source, dir, n := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "archive"), 0
	fewRuns(t, source)
	texts, numbers := regexp.MustCompile(`:\s*"`), regexp.MustCompile(`:\s*[0-9]+`)
	must(t, filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".db") || strings.HasSuffix(path, ".gz") {
			return err
		}
		b, err := os.ReadFile(path)
		must(t, err)
		s := string(b)
		switch n++; n % 6 {
		case 0:
			s += "\n{\"" + word + "\": " + word + "\n"
		case 1:
			s = s[:len(s)/2] + word + "\\x"
		case 2:
			s = word + s
		case 3: // types, times and names that nobody knows
			s = texts.ReplaceAllString(s, "${0}"+word)
		case 4:
			s = numbers.ReplaceAllString(s, `:"`+word+`"`)
		case 5:
			s = strings.ReplaceAll(s, ":{", `:["`+word+`",{`)
		}
		written(t, path, []byte(s))
		return nil
	}))
	said := func(line ...string) {
		t.Helper()
		_, stdout, stderr := inside(t.Context(), dir, "", append([]string{"--verbose"}, line...)...)
		if line[0] == "sql" {
			stderr += stdout
		}
		for s := range strings.Lines(stderr) {
			if strings.Contains(s, word) {
				t.Errorf("%s: %s", strings.Join(line, " "), s)
			}
		}
	}
	said("ingest", source)
	said("ingest")
	said("sql", "SELECT reason FROM v_problems")
	problems := decode[[]map[string]int](t, call(t, dir, "sql", "--json", "SELECT count(*) AS n FROM v_problems"))[0]["n"]
	if problems < 50 {
		t.Fatalf("%d problems: too few to say anything", problems)
	}
	all := [][]string{{"verify"}, {"verify", "--deep"}, {"doctor"}, {"status"}, {"stats"}, {"list"}, {"show", "r4tga7f3ymvx3"}, {"search", "name"},
		{"restore", "--all", "--to", filepath.Join(t.TempDir(), "a")}, {"reindex"}, {"gc"}}
	for _, line := range all {
		said(line...)
	}
	flipped(t, dir)
	for _, line := range append(all, []string{"verify", "--repair", "--yes"}, []string{"sql", "SELECT reason FROM v_problems"}) {
		said(line...)
	}
}
