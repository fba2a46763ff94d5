package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func some(v float64) *float64 { return &v }

func TestWorse(t *testing.T) {
	for _, c := range []struct {
		name, unit string
		was, now   float64
		spread     *float64
		want       bool
	}{
		{"CPU", "s", 10, 10.9, some(0.01), false},
		{"CPU", "s", 10, 11.2, some(0.01), true},
		{"CPU", "s", 10, 11.2, some(0.07), false}, // no more than its runs differ
		{"CPU", "s", 10, 9, some(0.01), false},
		{"CPU", "s", 10, 12, nil, false}, // a single run
		{"CPU", "s", 10, 13, nil, true},
		{"raw bytes", "MB/s", 100, 80, some(0.01), true},
		{"raw bytes", "MB/s", 100, 130, some(0.01), false},
		{"index: events", "MB", 10, 10.3, nil, true},
		{"packs / raw", "", 0.25, 0.26, nil, true},
		{"events", "count", 10, 20, nil, false},
	} {
		was, now := figure{Name: c.name, Unit: c.unit, Value: c.was, Spread: c.spread}, figure{Name: c.name, Unit: c.unit, Value: c.now, Spread: c.spread}
		if now.worse(&was) != c.want {
			t.Errorf("%s from %v to %v: worse is not %v", c.name, c.was, c.now, c.want)
		}
	}
}

// TestReport stores figures and compares with them, unless they are of other parameters. What is not measured again
// stays.
func TestReport(t *testing.T) {
	o := options{store: filepath.Join(t.TempDir(), "below", "figures.json"), format: "claude", mb: 100}
	finish := func(o options, fill func(*report)) string {
		t.Helper()
		r := newReport(o)
		fill(r)
		var out bytes.Buffer
		if err := r.finish(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	first := finish(o, func(r *report) {
		r.section = "ingest"
		r.set("CPU", "s", 3, 1, 2)
		r.section = "size"
		r.set("packs", "MB", 20)
		r.lack("gzip", "ingest beside it")
	})
	for _, want := range []string{"2.00  s", "50%", "gzip is not there: not measured: ingest beside it"} {
		if !strings.Contains(first, want) || strings.Contains(first, "beside it the run of") {
			t.Errorf("the first report lacks %q:\n%s", want, first)
		}
	}
	again := func(r *report) { r.section = "size"; r.set("packs", "MB", 30) }
	if second := finish(o, again); !strings.Contains(second, "1.50 worse") || !strings.Contains(second, "worse by more than noise:\n  size: packs 1.50 times") {
		t.Errorf("the second report does not compare:\n%s", second)
	}
	if third := finish(o, func(r *report) { r.section = "ingest"; r.set("CPU", "s", 2, 2, 2) }); !strings.Contains(third, "1.00") {
		t.Errorf("figures that were not measured again are lost:\n%s", third)
	}
	o.mb = 200
	if other := finish(o, again); strings.Contains(other, "beside it the run of") {
		t.Errorf("compared with a run of other parameters:\n%s", other)
	}
}

// TestDocument puts figures where those of an earlier run stood.
func TestDocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.md")
	if err := os.WriteFile(path, []byte("before\n<!-- bench claude-100 -->\nold\n<!-- /bench claude-100 -->\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := newReport(options{format: "claude", mb: 100, store: "unused"})
		r.section = "ingest"
		r.set("CPU / tar | gzip -6", "", 2)
		if err := r.document(path); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	if !strings.HasPrefix(got, "before\n<!-- bench claude-100 -->\n") || !strings.HasSuffix(got, "<!-- /bench claude-100 -->\nafter\n") ||
		strings.Contains(got, "old") || strings.Count(got, `| ingest: CPU / tar \| gzip -6 | 2.00 | 1.50 | 1.33 times too much |`) != 1 || strings.Count(got, `| CPU / tar \| gzip -6 | 2.00 |  |`) != 1 {
		t.Error(got)
	}
	if err := newReport(options{format: "mix", mb: 100, store: "unused"}).document(path); err == nil {
		t.Error("figures were put where no marks are")
	}
}

func TestStoresOfParametersDiffer(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	a, b := newReport(options{format: "claude", mb: 100}), newReport(options{format: "claude", mb: 100, seed: 1})
	if a.file == b.file {
		t.Errorf("both are kept in %s", a.file)
	}
}

// TestGoals looks for the figures that goals name: one that is called something else is never met, and nobody told.
func TestGoals(t *testing.T) {
	var source []byte
	for _, name := range []string{"endtoend.go", "increment.go", "upkeep.go"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, b...)
	}
	for _, g := range goals {
		if !bytes.Contains(source, []byte(`"`+g.name+`"`)) {
			t.Errorf("no figure is called %q", g.name)
		}
	}
	r := newReport(options{format: "leslie", mb: 190, store: "unused"})
	r.section = "ingest"
	r.set("raw", "MB", 190)
	r.set("files", "count", 50_000)
	r.set("CPU per file", "us", 100)
	if all := r.goals(); len(all) != 1 || all[0].String() != "met" {
		t.Error(all)
	}
}
