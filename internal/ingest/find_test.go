package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/all"
)

func TestBelow(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"work", "work/node_modules/copied", "archive"} {
		if err := os.MkdirAll(filepath.Join(top, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(top, name, "runs"), os.DirFS("../../testdata/runs")); err != nil {
			t.Fatal(err)
		}
	}
	// Files that a format archives but does not parse make roots, too.
	if err := os.CopyFS(filepath.Join(top, "work/with-aside"), os.DirFS("format/flowstudio/testdata/aside/in")); err != nil {
		t.Fatal(err)
	}
	g := &Ingester{Formats: all.Formats()}
	found, err := g.FindBelow(t.Context(), top, filepath.Join(top, "archive"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Holder{
		{Dir: "work/runs/awf", Formats: []string{"awf"}},
		{Dir: "work/runs/chibi", Formats: []string{"chibi"}},
		{Dir: "work/runs/devflow", Formats: []string{"devflow"}},
		{Dir: "work/runs/flow-studio/swarm/runs", Formats: []string{"flow-studio"}},
		{Dir: "work/runs/leslie/shop", Formats: []string{"leslie"}},
		{Dir: "work/with-aside/swarm", Formats: []string{"flow-studio"}},
	}
	for i := range want {
		want[i].Dir = filepath.Join(top, filepath.FromSlash(want[i].Dir))
	}
	same := func(a, b Holder) bool { return a.Dir == b.Dir && slices.Equal(a.Formats, b.Formats) }
	if !slices.EqualFunc(found, want, same) {
		t.Errorf("found %v, want %v", found, want)
	}
	run := filepath.Join(top, "work/runs/flow-studio/swarm/runs")
	if found, err = g.FindBelow(t.Context(), run, ""); err != nil || len(found) != 1 || found[0].Dir != run {
		t.Errorf("where the runs lie: %v, %v", found, err)
	}
	if found, err = g.FindBelow(t.Context(), t.TempDir(), ""); err != nil || len(found) != 0 {
		t.Errorf("in nothing: %v, %v", found, err)
	}
}
