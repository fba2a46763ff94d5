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
)

// Holder is a directory that holds what formats know, and is worth to be followed as a source.
type Holder struct {
	Dir     string   // real path
	Formats []string // names, sorted
}

// Directories that hold no transcripts but very many files, and how deep Below looks.
var passedBy = []string{".git", ".hg", ".svn", ".cache", ".venv", "venv", "node_modules", "__pycache__"}

const belowDepth = 12

// Below looks for roots of all formats in a directory and below it, and returns the directories that hold them, in
// order: those that a root lies in, so that its name is still there to know it by, and the next run beside it is found
// as well. What lies below except is passed by, and so is what cannot be read.
func (g *Ingester) Below(ctx context.Context, dir, except string) ([]Holder, error) {
	g.prepare()
	at, err := locate(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(at.path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := &scan{g: g, root: Root{Dir: at.path, Below: "."}, dir: root, report: &Report{}}
	if err := s.glance(ctx, at.path, except); err != nil {
		return nil, err
	}
	if _, err := s.detect(ctx, func(uint32, *entry) bool { return true }); err != nil {
		return nil, err
	}
	formats := map[string][]string{}
	for owned, name := range s.owners() {
		holder := path.Dir(owned)
		if !slices.Contains(formats[holder], name) {
			formats[holder] = append(formats[holder], name)
		}
	}
	return outermost(at.path, formats), nil
}

// glance lists the files that are worth a look.
func (s *scan) glance(ctx context.Context, dir, except string) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, relErr := filepath.Rel(dir, p)
		if err != nil || relErr != nil {
			return nil // nobody asked for this directory
		}
		if rel = filepath.ToSlash(rel); d.IsDir() {
			if p == except || slices.Contains(passedBy, d.Name()) || strings.Count(rel, "/") >= belowDepth {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			s.meet(rel, metadataOf(info))
		}
		return nil
	})
}

// outermost returns holders that lie in no other one; such a one has the formats of those in it.
func outermost(dir string, formats map[string][]string) []Holder {
	var all []Holder
	for _, rel := range slices.SortedFunc(maps.Keys(formats), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }) {
		here := filepath.Join(dir, filepath.FromSlash(rel))
		i := slices.IndexFunc(all, func(h Holder) bool { return inside(here, h.Dir) })
		if i < 0 {
			all = append(all, Holder{Dir: here})
			i = len(all) - 1
		}
		all[i].Formats = append(all[i].Formats, formats[rel]...)
		slices.Sort(all[i].Formats)
		all[i].Formats = slices.Compact(all[i].Formats)
	}
	for i := range all { // a directory may be owned by what lies aside and is not read: it has no name
		all[i].Formats = slices.DeleteFunc(all[i].Formats, func(name string) bool { return name == "" })
	}
	all = slices.DeleteFunc(all, func(h Holder) bool { return len(h.Formats) == 0 })
	slices.SortFunc(all, func(a, b Holder) int { return cmp.Compare(a.Dir, b.Dir) })
	return all
}
