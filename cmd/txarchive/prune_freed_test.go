package main

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
)

var draws = flag.Int("draws", 1, "how many random sets of runs the test of what a plan frees prunes, and how many formats; more than 1 has TestPruneAmong... come to both ends, and TestPlanTellsBytes take every plan")

// TestFreed prunes all runs of a format, and runs drawn at random. The archive then takes so much less as the plan said.
func TestFreed(t *testing.T) {
	t.Parallel()
	r := seedtest.Rand(t)
	whole, _, same := archived(t)
	tx(t, whole, 0, "gc")
	formats := []string{"awf", "chibi", "devflow", "flow-studio", "leslie"}
	for _, i := range r.Perm(len(formats))[:min(*draws, len(formats))] {
		freed(t, whole, "format:"+formats[i])
	}
	all := runIDs(t, whole)
	for range *draws {
		var some []string
		for _, i := range r.Perm(len(all))[:1+r.IntN(len(all)-1)] {
			some = append(some, "--run", all[i])
		}
		freed(t, whole, "", some...)
	}
	same()
}

// freed prunes in a copy of an archive.
func freed(t *testing.T, whole, query string, runs ...string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "archive")
	if err := os.CopyFS(dir, os.DirFS(whole)); err != nil { // index.db stays a link to its neighbour
		t.Fatal(err)
	}
	args := append([]string{"prune", "--allow-empty"}, runs...)
	if query != "" {
		args = append(args, "--query", query)
	}
	plan := decode[plannedFrees](t, tx(t, dir, 0, append(args, "--json")...))
	index, all := archiveBytes(t, dir)
	tx(t, dir, 0, append(args, "--yes", "-q")...)
	tx(t, dir, 0, "gc", "-q")
	indexLeft, left := archiveBytes(t, dir)
	what := cmp.Or(query, fmt.Sprintf("%d runs", len(runs)/2))
	for _, x := range []struct {
		of         string
		fell, said int64
	}{{"archive", all - left, plan.Frees.Bytes}, {"index", index - indexLeft, plan.Frees.IndexBytes}} {
		t.Logf("%s: %d bytes of %s became free, the plan said %d", what, x.fell, x.of, x.said)
		const pages = 24 * 4096 // half a page more or less in each of fifty tables and indexes is noise in so small an archive
		if off := max(x.fell-x.said, x.said-x.fell); off > max(x.fell/20, pages) {
			t.Errorf("%s: %d bytes of %s became free, the plan said %d", what, x.fell, x.of, x.said)
		}
	}
}

// archiveBytes is what an archive takes, and what of it its index does. What readers share for a moment is not counted.
func archiveBytes(t *testing.T, dir string) (index, all int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || filepath.Ext(p) == ".db-shm" {
			return err
		}
		info, err := e.Info()
		all += info.Size()
		if filepath.Dir(p) == dir && filepath.Ext(p) != ".txt" {
			index += info.Size()
		}
		return err
	})
	must(t, err)
	return index, all
}
