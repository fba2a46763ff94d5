package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/ingest/cleaning"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/source"
)

// Home is a user whose programs are looked for: the home directory, and the environment, whose variables may point elsewhere.
type Home struct {
	Dir string
	Env func(string) string
	// Foreign says that it is not the home of this machine's user: what lists in it name outside of it is elsewhere.
	Foreign bool
}

// Found is a default place of a program that exists.
type Found struct {
	format.Place
	Format string
	Dir    string // real path
	Source string // the source that it belongs to, "" for none
	Days   int    // after which the program deletes what has not changed, by its settings; 0 if none of them concerns that
	// Files and Bytes count what an ingest would archive, Transcripts the files of these that the format parses. Credentials are
	// not counted.
	Files, Bytes, Transcripts int64
	NewFiles, NewBytes        int64     // not in the archive as they are now
	RiskFiles, RiskBytes      int64     // of the new ones: due for deletion within riskDays, or overdue
	Oldest                    time.Time // modification time of the least recently changed file
}

// riskDays is how many days before its deletion a file counts as at risk.
const riskDays = 7

// Discover surveys the default places of all formats, in the order of the formats.
func (g *Ingester) Discover(ctx context.Context, home Home) ([]*Found, error) {
	g.applyDefaults()
	var all []*Found
	for _, found := range g.places(home) {
		if covered(all, found.Dir) {
			continue
		}
		err := g.survey(ctx, found)
		if _, excluded := errors.AsType[*source.ExcludedError](err); excluded {
			continue // by the user
		}
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", found.Dir, err)
		}
		all = append(all, found)
	}
	return all, nil
}

// places returns the default places of all formats that are there, not surveyed.
func (g *Ingester) places(home Home) (all []*Found) {
	for _, f := range g.Formats {
		placed, ok := f.(format.Placed)
		if !ok {
			continue
		}
		for _, p := range placed.Places() {
			for _, path := range home.expand(p) {
				path = filepath.FromSlash(path)
				if info, err := os.Stat(filepath.Join(path, p.Holds)); err != nil || !info.IsDir() && !info.Mode().IsRegular() {
					continue // an unreadable place counts as missing
				}
				dir, err := disk.RealPath(path) // only now: of hundreds of places few are there
				if err != nil {
					continue
				}
				all = append(all, &Found{Place: p, Format: f.Name(), Dir: dir})
			}
		}
	}
	return all
}

// Unfollowed returns the places with files that no source has, or had until it was removed, surveyed: of programs that came later, or that an
// earlier version did not know to write there. What may not be read is left out: nobody has asked for it. An archive that follows nothing of
// these places is one of other directories; for it there are none.
func (g *Ingester) Unfollowed(ctx context.Context, home Home) ([]*Found, error) {
	g.applyDefaults()
	known, err := source.All(ctx, g.Index)
	if err != nil {
		return nil, err
	}
	var loose []*Found
	follows := false
	for _, found := range g.places(home) {
		has, had := hasOrHad(known, found.Dir)
		if follows = follows || has; !had && !covered(loose, found.Dir) {
			loose = append(loose, found)
		}
	}
	if !follows {
		return nil, nil
	}
	loose = slices.DeleteFunc(loose, func(f *Found) bool { return g.survey(ctx, f) != nil || f.Files == 0 })
	return loose, ctx.Err()
}

// IsPlace reports whether a directory is, has or lies in a default place that is there.
func (g *Ingester) IsPlace(dir string, home Home) bool {
	g.applyDefaults()
	return slices.ContainsFunc(g.places(home), func(f *Found) bool { return isInside(dir, f.Dir) || isInside(f.Dir, dir) })
}

// hasOrHad reports whether a source that is followed has some of a place or all of it, and whether any had, one that was removed included.
func hasOrHad(known []source.Named, place string) (has, had bool) {
	for _, s := range known {
		below, err := filepath.Rel(s.Root, place)
		if err == nil && filepath.IsLocal(below) && s.Follows(filepath.ToSlash(below)) || isInside(s.Root, place) {
			has, had = has || s.Removed == nil, true
		}
	}
	return has, had
}

// maxListing bounds the size of a file in which a program lists its directories.
const maxListing = 4 << 20

// expand returns the paths of a place.
func (h Home) expand(p format.Place) []string {
	paths := p.Expand(filepath.ToSlash(h.Dir), h.Env)
	if p.Listed == (format.Listing{}) {
		return paths
	}
	var all []string
	for _, list := range paths {
		info, err := os.Stat(filepath.FromSlash(list))
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxListing {
			continue
		}
		content, err := os.ReadFile(filepath.FromSlash(list))
		if err != nil {
			continue
		}
		for _, dir := range p.Listed.Dirs(content) {
			if !h.Foreign || isInside(filepath.FromSlash(dir), h.Dir) {
				all = append(all, dir)
			}
		}
	}
	return all
}

// covered reports whether a path lies in a place that was found before.
func covered(all []*Found, path string) bool {
	return slices.ContainsFunc(all, func(f *Found) bool { return isInside(path, f.Dir) })
}

// survey counts what an ingest of one place would archive.
func (g *Ingester) survey(ctx context.Context, found *Found) error {
	roots, err := source.Resolve(ctx, g.Index, []string{found.Dir})
	if err != nil {
		return err
	}
	known, err := source.All(ctx, g.Index)
	if err != nil {
		return err
	}
	root := roots[0]
	if slices.ContainsFunc(known, func(s source.Named) bool { return s.Name == root.Source && s.Removed == nil }) {
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
	work, _, err := s.chooseWork(ctx)
	if err != nil {
		return err
	}
	s.statCache = stats // set only now: chooseWork must return all files, known ones as well
	var files []surveyed
	var paths []string
	shared := memberships{}
	formats := map[string]string{}
	for f := range work.Drain {
		c := s.claimed(f)
		root := clampRoot(c.root)
		if c.format != nil && root != "" {
			formats[root] = c.formatName()
		}
		one := surveyed{number: uint32(len(files)), size: c.size, mtime: c.mtime, membership: shared.intern(membership{root, c.formatName()})}
		if one.state, one.missing, err = s.stateOf(ctx, c); err != nil {
			return err
		}
		found.count(&one)
		files, paths = append(files, one), append(paths, c.path)
	}
	if cleaner, ok := g.formatNamed(found.Format).(format.Cleaner); ok {
		for _, c := range cleaner.Cleanings() {
			if c.Setting != nil {
				found.Days = max(found.Days, cleaning.Days(c, root.Dir))
			}
		}
	}
	var o Outlook
	g.predictDeletions(&o, root, files, func(number uint32) string { return paths[number] }, formats, g.Now().AddDate(0, 0, riskDays))
	found.RiskFiles, found.RiskBytes = o.AtRisk, o.AtRiskBytes
	return nil
}

// stateOf returns whether a file is archived in its present state, and how many of its bytes are not.
func (s *scan) stateOf(ctx context.Context, c *claimed) (archived, int64, error) {
	if was, _, ok := s.statCache.Find(pathHash(c.path)); ok && was.Size == c.size && was.ModTime == c.mtime {
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

// isInside reports whether a path is dir or lies below it. Both have the separators of the system.
func isInside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
