package lookup

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/terminal"
)

// HintFiles says how to name originals.
const HintFiles = "names are SOURCE/PATH: txarchive sql 'SELECT source, path FROM v_files'"

// Version returns the one version that a name stands for.
func Version(ctx context.Context, ix Index, name string, number int) (index.FileVersion, error) {
	filters, err := resolveFilters(ctx, ix, name)
	if err != nil {
		return index.FileVersion{}, err
	}
	var found []index.FileVersion
	files := map[string]bool{}
	for _, f := range filters {
		f.Number, f.Newest = number, number == 0
		for v, err := range ix.Versions(ctx, f) {
			if err != nil {
				return index.FileVersion{}, err
			}
			if file := v.Source + "/" + v.Path; !files[file] {
				files[file] = true
				found = append(found, v)
			}
		}
	}
	switch {
	case len(found) == 0 && number != 0 && len(filters) > 0:
		return index.FileVersion{}, failure.NotFound(fmt.Sprintf("%s has no version %d", name, number), "`txarchive show "+terminal.ShellPath(name)+" --versions` lists them")
	case len(found) == 0:
		return index.FileVersion{}, failure.NotFound(fmt.Sprintf("no file %s in the archive", name), HintFiles)
	case len(found) > 1:
		var some []string
		for _, v := range found[:min(len(found), maxCandidates)] {
			some = append(some, v.Source+"/"+v.Path)
		}
		slices.Sort(some)
		more := ""
		if n := len(found) - len(some); n > 0 {
			more = fmt.Sprintf(" or one of %d more: txarchive show %s --versions", n, name)
		}
		return index.FileVersion{}, failure.Usage(fmt.Sprintf("%s is stored in %d files", name, len(found)), "name one: "+strings.Join(some, ", ")+more)
	}
	return found[0], nil
}

// resolveFilters returns filters for what a name may stand for: SOURCE/PATH, a path on this machine, or an id.
func resolveFilters(ctx context.Context, ix Index, name string) ([]index.VersionFilter, error) {
	if files, err := files(ctx, ix, name); err != nil || files != nil {
		return files, err
	}
	what, err := Resolve(ctx, ix, name)
	if failure.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Originals(ctx, ix, what)
}

// files returns the filter for the file of a name, SOURCE/PATH or a path on this machine; nil if there is none.
func files(ctx context.Context, ix Index, name string) ([]index.VersionFilter, error) {
	sources, err := source.All(ctx, ix)
	if err != nil {
		return nil, err
	}
	var all []index.VersionFilter
	first, rest, _ := strings.Cut(filepath.ToSlash(name), "/")
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		if s.Name == first && rest != "" {
			all = append(all, index.VersionFilter{Source: first, Path: rest})
		}
		if below, ok := pathIn(s, abs); ok && below != "." {
			all = append(all, index.VersionFilter{Source: s.Name, Path: below})
		}
	}
	for _, f := range all {
		for _, err := range ix.Versions(ctx, f) {
			if err != nil {
				return nil, err
			}
			return []index.VersionFilter{f}, nil
		}
	}
	return nil, nil
}

// Name returns the name in the archive, SOURCE/PATH, of an absolute path on this machine; the path itself if it is in no source. Of nested
// sources it takes the one that has the file, else the innermost.
func Name(ctx context.Context, originals index.Originals, known []source.Named, abs string) (string, error) {
	name, inner := abs, -1
	for _, s := range known {
		below, ok := pathIn(s, abs)
		if !ok {
			continue
		}
		for _, err := range originals.Versions(ctx, index.VersionFilter{Source: s.Name, Path: below}) {
			return s.Name + "/" + below, err
		}
		if len(s.Root) > inner {
			name, inner = path.Join(s.Name, below), len(s.Root)
		}
	}
	return name, nil
}

// pathIn returns a path on this machine as a path below the root of a source, if it is there; "." is the root itself.
func pathIn(s source.Named, abs string) (below string, ok bool) {
	below, err := filepath.Rel(s.Root, abs)
	return filepath.ToSlash(below), err == nil && filepath.IsLocal(below)
}

// Originals returns filters for the originals that hold a run, a conversation or an event.
func Originals(ctx context.Context, ix Index, what Target) ([]index.VersionFilter, error) {
	switch {
	case what.Event != "":
		rows, err := ix.Event(ctx, what.Event)
		if err != nil {
			return nil, err
		}
		return []index.VersionFilter{{Source: rows[0].Place.Source, Path: rows[0].Place.Path}}, nil
	case what.Conversation != "":
		c, err := ix.Conversation(ctx, what.Conversation)
		if err != nil {
			return nil, err
		}
		return []index.VersionFilter{{Source: c.Key.Source, Path: c.Key.Path}}, nil
	}
	return []index.VersionFilter{{Run: what.Run}}, nil
}
