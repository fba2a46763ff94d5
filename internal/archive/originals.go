package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// originals yields the versions that a restore asks for: from the index or, if that does not have them, from the manifests. It does not filter by o.Paths.
func (a *Archive) originals(ctx context.Context, o RestoreOptions) iter.Seq2[original, error] {
	if a.Index() == nil || !o.At.IsZero() {
		return a.packedOriginals(ctx, o)
	}
	apart, err := a.Index().Apart(ctx)
	if err != nil || apart { // only the packs have everything that copies of the archive have archived apart
		return a.packedOriginals(ctx, o)
	}
	return a.indexedOriginals(ctx, o)
}

func (a *Archive) indexedOriginals(ctx context.Context, o RestoreOptions) iter.Seq2[original, error] {
	return func(yield func(original, error) bool) {
		filter := index.VersionFilter{Source: o.Source, Number: o.Version, Newest: o.Version == 0 && !o.AllVersions}
		var losses blob.Losses
		if o.Damaged {
			for f, err := range a.Index().Facts(ctx, blob.FactLost) {
				if err != nil {
					yield(original{}, err)
					return
				}
				losses.Add(f, "")
			}
		}
		for v, err := range a.versionsBelow(ctx, filter, o) {
			found := a.indexedOriginal(v)
			found.lost = lossesWithin(losses.Of(&v.Version), v.Size)
			if !yield(found, err) || err != nil {
				return
			}
		}
	}
}

func (a *Archive) indexedOriginal(v index.FileVersion) original {
	o := original{Version: v.Version, newest: v.Newest, place: blob.Copy{Raw: v.Chain}}
	o.part = func(ctx context.Context, from, to int64) io.Reader {
		return &content{ctx: ctx, archive: a, version: v, offset: from, end: to}
	}
	o.again = func(ctx context.Context) (now original, changed bool, err error) {
		for w, err := range a.Index().Versions(ctx, index.VersionFilter{Source: v.Source, Path: v.Path, Number: v.Number}) {
			return a.indexedOriginal(w), w.SHA256 != v.SHA256 || w.Size != v.Size || w.Chain != v.Chain, err
		}
		return original{}, false, index.ErrNotFound
	}
	return o
}

func (a *Archive) packedOriginals(ctx context.Context, o RestoreOptions) iter.Seq2[original, error] {
	return func(yield func(original, error) bool) {
		ofRuns, err := a.filesOf(ctx, o.Runs)
		if err != nil {
			yield(original{}, err)
			return
		}
		bad := map[string]error{}
		unread := func(pack string, err error) { bad[pack] = err }
		c, err := a.readCatalog(ctx, o.At, unread)
		for more := true; more && err == nil; more, err = a.nextSpan(ctx, c, unread) {
			var apart map[*catalogVersion]*history
			if apart, err = a.histories(ctx, c); err != nil {
				break
			}
			for _, v := range c.sorted() {
				wanted := o.AllVersions || v.newest
				if o.Version != 0 {
					wanted = v.Number == o.Version
				}
				if !wanted || c.isDeleted(v) || o.Source != "" && v.Source != o.Source || ofRuns != nil && !ofRuns[v.Source+"/"+v.Path] {
					continue
				}
				found := a.packedOriginal(c, v, apart[v])
				if o.Damaged {
					found.lost = lossesWithin(c.losses.Of(&v.Version), v.Size)
				}
				if !yield(found, nil) || o.AllVersions && apart[v] != nil && !a.yieldOthers(apart[v], yield) {
					return
				}
			}
		}
		if err != nil {
			yield(original{}, err)
			return
		}
		if len(bad) > 0 {
			yield(original{}, fmt.Errorf("the contents of %d unreadable packs were skipped: %w", len(bad), errors.Join(slices.Collect(maps.Values(bad))...)))
		}
	}
}

