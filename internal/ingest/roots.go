package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
)

// Named is a source of an archive with its name.
type Named struct {
	Name string
	Source
}

// Roots returns what is scanned of a source.
func (n *Named) Roots() []Root {
	if len(n.Only) == 0 {
		return []Root{{Source: n.Name, Dir: n.Root, Below: ".", Exclude: n.Exclude}}
	}
	var roots []Root
	for _, below := range n.Only {
		if excludePatterns(n.Exclude).match(below, false) == "" {
			roots = append(roots, Root{Source: n.Name, Dir: n.Root, Below: below, Listed: true, Exclude: n.Exclude})
		}
	}
	return roots
}

// Sources returns the sources of an archive, removed ones included, sorted by name.
func Sources(ctx context.Context, facts index.FactReader) ([]Named, error) {
	var all []Named
	for f, err := range facts.Facts(ctx, FactSource) {
		if err != nil {
			return nil, fmt.Errorf("list sources: %w", err)
		}
		s := Named{Name: f.Key}
		if err := json.Unmarshal(f.Value, &s.Source); err != nil {
			return nil, fmt.Errorf("read source %q: %w", f.Key, err)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Named) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// provenance is what a source states about all of its files.
type provenance struct {
	host string // the machine, for copies from another one; else ""
	dir  string // its root: see format.Head
}

// provenances returns the provenance of each source, by name.
func (g *Ingester) provenances(ctx context.Context) (map[string]provenance, error) {
	known, err := Sources(ctx, g.Index)
	if err != nil {
		return nil, err
	}
	all := map[string]provenance{}
	for _, s := range known {
		of := provenance{dir: toSlash(s.Root)}
		if s.Away {
			of.host = s.Host
		}
		all[s.Name] = of
	}
	return all, nil
}

// toSlash returns a root with slashes, whatever system it comes from, so that all systems give the same result.
func toSlash(root string) string { return strings.ReplaceAll(root, `\`, "/") }

// Roots returns what to scan for directories or single files that the user named. A path inside a source that the archive
// knows belongs to it. Any other directory is a new source with its base name; any other file belongs to a new source with the name of its
// directory, which follows nothing else. A path inside another of dirs is scanned with that. The error is fs.ErrNotExist for a path that is
// neither there nor inside a known source, and an ExcludedError for one that its source excludes.
func Roots(ctx context.Context, facts index.FactReader, dirs []string) ([]Root, error) {
	known, err := Sources(ctx, facts)
	if err != nil {
		return nil, err
	}
	r := rootResolver{known: known}
	places := make([]place, 0, len(dirs))
	for _, dir := range dirs {
		p, err := locate(dir)
		if err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	// Outer directories first: a nested root joins the outer one in any order of the arguments.
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(len(a.path), len(b.path)) })
	for _, p := range places {
		if err := r.add(p); err != nil {
			return nil, err
		}
	}
	return r.roots, nil
}

// Configured returns the roots of all sources that are scanned by default: those not removed.
func Configured(ctx context.Context, facts index.FactReader) ([]Root, error) {
	known, err := Sources(ctx, facts)
	if err != nil {
		return nil, err
	}
	var roots []Root
	for _, s := range known {
		if s.Removed == nil {
			roots = append(roots, s.Roots()...)
		}
	}
	return roots, nil
}

// place is a real path and the kind of file it names.
type place struct {
	given string
	path  string
	kind  placeKind
}

type placeKind int

const (
	placeMissing placeKind = iota
	placeDir
	placeFile
)

// locate resolves the symbolic links of a path. If the path does not exist, it resolves the part that does.
func locate(given string) (place, error) {
	real, err := disk.RealPath(given)
	if err != nil {
		return place{}, fmt.Errorf("resolve %s: %w", given, err)
	}
	p := place{given: given, path: real}
	switch info, err := os.Stat(real); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return place{}, err
	case info.IsDir():
		p.kind = placeDir
	case info.Mode().IsRegular():
		p.kind = placeFile
	default:
		return place{}, fmt.Errorf("%s is neither a directory nor a file", given)
	}
	return p, nil
}

// rootResolver assigns places to sources. It adds new sources to known.
type rootResolver struct {
	known []Named
	roots []Root
}

func (r *rootResolver) add(p place) error {
	s, ok := r.owner(p)
	if !ok {
		dir := p.path
		switch p.kind {
		case placeMissing:
			return &fs.PathError{Op: "open", Path: p.given, Err: syscall.ENOENT}
		case placeFile:
			dir = filepath.Dir(p.path)
		}
		s = Named{Name: FreeName(r.known, filepath.Base(dir)), Source: Source{Root: dir}}
		if p.kind == placeFile {
			s.Only = []string{filepath.Base(p.path)}
		}
		r.known = append(r.known, s)
	}
	below, err := filepath.Rel(s.Root, p.path)
	if err != nil {
		return err
	}
	root := Root{Source: s.Name, Dir: s.Root, Below: filepath.ToSlash(below), Exclude: s.Exclude}
	if pattern := excludePatterns(s.Exclude).match(root.Below, p.kind == placeDir); pattern != "" {
		return &ExcludedError{p.given, s.Name, pattern}
	}
	if !slices.ContainsFunc(r.roots, func(o Root) bool {
		return o.Source == root.Source && (o.Below == root.Below || within(root.Below, o.Below))
	}) {
		r.roots = append(r.roots, root)
	}
	return nil
}

// owner returns the innermost source that a place lies in. If a source follows single files of its root only, other files of that
// directory belong to it as well, and what lies in subdirectories does not.
func (r *rootResolver) owner(p place) (Named, bool) {
	var best Named
	found := false
	for _, s := range r.known {
		below, err := filepath.Rel(s.Root, p.path)
		if err != nil || !filepath.IsLocal(below) || found && len(s.Root) <= len(best.Root) {
			continue
		}
		if below == "." || s.Follows(filepath.ToSlash(below)) || p.kind == placeFile && filepath.Base(below) == below {
			best, found = s, true
		}
	}
	return best, found
}

// isInside reports whether a path is dir or lies below it. Both have the separators of the system.
func isInside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// FreeName returns base, with a number if needed, as a name that no source has, not even a removed one.
func FreeName(known []Named, base string) string {
	if strings.ContainsAny(base, `/\:`) || base == "." || base == ".." || base == "" {
		base = "root" // the root of a file system or drive
	}
	name := base
	for n := 2; slices.ContainsFunc(known, func(s Named) bool { return s.Name == name }); n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	return name
}
