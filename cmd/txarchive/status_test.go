package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/txarchive/txarchive/internal/prometheus/prometheustest"
)

// TestMetrics holds what status writes for Prometheus to the text format, for a source of an odd name.
func TestMetrics(t *testing.T) {
	top := t.TempDir()
	dir, source := filepath.Join(top, "archive"), filepath.Join(top, `odd "name" é`)
	must(t, os.CopyFS(source, os.DirFS(runs+"/leslie")))
	file := filepath.Join(top, "metrics.prom")
	for _, line := range [][]string{{"ingest", source}, {"backup", top + "/backup"}, {"nightly", "--backup", top + "/backup"}, {"status", "--quiet", "--prometheus", file}} {
		if code, _, stderr := inside(t.Context(), dir, "", line...); code != 0 {
			t.Fatalf("%q: exit %d\n%s", line, code, stderr)
		}
	}
	text, err := os.ReadFile(file)
	must(t, err)
	all, err := prometheustest.Parse(string(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	want := map[string]float64{
		"txarchive_source_present": 1, "txarchive_source_files": 24, "txarchive_source_pending_files": 0, "txarchive_nightly_last_ok": 1,
		"txarchive_backup_last_ok": 1, "txarchive_damaged_packs": 0, "txarchive_attention": 0,
	}
	for _, s := range all {
		if value, ok := want[s.Name]; ok && value != s.Value {
			t.Errorf("%s is %v, want %v", s.Name, s.Value, value)
		}
		delete(want, s.Name)
		if name, ok := s.Labels["source"]; ok && name != filepath.Base(source) {
			t.Errorf("%s is of source %q", s.Name, name)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
}