// versionsBelow yields the versions that a restore may need: those of its runs or, without runs, of its paths.
func (a *Archive) versionsBelow(ctx context.Context, filter index.VersionFilter, o RestoreOptions) iter.Seq2[index.FileVersion, error] {
	if len(o.Runs) > 0 || len(o.Paths) == 0 {
		return a.versionsOf(ctx, filter, o.Runs)
	}
	return func(yield func(index.FileVersion, error) bool) {
		sources, err := a.Index().Sources(ctx)
		if err != nil {
			yield(index.FileVersion{}, err)
			return
		}
		if o.Source != "" {
			sources = []string{o.Source}
		}
		places := placesOf(o.Paths, sources)
		for i, in := range places {
			filter.Source, filter.Below = cmp.Or(in.source, o.Source), in.path
			for v, err := range a.Index().Versions(ctx, filter) {
				if err == nil && slices.ContainsFunc(places[:i], func(p place) bool { return p.has(v.Source, v.Path) }) {
					continue
				}
				if !yield(v, err) || err != nil {
					return
				}
			}
		}
	}
}

// versionsOf yields the versions of the originals of some runs (none: of all) from the index. A version that describes several
// of the runs is yielded once.
func (a *Archive) versionsOf(ctx context.Context, filter index.VersionFilter, runs []string) iter.Seq2[index.FileVersion, error] {
	if len(runs) == 0 {
		return a.Index().Versions(ctx, filter)
	}
	return func(yield func(index.FileVersion, error) bool) {
		seen := map[index.VersionKey]bool{}
		for _, filter.Run = range runs {
			for v, err := range a.Index().Versions(ctx, filter) {
				key := index.KeyOf(&v.Version)
				if seen[key] {
					continue
				}
				seen[key] = err == nil
				if !yield(v, err) || err != nil {
					return
				}
			}
		}
	}
}

// filesOf returns the files that describe some runs, nil if runs is empty.
func (a *Archive) filesOf(ctx context.Context, runs []string) (map[string]bool, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	if a.Index() == nil {
		return nil, fmt.Errorf("the originals of a run: %w", a.noIndex())
	}
	files := map[string]bool{}
	for v, err := range a.versionsOf(ctx, index.VersionFilter{}, runs) {
		if err != nil {
			return nil, err
		}
		files[v.Source+"/"+v.Path] = true
	}
	return files, nil
}

func (a *Archive) packedOriginal(c *catalog, v *catalogVersion, apart *history) original {
	placed := c.place(v)
	var at blob.Copy
	if len(placed.at) > 0 {
		at = placed.at[0]
	}
	return original{Version: v.Version, newest: v.newest, other: v.rival, place: at, part: func(ctx context.Context, from, to int64) io.Reader {
		if whole, ok := apart.way(prefix{v.Size, v.SHA256}); ok && from == 0 {
			return io.LimitReader(a.library.Reader(ctx, whole), to)
		}
		extents, err := placed.extents(from, to)
		if err != nil {
			return errorReader{err}
		}
		return io.LimitReader(a.library.Reader(ctx, extents), to-from)
	}}
}

// yieldOthers yields the states of a version that it does not begin with.
func (a *Archive) yieldOthers(h *history, yield func(original, error) bool) bool {
	for _, s := range h.others() {
		o := original{Version: h.version.Version, other: true, place: h.version.at[0]}
		o.Size, o.SHA256, o.ModTime, o.Mode, o.Archived = s.Size, s.SHA256, s.ModTime, s.Mode, s.Archived
		o.part = func(ctx context.Context, from, to int64) io.Reader {
			whole, ok := h.way(prefixOf(s))
			if !ok {
				return errorReader{h.unreached()}
			}
			return io.LimitReader(a.library.Reader(ctx, whole), to)
		}
		if !yield(o, nil) {
			return false
		}
	}
	return true
}

// errorReader is a reader that always fails.
type errorReader struct{ err error }

func (f errorReader) Read([]byte) (int, error) { return 0, f.err }

// sorted returns the versions by source, path and number, marks the newest of each file that is not deleted, and rivals.
func (c *catalog) sorted() []*catalogVersion {
	all := make([]*catalogVersion, 0, len(c.versions))
	for _, v := range c.versions {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b *catalogVersion) int {
		return a.Chain().Compare(b.Chain())
	})
	var last *catalogVersion // that is not deleted, of those so far
	for _, v := range all {
		if v.newest, v.rival = false, false; c.isDeleted(v) {
			continue
		}
		switch {
		case last == nil || v.Name() != last.Name():
			v.newest = true
		case v.Number > last.Number:
			v.newest, last.newest = true, false
		default:
			v.rival = true
			continue
		}
		last = v
	}
	return all
}
