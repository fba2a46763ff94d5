package index

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
)

// Site is the location of a source, or its last known one.
type Site struct {
	Source string
	Root   string // slash-separated, "" if unknown
	Host   string // the machine, "" if unknown
	Added  time.Time
}

// Sites are the sites of all sources of an archive.
type Sites []Site

// Scope returns the name of the scope in which local run ids are unique: a directory that a format owns, below or
// above the root of a source. Where sources are nested they share one scope, named after the source that was added
// first, so that sources which are added later change no name.
func (all Sites) Scope(source, root string) string {
	i := slices.IndexFunc(all, func(s Site) bool { return s.Source == source })
	if i < 0 || all[i].Root == "" {
		return source + "/" + path.Clean(root)
	}
	own := all[i]
	dir := path.Join(own.Root, root)
	first := own
	for _, p := range all {
		near := p.Root != "" && (p.Host == own.Host || p.Host == "" || own.Host == "") && (isWithin(dir, p.Root) || isWithin(p.Root, dir))
		if near && cmp.Or(p.Added.Compare(first.Added), cmp.Compare(p.Source, first.Source)) < 0 {
			first = p
		}
	}
	return first.Source + "/" + RelPath(first.Root, dir)
}

// Path returns the absolute path of a file, or its path in the source where the source's root is unknown.
func (all Sites) Path(source, file string) string {
	for _, p := range all {
		if p.Source == source {
			return path.Join(p.Root, file)
		}
	}
	return file
}

// isWithin reports whether a path is dir or below it.
func isWithin(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// RelPath returns a path relative to a directory, with ".." where it leads out of it. The path is returned as it is
// when the two have nothing in common or the directory is "".
func RelPath(dir, at string) string {
	for up := ""; dir != "" && dir != "."; dir, up = path.Dir(dir), up+"../" {
		if at == dir {
			return cmp.Or(strings.TrimSuffix(up, "/"), ".")
		}
		if isWithin(at, dir) {
			return up + strings.TrimPrefix(at[len(strings.TrimSuffix(dir, "/")):], "/")
		}
		if dir == "/" {
			break
		}
	}
	return at
}
