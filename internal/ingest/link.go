package ingest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
)

// Link is a symbolic link out of a source, to what no source has. It is not followed: it may lead to all of a disk.
type Link struct {
	Source string `json:"source"`
	Path   string `json:"path"`
	To     string `json:"to"` // real path of a directory or a file
}

// around are the sources of the archive, and what is scanned now.
func (g *Ingester) around(ctx context.Context, roots []Root) ([]Named, error) {
	known, err := Sources(ctx, g.Index)
	if err != nil {
		return nil, err
	}
	for _, r := range roots {
		s := Source{Root: r.Dir}
		if r.Below != "." {
			s.Only = []string{r.Below}
		}
		known = append(known, Named{Name: r.Source, Source: s})
	}
	return known, nil
}

// judgeLinks says of each link that was met what it hides. One that leads nowhere, or to what a source has anyway, hides nothing. What a
// format owns is archived whole, so below its roots any other is a problem; elsewhere it is told.
func (s *scan) judgeLinks(roots []string) {
	slices.Sort(s.links)
	for _, rel := range s.links {
		to, ok := s.hidden(rel)
		switch {
		case !ok:
		case s.g.All || underRoot(rel, roots):
			s.skipped = append(s.skipped, FileError{Source: s.root.Source, Path: rel, Stage: "scan", Reason: "symbolic link: not followed"})
		default:
			s.report.NotFollowed = append(s.report.NotFollowed, Link{Source: s.root.Source, Path: rel, To: to})
		}
	}
}

// hidden returns what a link leads to, when that is a directory or a file which no source has.
func (s *scan) hidden(rel string) (to string, ok bool) {
	to, err := filepath.EvalSymlinks(filepath.Join(s.root.Dir, filepath.FromSlash(rel)))
	if err != nil {
		return "", false
	}
	info, err := os.Lstat(to)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return "", false
	}
	return to, !slices.ContainsFunc(s.around, func(n Named) bool {
		below, err := filepath.Rel(n.Root, to)
		return err == nil && filepath.IsLocal(below) && n.Follows(filepath.ToSlash(below))
	})
}
