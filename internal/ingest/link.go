package ingest

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/source"
)

// Link is a symbolic link to a file or directory that no source covers. A scan does not follow it: it may lead to a whole disk.
type Link struct {
	Source string `json:"source"`
	Path   string `json:"path"`
	To     string `json:"to"` // real path of a directory or a file
}

// sourcesWith returns the sources of the archive and, as sources, the roots that are scanned now.
func (g *Ingester) sourcesWith(ctx context.Context, roots []source.Root) ([]source.Named, error) {
	known, err := source.All(ctx, g.Index)
	if err != nil {
		return nil, err
	}
	for _, r := range roots {
		s := source.Source{Root: r.Dir}
		if r.Below != "." {
			s.Only = []string{r.Below}
		}
		known = append(known, source.Named{Name: r.Source, Source: s})
	}
	return known, nil
}

// reportLinks reports the links that hide something: those that lead to a file or directory which no source covers. What a format owns is
// archived as a whole, so below its roots such a link is a problem; elsewhere it is listed in Report.NotFollowed.
func (s *scan) reportLinks(roots []string) {
	slices.Sort(s.links)
	for _, rel := range s.links {
		to, ok := s.unfollowedTarget(rel)
		switch {
		case !ok:
		case s.g.All || underRoot(rel, roots):
			s.skipped = append(s.skipped, FileError{Source: s.root.Source, Path: rel, Stage: "scan", Reason: "symbolic link: not followed"})
		default:
			s.report.NotFollowed = append(s.report.NotFollowed, Link{Source: s.root.Source, Path: rel, To: to})
		}
	}
}

// unfollowedTarget returns the target of a link, and whether it is a directory or a file that no source covers.
func (s *scan) unfollowedTarget(rel string) (to string, ok bool) {
	to, err := filepath.EvalSymlinks(filepath.Join(s.root.Dir, filepath.FromSlash(rel)))
	if err != nil {
		return "", false
	}
	info, err := os.Lstat(to)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return "", false
	}
	return to, !slices.ContainsFunc(s.sources, func(n source.Named) bool {
		below, err := filepath.Rel(n.Root, to)
		return err == nil && filepath.IsLocal(below) && n.Follows(filepath.ToSlash(below))
	})
}
