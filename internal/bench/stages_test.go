package main

import (
	"path/filepath"
	"testing"
)

// TestStages measures every stage on the example runs.
func TestStages(t *testing.T) {
	corpus, err := filepath.Abs("../../testdata/runs/awf")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{options: options{dir: t.TempDir(), runs: 2, stageMB: 1}, report: newReport(options{store: "unused"}), corpus: corpus, raw: float64(treeSize(corpus))}
	b.section = "stages"
	if err := b.stages(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := map[string]float64{}
	for _, f := range b.Figures {
		if _, twice := names[f.Name]; twice {
			t.Errorf("%s stands twice", f.Name)
		}
		names[f.Name] = f.Value
	}
	for _, s := range stageNames {
		if names[s.name+", CPU per raw MB"] <= 0 || s.limit != "" && names[s.name+" / "+s.limit] <= 0 {
			t.Errorf("%s was not measured: %v", s.name, names)
		}
	}
	if len(b.Lacking) > 0 {
		t.Error(b.Lacking)
	}
}
