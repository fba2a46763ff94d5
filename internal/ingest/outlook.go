package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/cleaning"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/source"
)

// Outlook counts the files of a source that are not archived yet, and those that its program will soon delete, as far as paths,
// sizes and times tell: no file is opened.
type Outlook struct {
	Missing bool      // the root does not exist
	Files   int64     // found
	New     int64     // files of a format, or below a root, that the archive does not have
	Changed int64     // files that differ from what is stored
	Bytes   int64     // that are not archived yet
	Oldest  time.Time // modification time of the oldest new or changed file
	Unknown int64     // files that belong to no format, as far as their paths tell

	Doomed      int64 // files that their program will delete before the given time
	DoomedBytes int64
	AtRisk      int64     // doomed files that are not archived in their present state
	AtRiskBytes int64     // bytes of these that are not archived
	First       time.Time // when the first file at risk will be deleted; zero if there is none
}

// Outlook scans one root of a source by metadata alone, and predicts deletions before until. It needs no lock and only reads the index.
func (g *Ingester) Outlook(ctx context.Context, root source.Root, until time.Time) (Outlook, error) {
	g.applyDefaults()
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
	s := &scan{g: g, root: root, dir: dir, statCache: before, seen: make([]bool, before.Len()), report: &Report{}}
	if err := s.walk(ctx); errors.Is(err, os.ErrNotExist) {
		o.Missing = true
		return o, nil
	} else if err != nil {
		return o, err
	}
	s.statCache, s.seen = nil, nil // frees as much memory as the rest of this function needs
	known, err := s.g.knownRoots(ctx, s.root.Source)
	if err != nil {
		return o, err
	}
	formats, err := s.rootFormats(ctx)
	if err != nil {
		return o, err
	}
	// Keep only files that a program deletes: there may be a million others.
	withCleaner := g.formatsWithCleaner()
	var files []surveyed
	if err := s.surveyFiles(ctx, known, formats, func(f *surveyed) {
		o.add(f)
		if withCleaner[cmp.Or(formats[f.root], f.format)] {
			if files == nil {
				files = make([]surveyed, 0, s.files.Count())
			}
			files = append(files, *f)
		}
	}); err != nil {
		return o, err
	}
	g.predictDeletions(&o, root, files, s.files.Path, formats, until)
	return o, nil
}

// Join adds the outlook of another root of the same source.
func (o *Outlook) Join(p Outlook) {
	o.Files, o.New, o.Changed, o.Bytes, o.Unknown = o.Files+p.Files, o.New+p.New, o.Changed+p.Changed, o.Bytes+p.Bytes, o.Unknown+p.Unknown
	o.Doomed, o.DoomedBytes, o.AtRisk, o.AtRiskBytes = o.Doomed+p.Doomed, o.DoomedBytes+p.DoomedBytes, o.AtRisk+p.AtRisk, o.AtRiskBytes+p.AtRiskBytes
	o.Oldest, o.First = earlier(o.Oldest, p.Oldest), earlier(o.First, p.First)
}

// earlier returns the earlier of two times; a zero time is unknown.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// formatsWithCleaner returns the names of the formats whose programs delete files.
func (g *Ingester) formatsWithCleaner() map[string]bool {
	all := map[string]bool{}
	for _, f := range g.Formats {
		if _, ok := f.(format.Cleaner); ok {
			all[f.Name()] = true
		}
	}
	return all
}

// surveyed is a file with its state in the archive. Its path, which takes three times as much memory, is in the listing under number.
type surveyed struct {
	*membership
	size           int64
	mtime          int64 // nanoseconds
	missing        int64 // bytes
	number         uint32
	state          archived
	dueForDeletion bool  // its program will delete it before the given time
	deletedAt      int64 // when, in nanoseconds, if dueForDeletion
}

// membership is the root and format that a file belongs to; many files share one.
type membership struct {
	root   string // the root of a format, "" for none
	format string // by the path alone, "" if that does not tell
}

// memberships interns values of membership.
type memberships map[membership]*membership

func (b memberships) intern(x membership) *membership {
	if b[x] == nil {
		b[x] = &x
	}
	return b[x]
}

// archived is the state of a file against the archive.
type archived uint8

const (
	isArchived archived = iota
	isNew
	isChanged
	isUnknown
)

// add counts a file.
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

