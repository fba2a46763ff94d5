package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
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
	Days   int    // as the program's settings have it
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
				found := &Found{Place: p, Format: f.Name(), Dir: at.path, Days: daysOf(p, at.path)}
				if err := g.survey(ctx, found); err != nil {
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
	s := &scan{g: g, root: root, dir: dir, seen: map[uint64]bool{}, ignored: map[string]index.Stat{}, report: &Report{}}
	if err := s.walk(ctx); err != nil {
		return err
	}
	work, _, err := s.choose(ctx)
	if err != nil {
		return err
	}
	s.before = stats // not sooner: all files are looked at, those known as well
	due := g.Now().AddDate(0, 0, riskDays-found.Days)
	for _, c := range work {
		found.Files++
		found.Bytes += c.size
		if c.formatName() == found.Format {
			found.Transcripts++
		}
		changed := time.Unix(0, c.mtime)
		if found.Oldest.IsZero() || changed.Before(found.Oldest) {
			found.Oldest = changed
		}
		if was, ok := stats[pathHash(c.path)]; ok && was.Size == c.size && was.ModTime == c.mtime {
			continue
		}
		switch kind, size, err := s.due(ctx, c); {
		case err != nil:
			return err
		case kind != pieceTouched:
			found.NewFiles++
			found.NewBytes += size
			if found.Days > 0 && changed.Before(due) {
				found.RiskFiles++
				found.RiskBytes += size
			}
		}
	}
	return nil
}

// daysOf reads what a program was told about how long it keeps files: a number of days, or text like "30d", "4w", "12h".
// What nobody set, or what cannot be read, is the program's default.
func daysOf(p format.Place, dir string) int {
	file, member, ok := strings.Cut(p.Setting, "#")
	if !ok {
		return p.Days
	}
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
	if err != nil {
		return p.Days
	}
	settings, err := format.ParseJSON(b)
	if err != nil {
		return p.Days
	}
	value := settings.Get(strings.Split(member, ".")...)
	if n, ok := value.Int(); ok {
		return int(max(n, 0))
	}
	text := value.Str()
	if text == "" {
		return p.Days
	}
	n, err := strconv.Atoi(text[:len(text)-1])
	if err != nil || n < 0 {
		return p.Days
	}
	switch text[len(text)-1] {
	case 'h':
		return n / 24
	case 'd':
		return n
	case 'w':
		return 7 * n
	case 'm':
		return 30 * n
	}
	return p.Days
}
