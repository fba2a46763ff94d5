package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// Home is whose programs are looked for: a home directory, and the environment that moves files away from it.
type Home struct {
	Dir string
	Env func(string) string
}

// Found is a place of a program that is there.
type Found struct {
	format.Place
	Format string
	Dir    string // real path
	Source string // the source that it belongs to, "" when none does
	Days   int    // after which the program deletes what has not changed, as its settings have it; 0: not by age
	// Files and Bytes are what an ingest takes of it, Transcripts how many of these the format reads. Credentials are
	// left out.
	Files, Bytes, Transcripts int64
	NewFiles, NewBytes        int64     // not in the archive as they are now
	RiskFiles, RiskBytes      int64     // of the new ones: due for deletion within riskDays, or overdue
	Oldest                    time.Time // last change of the file that has not changed for longest
}

// riskDays is how long before a program deletes a file it is told to be at risk.
const riskDays = 7

// Discover looks at the default places of all formats, in their order.
func (g *Ingester) Discover(ctx context.Context, home Home) ([]*Found, error) {
	g.prepare()
	var all []*Found
	for _, f := range g.Formats {
		placed, ok := f.(format.Placed)
		if !ok {
			continue
		}
		for _, p := range placed.Places() {
			for _, path := range p.Expand(filepath.ToSlash(home.Dir), home.Env) {
				at, err := locate(filepath.FromSlash(path))
				if err != nil || at.kind == placeMissing || covered(all, at.path) {
					continue // what cannot be looked at is as good as not there
				}
				if _, err := os.Stat(filepath.Join(at.path, p.Holds)); err != nil {
					continue
				}
				found := &Found{Place: p, Format: f.Name(), Dir: at.path}
				if err := g.survey(ctx, found); errors.As(err, new(*ExcludedError)) {
					continue // nobody wants it
				} else if err != nil {
					return nil, fmt.Errorf("look at %s: %w", at.path, err)
				}
				all = append(all, found)
			}
		}
	}
	return all, nil
}

func covered(all []*Found, path string) bool {
	return slices.ContainsFunc(all, func(f *Found) bool { return inside(path, f.Dir) })
}

// survey counts what an ingest of one place would take.
func (g *Ingester) survey(ctx context.Context, found *Found) error {
	roots, err := Roots(ctx, g.Index, []string{found.Dir})
	if err != nil {
		return err
	}
	known, err := Sources(ctx, g.Index)
	if err != nil {
		return err
	}
	root := roots[0]
	if slices.ContainsFunc(known, func(s Named) bool { return s.Name == root.Source && s.Removed == nil }) {
		found.Source = root.Source
	}
	dir, err := os.OpenRoot(root.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	stats, err := g.Index.Stats(ctx, root.Source)
	if err != nil {
		return err
	}
	s := &scan{g: g, root: root, dir: dir, report: &Report{}}
	if err := s.walk(ctx); err != nil {
		return err
	}
	work, _, err := s.choose(ctx)
	if err != nil {
		return err
	}
	s.before = stats // not sooner: all files are looked at, those known as well
	var files []surveyed
	var paths []string
	shared := belongings{}
	formats := map[string]string{}
	for c := range work.left {
		root := here(c.root)
		if c.format != nil && root != "" {
			formats[root] = c.formatName()
		}
		one := surveyed{number: uint32(len(files)), size: c.size, mtime: c.mtime, belonging: shared.of(belonging{root, c.formatName()})}
		if one.state, one.missing, err = s.stateOf(ctx, c); err != nil {
			return err
		}
		found.count(&one)
		files, paths = append(files, one), append(paths, c.path)
	}
	if cleaner, ok := g.format(found.Format).(format.Cleaner); ok {
		for _, c := range cleaner.Cleanings() {
			found.Days = max(found.Days, days(c, root.Dir))
		}
	}
	var o Outlook
	g.foresee(&o, root, files, func(number uint32) string { return paths[number] }, formats, g.Now().AddDate(0, 0, riskDays))
	found.RiskFiles, found.RiskBytes = o.AtRisk, o.AtRiskBytes
	return nil
}

// stateOf says whether a file is archived as it is, and how much of it is not.
func (s *scan) stateOf(ctx context.Context, c *claimed) (archived, int64, error) {
	if was, _, ok := s.before.Find(pathHash(c.path)); ok && was.Size == c.size && was.ModTime == c.mtime {
		return isArchived, 0, nil
	}
	switch kind, size, err := s.due(ctx, c); {
	case err != nil || kind == pieceTouched:
		return isArchived, 0, err
	case kind == pieceNew:
		return isNew, size, nil
	default:
		return isChanged, size, nil
	}
}

func (f *Found) count(one *surveyed) {
	f.Files++
	f.Bytes += one.size
	if one.format == f.Format {
		f.Transcripts++
	}
	if at := time.Unix(0, one.mtime); f.Oldest.IsZero() || at.Before(f.Oldest) {
		f.Oldest = at
	}
	if one.state != isArchived {
		f.NewFiles++
		f.NewBytes += one.missing
	}
}
