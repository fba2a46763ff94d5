package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/printer"
)

// TestShown compares what pages show, behind a line, with what the program prints; -update writes that.
func TestShown(t *testing.T) {
	home := t.TempDir()
	for name, from := range map[string]string{"awf": "awf", "chibi": "chibi", "leslie": "leslie/shop"} {
		must(t, os.CopyFS(filepath.Join(home, name), os.DirFS(filepath.Join(runs, from))))
	}
	prints := func(code int, words ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		a := &app{Printer: printer.Printer{Out: &out, Err: &errs, Now: time.Now, Getenv: func(key string) string {
			return map[string]string{"TXARCHIVE_DIR": home + "/archive", "HOME": home}[key]
		}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
		if got := execute(t.Context(), a, words); got != code {
			t.Fatalf("%q: exit %d, want %d\n%s", words, got, code, &errs)
		}
		return strings.ReplaceAll(out.String()+errs.String(), home, "/home/ada")
	}
	backup := home + "/mnt/backup"
	prints(0, "ingest", home+"/awf", home+"/chibi", home+"/leslie")
	prints(0, "backup", backup)
	compareShown(t, "nightly", "By hand it prints", prints(0, "nightly", "--backup", backup))
	must(t, os.RemoveAll(home+"/leslie"))
	prints(failure.ExitProblems, "nightly", "--backup", backup)
	compareShown(t, "nightly", "`txarchive status` says so:", prints(0, "status"))
	compareShown(t, "query-language", "## Errors\n", "$ txarchive search 'timeout rol:user'\n"+prints(failure.ExitUsage, "search", "timeout rol:user"))
	must(t, os.CopyFS(home+"/newer", os.DirFS("../../testdata/archives/newer")))
	compareShown(t, "upgrades", "(exit code 12):", prints(failure.ExitTooNew, "--archive", home+"/newer", "ingest"))
}

// compareShown compares the first indented block behind a line of a page; what may differ each time does not count.
func compareShown(t *testing.T, page, line, want string) {
	t.Helper()
	file := "../../docs/" + page + ".md"
	b, err := os.ReadFile(file)
	must(t, err)
	before, rest, found := strings.Cut(string(b), line)
	text, shown, indented := strings.Cut(rest, "\n\n    ")
	if !found || !indented {
		t.Fatalf("%s shows nothing behind %q", file, line)
	}
	var block, after strings.Builder
	for s := range strings.SplitAfterSeq("    "+shown, "\n") {
		if after.Len() == 0 && (s == "\n" || strings.HasPrefix(s, "    ")) {
			block.WriteString(s)
		} else {
			after.WriteString(s)
		}
	}
	want = strings.ReplaceAll("    "+strings.ReplaceAll(strings.TrimSuffix(want, "\n"), "\n", "\n    "), "\n    \n", "\n\n") + "\n"
	got := block.String()
	switch shown := strings.TrimRight(got, "\n") + "\n"; {
	case alike(shown) == alike(want):
	case *update:
		must(t, os.WriteFile(file, []byte(before+line+text+"\n\n"+want+strings.TrimPrefix(got, shown)+after.String()), 0o644))
	default:
		t.Errorf("the program prints\n%s\n%s has\n%s", want, file, shown)
	}
}
