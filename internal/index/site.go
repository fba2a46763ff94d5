package index

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
)

// Site is where a source lies, or lay.
type Site struct {
	Source string
	Root   string // slash-separated, "" where nobody knows
	Host   string // the machine, "" where nobody knows
	Added  time.Time
}

// Sites are those of all sources of an archive.
type Sites []Site

// Scope is the place in which local run ids are unique: a directory that a format owns, below the root of a source or above it. Where sources
// lie in each other it is one place for all of them, named after the first, so that others which come later change nothing.
func (all Sites) Scope(source, root string) string {
	i := slices.IndexFunc(all, func(s Site) bool { return s.Source == source })
	if i < 0 || all[i].Root == "" {
		return source + "/" + path.Clean(root)
	}
	own := all[i]
	dir := path.Join(own.Root, root)
	first := own
	for _, p := range all {
		near := p.Root != "" && (p.Host == own.Host || p.Host == "" || own.Host == "") && (lies(dir, p.Root) || lies(p.Root, dir))
		if near && cmp.Or(p.Added.Compare(first.Added), cmp.Compare(p.Source, first.Source)) < 0 {
			first = p
		}
	}
	return first.Source + "/" + Below(first.Root, dir)
}

// Path is the path of a file from the root of its file system, as far as that is known.
func (all Sites) Path(source, file string) string {
	for _, p := range all {
		if p.Source == source {
			return path.Join(p.Root, file)
		}
	}
	return file
}

// lies says whether a path is a directory or in it.
func lies(at, dir string) bool {
	return at == dir || strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/")
}

// Below is a path relative to a directory, with ".." where it lies above, and the path itself where the two have nothing in common or
// the directory is "".
func Below(dir, at string) string {
	for up := ""; dir != "" && dir != "."; dir, up = path.Dir(dir), up+"../" {
		if at == dir {
			return cmp.Or(strings.TrimSuffix(up, "/"), ".")
		}
		if lies(at, dir) {
			return up + strings.TrimPrefix(at[len(strings.TrimSuffix(dir, "/")):], "/")
		}
		if dir == "/" {
			break
		}
	}
	return at
}
