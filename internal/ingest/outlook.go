package ingest

import (
	"cmp"
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
	s := &scan{g: g, root: root, dir: dir, before: before, seen: make([]bool, before.Len()), report: &Report{}}
	if err := s.walk(ctx); errors.Is(err, os.ErrNotExist) {
		o.Missing = true
		return o, nil
	} else if err != nil {
		return o, err
	}
	s.before, s.seen = nil, nil // it takes as much as what follows
	known, err := s.knownRoots(ctx)
	if err != nil {
		return o, err
	}
	formats, err := s.rootFormats(ctx)
	if err != nil {
		return o, err
	}
	// Of files that nobody will delete there is nothing more to say: there may be a million of them.
	cleaned := g.cleaned()
	var files []surveyed
	if err := s.survey(ctx, known, func(f *surveyed) {
		o.add(f)
		if cleaned[cmp.Or(formats[f.root], f.format)] {
			if files == nil {
				files = make([]surveyed, 0, s.files.count)
			}
			files = append(files, *f)
		}
	}); err != nil {
		return o, err
	}
	g.foresee(&o, root, files, s.files.path, formats, until)
	return o, nil
}

// Join adds what is said of another part of the same source.
func (o *Outlook) Join(p Outlook) {
	o.Files, o.New, o.Changed, o.Bytes, o.Unknown = o.Files+p.Files, o.New+p.New, o.Changed+p.Changed, o.Bytes+p.Bytes, o.Unknown+p.Unknown
	o.Doomed, o.DoomedBytes, o.AtRisk, o.AtRiskBytes = o.Doomed+p.Doomed, o.DoomedBytes+p.DoomedBytes, o.AtRisk+p.AtRisk, o.AtRiskBytes+p.AtRiskBytes
	o.Oldest, o.First = sooner(o.Oldest, p.Oldest), sooner(o.First, p.First)
}

// sooner is the earlier of two times, of which none may be known.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// cleaned are the formats of which programs delete files.
func (g *Ingester) cleaned() map[string]bool {
	all := map[string]bool{}
	for _, f := range g.Formats {
		if _, ok := f.(format.Cleaner); ok {
			all[f.Name()] = true
		}
	}
	return all
}

// surveyed is a file of which is known whether it is archived. Its path, which takes three times as much memory, stands in the listing.
type surveyed struct {
	*belonging
	size    int64
	mtime   int64 // nanoseconds
	missing int64 // bytes
	number  uint32
	state   archived
	doomed  bool  // its program will delete it
	end     int64 // then, in nanoseconds
}

// belonging is where a file belongs; many files share one.
type belonging struct {
	root   string // of the format it belongs to
	format string // by its path, "" when that does not tell
}

type belongings map[belonging]*belonging

func (b belongings) of(x belonging) *belonging {
	if b[x] == nil {
		b[x] = &x
	}
	return b[x]
}

type archived uint8

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
// says. Paths are gone through twice, since any may make a directory above others a root.
func (s *scan) survey(ctx context.Context, known []string, each func(*surveyed)) error {
	roots := map[string]bool{}
	for _, r := range known {
		roots[r] = true
	}
	for i, e := range s.files.all {
		var root string
		if e.named, root = s.byPath(s.files.path(i)); root != "" {
			roots[root] = true
		}
	}
	shared := belongings{}
	for i, e := range s.files.all {
		if e.named == leftOut {
			continue
		}
		f, to, p := surveyed{number: i, size: e.size, mtime: e.mtime}, belonging{}, s.files.path(i)
		if e.named > 0 {
			to.format = s.g.Formats[e.named-1].Name()
		}
		for dir := path.Dir(p); ; dir = path.Dir(dir) {
			if roots[dir] {
				to.root = dir
			}
			if to.root != "" || dir == "." || dir == "/" {
				break
			}
		}
		f.belonging = shared.of(to)
		if !e.known {
			if err := s.compare(ctx, &f, p); err != nil {
				return err
			}
		}
		if e.alone || f.state == isNew && f.root == "" && f.format == "" {
			f.state = isUnknown
		}
		each(&f)
	}
	return nil
}

// leftOut is a file that is never archived; else entry.named is the place of a format, counted from 1, or 0.
const leftOut = 255

// byPath asks the formats about a path alone.
func (s *scan) byPath(p string) (named byte, root string) {
	if credentials[path.Base(p)] {
		return leftOut, ""
	}
	var best format.Claim
	h := s.head(p)
	for i, f := range s.g.Formats {
		if c := f.Detect(h); c.Skip || c.Strength > max(best.Strength, format.Weak) {
			best, named = c, byte(i+1)
		}
	}
	if best.Skip {
		return leftOut, ""
	}
	if best.Root == "" {
		return named, ""
	}
	return named, here(path.Clean(index.RelPath(h.Dir, best.Root)))
}

func (s *scan) compare(ctx context.Context, f *surveyed, p string) error {
	state, err := s.g.Index.Newest(ctx, s.root.Source, p)
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
