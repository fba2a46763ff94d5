package ingest

import (
	"context"
	"errors"
	"os"
	"path"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
)

// Outlook is what stands at a source and is not archived yet, and what its program will soon delete, as far as
// names, sizes and times of files tell: nothing is opened.
type Outlook struct {
	Missing bool  // the root is not there
	Files   int64 // that were met
	New     int64 // files that the archive does not have, and that belong to what is known
	Changed int64 // files that are not as they were stored
	Bytes   int64 // that are not archived yet
	Oldest  time.Time
	Unknown int64 // files that belong to nothing known, as far as their paths tell

	Doomed      int64     // files that their program will delete before Until
	DoomedBytes int64     //
	AtRisk      int64     // of them, those that are not archived as they are
	AtRiskBytes int64     // that are missing of these
	First       time.Time // when the first of those at risk goes; zero when none is
}

// Outlook looks at one source. It needs no lock, and the index only to read.
func (g *Ingester) Outlook(ctx context.Context, root Root, until time.Time) (Outlook, error) {
	g.prepare()
	var o Outlook
	dir, err := os.OpenRoot(root.Dir)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		o.Missing = true
		return o, nil
	}
	if err != nil {
		return o, err
	}
	defer dir.Close()
	before, err := g.Index.Stats(ctx, root.Source)
	if err != nil {
		return o, err
	}
	s := &scan{g: g, root: root, dir: dir, before: before, seen: map[uint64]bool{}, ignored: map[string]index.Stat{}, report: &Report{}}
	if err := s.walk(ctx); err != nil {
		return o, err
	}
	known, err := s.knownRoots(ctx)
	if err != nil {
		return o, err
	}
	files, err := s.survey(ctx, known)
	if err != nil {
		return o, err
	}
	for i := range files {
		o.add(&files[i])
	}
	formats, err := s.rootFormats(ctx)
	if err != nil {
		return o, err
	}
	g.foresee(&o, root, files, formats, until)
	return o, nil
}

// surveyed is a file of which is known whether it is archived.
type surveyed struct {
	file
	state   archived
	missing int64  // bytes
	root    string // of the format it belongs to
	format  string // by its path, "" when that does not tell
}

type archived int

const (
	isArchived archived = iota
	isNew
	isChanged
	isUnknown
)

func (o *Outlook) add(f *surveyed) {
	o.Files++
	switch f.state {
	case isArchived:
		return
	case isUnknown:
		o.Unknown++
		return
	case isNew:
		o.New++
	case isChanged:
		o.Changed++
	}
	o.Bytes += f.missing
	if at := time.Unix(0, f.mtime); o.Oldest.IsZero() || at.Before(o.Oldest) {
		o.Oldest = at
	}
}

// survey says of every file whether it is archived as it is. What the last scan saw just so is; of others the archive
// says.
func (s *scan) survey(ctx context.Context, known []string) ([]surveyed, error) {
	roots := map[string]bool{}
	for _, r := range known {
		roots[r] = true
	}
	var all []surveyed
	for _, f := range s.files {
		c := s.byPath(f.path)
		if c.Skip || credentials[path.Base(f.path)] {
			continue
		}
		if c.Root != "" {
			roots[path.Clean(c.Root)] = true
		}
		one := surveyed{file: f, format: c.name}
		if !f.known {
			if err := s.compare(ctx, &one); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	for i := range all {
		f := &all[i]
		for dir := path.Dir(f.path); ; dir = path.Dir(dir) {
			if roots[dir] {
				f.root = dir
			}
			if f.root != "" || dir == "." || dir == "/" {
				break
			}
		}
		if f.alone || f.state == isNew && f.root == "" && f.format == "" {
			f.state = isUnknown
		}
	}
	return all, nil
}

type pathClaim struct {
	format.Claim
	name string
}

// byPath asks the formats about a path alone.
func (s *scan) byPath(p string) (best pathClaim) {
	for _, f := range s.g.Formats {
		if c := f.Detect(format.Head{Path: p}); c.Skip || c.Strength > max(best.Strength, format.Weak) {
			best = pathClaim{c, f.Name()}
		}
	}
	return best
}

func (s *scan) compare(ctx context.Context, f *surveyed) error {
	state, err := s.g.Index.Newest(ctx, s.root.Source, f.path)
	switch {
	case errors.Is(err, index.ErrNotFound):
		f.state, f.missing = isNew, f.size
	case err != nil:
		return err
	case state.Size == f.size && state.ModTime.UnixNano() == f.mtime:
	default:
		f.state, f.missing = isChanged, f.size
		if f.size > state.Size {
			f.missing = f.size - state.Size
		}
	}
	return nil
}
