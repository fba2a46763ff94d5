package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
)

// Root is a directory, or a single file, to scan.
type Root struct {
	Source string // name of the source
	Dir    string // real path of the source's root
	Below  string // path below Dir to scan, "." for all of it
	Listed bool   // the source follows it by name (Source.Only): that it is gone is not reported

	Exclude []string // patterns of the source: see Source.Exclude
}

// Resolve returns what to scan for directories or single files that the user named. A path inside a source that the archive
// knows belongs to it. Any other directory is a new source with its base name; any other file belongs to a new source with the name of its
// directory, which follows nothing else. A path inside another of dirs is scanned with that. The error is fs.ErrNotExist for a path that is
// neither there nor inside a known source, and an ExcludedError for one that its source excludes.
func Resolve(ctx context.Context, facts index.FactReader, dirs []string) ([]Root, error) {
	known, err := All(ctx, facts)
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
	if pattern := Patterns(s.Exclude).Match(root.Below, p.kind == placeDir); pattern != "" {
		return &ExcludedError{p.given, s.Name, pattern}
	}
	if !slices.ContainsFunc(r.roots, func(o Root) bool {
		return o.Source == root.Source && (o.Below == root.Below || Within(root.Below, o.Below))
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
