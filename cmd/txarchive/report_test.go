package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShippedReports runs every report of the program over the example runs: what it prints stands in testdata/reports,
// and is the same when the runs came in another order and after a reindex.
func TestShippedReports(t *testing.T) {
	t.Parallel()
	all, err := reports(t.Context(), nil)
	if err != nil || len(all) < 8 {
		t.Fatal(len(all), err)
	}
	dir := example(t)
	dirs, err := filepath.Glob(runs + "/*")
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	for i := len(dirs) - 1; i >= 0; i-- {
		if code, _, stderr := inside(t.Context(), other, "", "ingest", dirs[i]); code != 0 {
			t.Fatal(stderr)
		}
	}
	if code, _, stderr := inside(t.Context(), other, "", "reindex"); code != 0 {
		t.Fatal(stderr)
	}
	for _, r := range all {
		if r.Description == "" || r.SQL == nil {
			t.Errorf("%s says not what it is", r.Name)
		}
		golden := filepath.Join("testdata", "reports", r.Name+".csv")
		for _, from := range []string{dir, other} {
			code, stdout, stderr := inside(t.Context(), from, "", "report", "run", r.Name, "--format", "csv")
			if code != 0 {
				t.Fatalf("%s: exit %d\n%s", r.Name, code, stderr)
			}
			if *update && from == dir {
				if err := os.WriteFile(golden, []byte(stdout), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if stdout != string(want) {
				t.Errorf("%s prints\n%s, not\n%s", r.Name, stdout, want)
			}
		}
		if strings.Count(r.Name, " ") > 0 {
			t.Errorf("%q is no word", r.Name)
		}
		if _, ok := r.Parameters["since"]; ok {
			_, stdout, stderr := inside(t.Context(), dir, "", "report", "run", r.Name, "--format", "csv", "--param", "since=2030-01-01")
			if strings.Count(stdout, "\n") > 1 {
				t.Errorf("%s finds something in 2030: %s%s", r.Name, stdout, stderr)
			}
		}
	}
}