// surveyFiles calls each with every file and its state. A file with the metadata of the last scan is archived; for others it asks
// the index. It goes through the paths twice, since any path may make a directory above others a root. formats has the format of each
// root that the index knows: asking all formats about a path takes longer than finding the file, and a file that is archived needs it only
// where its root does not tell.
func (s *scan) surveyFiles(ctx context.Context, known []string, formats map[string]string, each func(*surveyed)) error {
	roots := map[string]bool{}
	for _, r := range known {
		roots[r] = true
	}
	for i, e := range s.files.All {
		if e.Known && !e.Ignored {
			continue
		}
		var root string
		if e.PathFormat, root = s.classifyByPath(s.files.Path(i)); root != "" {
			roots[root] = true
		}
	}
	shared := memberships{}
	for i, e := range s.files.All {
		if e.PathFormat == skippedByPath {
			continue
		}
		f, to, p := surveyed{number: i, size: e.Size, mtime: e.ModTime}, membership{}, s.files.Path(i)
		for dir := path.Dir(p); ; dir = path.Dir(dir) {
			if roots[dir] {
				to.root = dir
			}
			if to.root != "" || dir == "." || dir == "/" {
				break
			}
		}
		if e.Known && !e.Ignored && formats[to.root] == "" {
			e.PathFormat, _ = s.classifyByPath(p)
		}
		if e.PathFormat > 0 && e.PathFormat != skippedByPath {
			to.format = s.g.Formats[e.PathFormat-1].Name()
		}
		f.membership = shared.intern(to)
		if !e.Known {
			if err := s.compareWithIndex(ctx, &f, p); err != nil {
				return err
			}
		}
		if e.Ignored || f.state == isNew && f.root == "" && f.format == "" {
			f.state = isUnknown
		}
		each(&f)
	}
	return nil
}

// skippedByPath is the Entry.PathFormat of a file that is never archived. Other values are the position of a format, counted from 1, or 0 for none.
const skippedByPath = 255

// classifyByPath returns the format that claims a path, as in Entry.PathFormat, and the root that it states.
func (s *scan) classifyByPath(p string) (pathFormat byte, root string) {
	if isCredential(p) {
		return skippedByPath, ""
	}
	var best format.Claim
	h := s.head(p)
	for i, f := range s.g.Formats {
		if c, _ := format.Detect(f, h); c.Skip || c.Strength > max(best.Strength, format.Weak) {
			best, pathFormat = c, byte(i+1)
		}
	}
	if best.Skip {
		return skippedByPath, ""
	}
	if best.Root == "" {
		return pathFormat, ""
	}
	return pathFormat, clampRoot(path.Clean(index.RelPath(h.Dir, best.Root)))
}

// compareWithIndex sets the state of a file by its newest version.
func (s *scan) compareWithIndex(ctx context.Context, f *surveyed, p string) error {
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

// rootFormats returns the formats that own directories of this source, by directory.
func (s *scan) rootFormats(ctx context.Context) (map[string]string, error) {
	formats := map[string]string{}
	for f, err := range s.g.Index.Facts(ctx, FactRoot) {
		if err != nil {
			return nil, err
		}
		var v struct {
			Format string `json:"format"`
		}
		below, ok := strings.CutPrefix(f.Key+"/", s.root.Source+"/")
		if !ok || json.Unmarshal(f.Value, &v) != nil {
			continue
		}
		formats[cmp.Or(strings.TrimSuffix(below, "/"), ".")] = v.Format
	}
	return formats, nil
}

// predictDeletions adds to o the files that programs will delete before until. formats has the format of each root.
func (g *Ingester) predictDeletions(o *Outlook, root source.Root, files []surveyed, path func(number uint32) string, formats map[string]string, until time.Time) {
	for _, f := range g.Formats {
		cleaner, ok := f.(format.Cleaner)
		if !ok {
			continue
		}
		for _, c := range cleaner.Cleanings() {
			all := cleaning.Files{Count: len(files), Changed: func(i int) int64 { return files[i].mtime }, Unit: func(i int) (group, name string) {
				one := &files[i]
				if cmp.Or(formats[one.root], one.format) != f.Name() || one.state == isUnknown {
					return "", ""
				}
				return c.Unit(path(one.number), one.root)
			}}
			cleaning.Due(c, root.Dir, all, until, func(i int, at time.Time) {
				files[i].dueForDeletion, files[i].deletedAt = true, at.UnixNano()
			})
		}
	}
	for i := range files {
		if f := &files[i]; f.dueForDeletion {
			o.addDeletion(f)
		}
	}
}

// addDeletion counts a file that will be deleted.
func (o *Outlook) addDeletion(f *surveyed) {
	o.Doomed++
	o.DoomedBytes += f.size
	if f.state == isArchived {
		return
	}
	o.AtRisk++
	o.AtRiskBytes += f.missing
	if at := time.Unix(0, f.deletedAt); o.First.IsZero() || at.Before(o.First) {
		o.First = at
	}
}
