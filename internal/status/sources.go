package status

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/nightly"
)

// scannedKey is the prefix of the local keys for when a source was last scanned completely on this machine.
const scannedKey = "scanned/"

// RecordScanned records that sources were scanned completely. The record is lost with the index; then the time of the last stored
// version counts.
func RecordScanned(ctx context.Context, store *archive.Archive, now time.Time, roots []source.Root, r *ingest.Report) error {
	known, err := source.All(ctx, store.Index())
	if err != nil {
		return err
	}
	notes := map[string]string{}
	for _, k := range known {
		missed := func(of source.Root) bool {
			return !slices.ContainsFunc(roots, func(o source.Root) bool { return o.Source == of.Source && o.Below == of.Below })
		}
		if !slices.Contains(r.Missing, k.Name) && !r.Closed(k.Name) && !slices.ContainsFunc(k.Roots(), missed) {
			notes[scannedKey+k.Name] = now.UTC().Format(time.RFC3339Nano)
		}
	}
	return store.Index().SaveLocal(ctx, notes)
}

// isAhead reports whether a recorded time is so far in the future that a clock was wrong, rather than set back a little since.
func isAhead(at, now time.Time) bool { return at.Sub(now) >= time.Minute }

// lastScanned returns when a source was last scanned completely, by the local records; zero if that is unknown. A time in the future, from
// a clock that was wrong, tells nothing: the source would count as just scanned until then.
func lastScanned(notes map[string]string, source string, now time.Time) time.Time {
	at, err := time.Parse(time.RFC3339Nano, notes[scannedKey+source])
	if err != nil || isAhead(at, now) {
		return time.Time{}
	}
	return at
}

// Sources returns the sources with what is stored of them. Those that were removed before anything was are left out.
func Sources(ctx context.Context, store *archive.Archive, now time.Time) ([]*Source, error) {
	known, err := source.All(ctx, store.Index())
	if err != nil {
		return nil, err
	}
	notes, err := store.Index().LoadLocal(ctx, scannedKey)
	if err != nil {
		return nil, err
	}
	all := []*Source{}
	by := map[string]*Source{}
	for _, k := range known {
		s := &Source{Name: k.Name, Root: k.Root, Only: k.Only, State: StateOf(k), roots: k.Roots()}
		all, by[k.Name] = append(all, s), s
	}
	for stock, err := range store.Index().SourceStats(ctx) {
		if err != nil {
			return nil, err
		}
		if s := by[stock.Source]; s != nil {
			s.Files, s.Bytes, s.Versions, s.LastStored.Time = stock.Files, stock.Bytes, stock.Versions, stock.LastStored
		}
	}
	all = slices.DeleteFunc(all, func(s *Source) bool { return s.State == "removed" && s.Versions == 0 })
	for _, s := range all {
		if s.LastScanned.Time = lastScanned(notes, s.Name, now); s.LastScanned.IsZero() && !isAhead(s.LastStored.Time, now) {
			s.LastScanned = s.LastStored
		}
		if !s.LastScanned.IsZero() {
			s.Age = new(int64(max(now.Sub(s.LastScanned.Time), 0) / time.Second))
		}
	}
	return all, nil
}

// countProblems counts problems in total, and per source.
func countProblems(ctx context.Context, store *archive.Archive, sources []*Source) (n int64, err error) {
	for p, err := range store.Index().Problems(ctx) {
		if err != nil {
			return n, err
		}
		n++
		for _, s := range sources {
			if s.Name == p.Key.Source {
				s.Problems++
			}
		}
	}
	return n, nil
}

// Unindexed returns the packs that the index does not know, and when the newest of all packs was written. It lists packs before it
// asks the index, so a pack that is indexed meanwhile is known.
func Unindexed(ctx context.Context, store *archive.Archive) (unknown []string, last time.Time, err error) {
	for info, err := range store.Packs().List(ctx) {
		if err != nil {
			return nil, last, err
		}
		unknown = append(unknown, info.Name)
		if at := packTime(info.Name); at.After(last) {
			last = at
		}
	}
	if store.Index() == nil {
		return unknown, last, nil
	}
	known := map[string]bool{}
	for _, names := range []iter.Seq2[string, error]{store.Index().Packs(ctx), store.Index().Replaced(ctx)} {
		for name, err := range names {
			if err != nil {
				return nil, last, err
			}
			known[name] = true
		}
	}
	return slices.DeleteFunc(unknown, func(name string) bool { return known[name] }), last, nil
}

// packTime returns when a pack was begun, from its name; zero if the name does not tell.
func packTime(name string) time.Time {
	base := name[strings.LastIndexByte(name, '/')+1:]
	digits, _, _ := strings.Cut(base, "-")
	if at, err := time.Parse("20060102T150405Z", digits); err == nil { // Parse accepts a fraction of a second
		return at
	}
	return time.Time{}
}

// Emptied reports whether a source of which files are archived is an empty directory now, as it is when its disk is not mounted.
func (s *Source) Emptied() bool {
	if s.State != "present" || s.Files == 0 {
		return false
	}
	dir, err := os.Open(s.Root)
	if err != nil {
		return false
	}
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// Packs returns the packs of an archive for the state of the nightly job.
func Packs(ctx context.Context, store *archive.Archive) ([]nightly.Pack, error) {
	var packs []nightly.Pack
	for info, err := range store.Packs().List(ctx) {
		if err != nil {
			return nil, err
		}
		packs = append(packs, nightly.Pack{Name: info.Name, Size: info.Size, Created: packTime(info.Name)})
	}
	return packs, nil
}

// followed describes what is scanned of a directory: all of it, or only some paths.
func Followed(root string, only []string) string {
	switch len(only) {
	case 0:
		return root
	case 1:
		return filepath.Join(root, filepath.FromSlash(only[0]))
	}
	return filepath.Join(root, "{"+strings.Join(only, ",")+"}")
}

// StateOf returns whether a source is present, missing, unreadable or removed.
func StateOf(s source.Named) string {
	if s.Removed != nil {
		return "removed"
	}
	f, err := os.Open(s.Root)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "unreadable"
	case err != nil:
		return "missing"
	}
	f.Close()
	return "present"
}
