package ingest

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/ingest/listing"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/ingest/sourcefs"
)

// Holder is a directory with roots of formats in it, which is worth following as a source.
type Holder struct {
	Dir     string   // real path
	Formats []string // names, sorted
}

// skippedDirs are directories without transcripts that have very many files; maxFindDepth is how deep FindBelow looks.
var skippedDirs = []string{".git", ".hg", ".svn", ".cache", ".venv", "venv", "node_modules", "__pycache__"}

const maxFindDepth = 12

// FindBelow looks for roots of all formats in a directory and below it, and returns the directories that hold them, sorted. A holder is the
// parent of a root: so the root's name stays part of the path, by which it is recognised, and later roots beside it are found as well. FindBelow
// skips the directory except, and whatever cannot be read.
func (g *Ingester) FindBelow(ctx context.Context, dir, except string) ([]Holder, error) {
	g.applyDefaults()
	dir, err := disk.RealPath(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := &scan{g: g, root: source.Root{Dir: dir, Below: "."}, dir: root, report: &Report{}}
	if err := s.listCandidates(ctx, dir, except); err != nil {
		return nil, err
	}
	if _, err := s.detect(ctx, func(uint32, *listing.Entry) bool { return true }); err != nil {
		return nil, err
	}
	formats := map[string][]string{}
	for owned, name := range s.classes.ownedRoots() {
		holder := path.Dir(owned)
		if !slices.Contains(formats[holder], name) {
			formats[holder] = append(formats[holder], name)
		}
	}
	return outermost(dir, formats), nil
}

// listCandidates lists the regular files that FindBelow looks at.
func (s *scan) listCandidates(ctx context.Context, dir, except string) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, relErr := filepath.Rel(dir, p)
		if err != nil || relErr != nil {
			return nil // the user did not name this path: skip it
		}
		if rel = filepath.ToSlash(rel); d.IsDir() {
			if p == except || slices.Contains(skippedDirs, d.Name()) || strings.Count(rel, "/") >= maxFindDepth {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			s.visit(rel, sourcefs.InfoOf(info))
		}
		return nil
	})
}

// outermost returns the holders that lie in no other holder, each with the formats of those inside it.
func outermost(dir string, formats map[string][]string) []Holder {
	var all []Holder
	for _, rel := range slices.SortedFunc(maps.Keys(formats), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }) {
		here := filepath.Join(dir, filepath.FromSlash(rel))
		i := slices.IndexFunc(all, func(h Holder) bool { return isInside(here, h.Dir) })
		if i < 0 {
			all = append(all, Holder{Dir: here})
			i = len(all) - 1
		}
		all[i].Formats = append(all[i].Formats, formats[rel]...)
		slices.Sort(all[i].Formats)
		all[i].Formats = slices.Compact(all[i].Formats)
	}
	for i := range all { // a root of a file that is archived without a format has no name
		all[i].Formats = slices.DeleteFunc(all[i].Formats, func(name string) bool { return name == "" })
	}
	all = slices.DeleteFunc(all, func(h Holder) bool { return len(h.Formats) == 0 })
	slices.SortFunc(all, func(a, b Holder) int { return cmp.Compare(a.Dir, b.Dir) })
	return all
}
