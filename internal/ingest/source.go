package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/listing"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/ingest/sourcefs"
)

// The kinds of facts that an Ingester writes.
const (
	FactRoot    = "root"    // key: source/dir; value: {"format": name}: a directory that a format owns
	FactProblem = "problem" // key: source/path; value: {"kind", "reason"}: a file that could not be taken
)

// provenance is what a source states about all of its files.
type provenance struct {
	host string // the machine, for copies from another one; else ""
	dir  string // its root: see format.Head
}

// provenances returns the provenance of each source, by name.
func (g *Ingester) provenances(ctx context.Context) (map[string]provenance, error) {
	known, err := source.All(ctx, g.Index)
	if err != nil {
		return nil, err
	}
	all := map[string]provenance{}
	for _, s := range known {
		of := provenance{dir: toSlash(s.Root)}
		if s.Away {
			of.host = s.Host
		}
		all[s.Name] = of
	}
	return all, nil
}

// toSlash returns a root with slashes, whatever system it comes from, so that all systems give the same result.
func toSlash(root string) string { return strings.ReplaceAll(root, `\`, "/") }

// OpenOriginal opens a file of a source, named by its path below the source's root, as a scan does.
func OpenOriginal(root, p string) (*os.File, error) { return sourcefs.Open(root, p) }

type problemFact struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
}

// scanSource scans one root and archives what is new.
func (g *Ingester) scanSource(ctx context.Context, root source.Root, sources []source.Named, report *Report) error {
	dir, err := os.OpenRoot(root.Dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			report.Missing = append(report.Missing, root.Source)
			return nil
		}
		if errors.Is(err, os.ErrPermission) {
			if !report.Closed(root.Source) { // by another of its roots
				report.Problems = append(report.Problems, fileError(root.Source, ".", "scan", err))
			}
			return nil
		}
		return err
	}
	defer dir.Close()
	s := &scan{g: g, root: root, dir: dir, sources: sources, report: report}
	s.loadInBackground(ctx)
	if err := s.walk(ctx); err != nil {
		if err := s.waitLoaded(); err != nil {
			return err
		}
		if root.Listed && errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if errors.Is(err, os.ErrNotExist) {
			report.Missing = append(report.Missing, path.Join(root.Source, root.Below))
			return nil
		}
		return err
	}
	report.Files += s.total
	work, facts, err := s.chooseWork(ctx)
	if err != nil {
		return err
	}
	if g.DryRun {
		return s.countWork(ctx, work)
	}
	if s.emptyIndex {
		if err := g.build(ctx, work.Bytes); err != nil {
			return err
		}
	}
	if s.pendingRootsChanged {
		if err := s.savePendingRoots(ctx, s.pendingRoots); err != nil {
			return err
		}
	}
	if err := s.storeAll(ctx, work, facts); err != nil {
		return err
	}
	if err := s.clearPendingRoots(ctx); err != nil || !s.formatsChanged {
		return err
	}
	return g.Index.Remember(ctx, formatsKey+path.Join(root.Source, root.Below), g.formatsName())
}

// loadKnown loads what the index knows of the source.
func (s *scan) loadKnown(ctx context.Context) (err error) {
	g, source := s.g, s.root.Source
	if s.statCache, err = g.Index.Stats(ctx, source); err != nil {
		return err
	}
	s.seen = make([]bool, s.statCache.Len())
	if s.tombstones, err = g.tombstones(ctx); err != nil {
		return err
	}
	sources, err := g.Index.Sources(ctx)
	if err != nil {
		return err
	}
	s.newSource, s.emptyIndex = !slices.Contains(sources, source), len(sources) == 0
	if s.formatsChanged, err = g.newFormats(ctx, s.root); err != nil {
		return err
	}
	all, err := g.provenances(ctx)
	s.host = all[source].host
	return err
}

// pendingRootsKey is the key, with the name of a source appended, under which the index remembers pending roots: a JSON array of
// paths.
const pendingRootsKey = "roots learned in "

// loadPendingRoots sets pendingRoots to the new roots and those that earlier scans left pending. Files below a root that were scanned before
// the root was detected keep their old class until a scan covers the whole root.
func (s *scan) loadPendingRoots(ctx context.Context, fresh []string) error {
	text, err := s.g.Index.Recall(ctx, pendingRootsKey+s.root.Source)
	if err != nil {
		return err
	}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &s.pendingRoots); err != nil {
			return fmt.Errorf("what was learned of %s: %w", s.root.Source, err)
		}
	}
	s.pendingRoots, s.pendingRootsChanged = append(s.pendingRoots, fresh...), len(fresh) > 0
	return nil
}

// clearPendingRoots removes the roots that this scan has covered.
func (s *scan) clearPendingRoots(ctx context.Context) error {
	left := slices.DeleteFunc(slices.Clone(s.pendingRoots), func(r string) bool { return r == s.root.Below || source.Within(r, s.root.Below) })
	if len(left) == len(s.pendingRoots) {
		return nil
	}
	return s.savePendingRoots(ctx, left)
}

func (s *scan) savePendingRoots(ctx context.Context, roots []string) error {
	text := ""
	if len(roots) > 0 {
		b, err := json.Marshal(roots)
		if err != nil {
			return err
		}
		text = string(b)
	}
	return s.g.Index.Remember(ctx, pendingRootsKey+s.root.Source, text)
}

// formatsKey is the key, with the name of a source and the path below it that was scanned appended, under which the index remembers the
// formats of the last scan.
const formatsKey = "formats of "

// formatsName identifies the formats of this program, with their versions.
func (g *Ingester) formatsName() string {
	var name strings.Builder
	for _, f := range g.Formats {
		fmt.Fprintf(&name, "%s %d ", f.Name(), f.Version())
		if _, ok := f.(format.Zipped); ok {
			name.WriteString("zip ")
		}
	}
	return name.String()
}

// newFormats reports whether the last scans of a root, alone and with all of its source, were made with other formats.
func (g *Ingester) newFormats(ctx context.Context, root source.Root) (bool, error) {
	for _, scanned := range []string{root.Source, path.Join(root.Source, root.Below)} {
		if last, err := g.Index.Recall(ctx, formatsKey+scanned); err != nil || last == g.formatsName() {
			return false, err
		}
	}
	return true, nil
}

// chooseWork returns the files to read, and the new facts about the source.
func (s *scan) chooseWork(ctx context.Context) (*listing.Queue, []blob.Fact, error) {
	known, err := s.g.knownRoots(ctx, s.root.Source)
	if err != nil {
		return nil, nil, err
	}
	s.recheckDatabases()
	files, err := s.detect(ctx, func(_ uint32, e *listing.Entry) bool { return !e.Known })
	if err != nil {
		return nil, nil, err
	}
	owners := s.classes.ownedRoots()
	roots, fresh := mergeRoots(known, owners)
	// Files below a new root may be classified differently than they were without it.
	if err := s.loadPendingRoots(ctx, fresh); err != nil {
		return nil, nil, err
	}
	reclassified, err := s.detect(ctx, func(i uint32, e *listing.Entry) bool {
		return e.Known && (e.Ignored && (s.g.All || underRoot(s.files.Path(i), roots)) ||
			len(s.pendingRoots) > 0 && slices.ContainsFunc(s.pendingRoots, func(r string) bool { return source.Within(s.files.Path(i), r) }))
	})
	if err != nil {
		return nil, nil, err
	}
	s.report.Unchanged += s.total - int64(len(files)+len(reclassified))
	files = s.selectFiles(append(files, reclassified...), roots)
	owners = s.classes.ownedRoots()
	var facts []blob.Fact
	for _, r := range fresh {
		facts = append(facts, s.g.rootFact(s.root.Source, r, owners[r]))
	}
	s.skipped = slices.DeleteFunc(s.skipped, func(e FileError) bool { return !underRoot(e.Path, roots) && !s.g.All && e.Err == nil })
	s.reportLinks(roots)
	slices.SortStableFunc(s.skipped, func(a, b FileError) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(files, s.files.Compare)
	work := s.files.Queue(files)
	s.files = listing.List{} // the queue has all that is to be read
	return work, facts, nil
}

func (g *Ingester) fact(kind, key string, value any) blob.Fact {
	b, _ := json.Marshal(value) // strings and times only
	return blob.Fact{Kind: kind, Key: key, Time: g.Now(), Value: b}
}

// rootFact returns the fact that a directory is a root of a format.
func (g *Ingester) rootFact(source, root, format string) blob.Fact {
	return g.fact(FactRoot, path.Join(source, root), map[string]string{"format": format})
}

// knownRoots returns the roots of formats in a source that the index knows.
func (g *Ingester) knownRoots(ctx context.Context, source string) ([]string, error) {
	var all []string
	for f, err := range g.Index.Facts(ctx, FactRoot) {
		if err != nil {
			return nil, err
		}
		if f.Key == source {
			all = append(all, ".")
		} else if below, ok := strings.CutPrefix(f.Key, source+"/"); ok {
			all = append(all, below)
		}
	}
	return all, nil
}

// problemFacts compares the files that could not be archived with those that the index knows, and returns a fact for each new problem and a
// null fact for each that is solved. Only paths that this scan covered can be solved.
func (s *scan) problemFacts(ctx context.Context, bad []FileError) ([]blob.Fact, error) {
	now := map[string]problemFact{}
	for _, e := range bad {
		now[path.Join(e.Source, e.Path)] = problemFact{Kind: e.Stage, Reason: e.Reason}
	}
	var facts []blob.Fact
	for f, err := range s.g.Index.Facts(ctx, FactProblem) {
		if err != nil {
			return nil, err
		}
		below, ok := strings.CutPrefix(f.Key, s.root.Source+"/")
		if !ok || s.root.Below != "." && below != s.root.Below && !source.Within(below, s.root.Below) {
			continue
		}
		var was problemFact
		if err := json.Unmarshal(f.Value, &was); err == nil && now[f.Key] == was {
			delete(now, f.Key)
		} else if _, still := now[f.Key]; !still {
			facts = append(facts, blob.Retraction(FactProblem, f.Key, s.g.Now()))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		b, _ := json.Marshal(now[key])
		facts = append(facts, blob.Fact{Kind: FactProblem, Key: key, Time: s.g.Now(), Value: b})
	}
	return facts, nil
}

// sourceFact returns the fact of the source, if the archive does not know it yet or does not follow all that is scanned now.
func (s *scan) sourceFact(ctx context.Context) ([]blob.Fact, error) {
	known, err := source.All(ctx, s.g.Index)
	if err != nil {
		return nil, err
	}
	src := source.Source{Root: s.root.Dir, Added: s.g.Now().UTC().Truncate(time.Microsecond)}
	if s.root.Below != "." {
		src.Only = []string{s.root.Below}
	}
	if i := slices.IndexFunc(known, func(k source.Named) bool { return k.Name == s.root.Source }); i >= 0 {
		if src = known[i].Source; src.Removed != nil || !src.Follow(s.root.Below) {
			return nil, nil
		}
	}
	return []blob.Fact{s.g.fact(source.Fact, s.root.Source, src)}, nil
}

// countWork counts what an ingest would do, as far as sizes tell.
func (s *scan) countWork(ctx context.Context, work *listing.Queue) error {
	for f := range work.Drain {
		c := s.claimed(f)
		if splits := splitsOf(c); splits != nil {
			if err := s.countParts(ctx, c, splits); err != nil {
				s.problem(c.path, "open", err)
			}
			continue
		}
		kind, size, err := s.due(ctx, c)
		if err != nil {
			return err
		}
		switch kind {
		case pieceNew:
			s.report.New++
		case pieceGrown:
			s.report.Grown++
		case pieceRewritten:
			s.report.Rewritten++
		case pieceTouched:
			s.report.Unchanged++
		}
		s.report.RawBytes += size
	}
	s.report.Problems = append(s.report.Problems, s.skipped...)
	return nil
}

// due compares a file with the archive by size and time, and returns its kind and how many of its bytes are new.
func (s *scan) due(ctx context.Context, c *claimed) (pieceKind, int64, error) {
	if _, _, ok := s.statCache.Find(pathHash(c.path)); ok && (c.isZip || splitsOf(c) != nil) {
		return pieceRewritten, 0, nil // it has changed; by how much is unknown without looking at its parts
	}
	state, err := s.newest(ctx, c.path, false)
	switch {
	case errors.Is(err, index.ErrNotFound):
		return pieceNew, c.size, nil
	case err != nil:
		return 0, 0, err
	case c.size > state.Size && (c.claim.Log || c.format == nil):
		return pieceGrown, c.size - state.Size, nil
	case c.size != state.Size || c.mtime != state.ModTime.UnixNano():
		return pieceRewritten, c.size, nil
	}
	return pieceTouched, 0, nil
}
