package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
)

// The kinds of facts that the way in writes.
const (
	FactSource  = "source"  // key: name of the source; value: Source
	FactRoot    = "root"    // key: source/dir; value: {"format": name}: a directory that a format owns
	FactProblem = "problem" // key: source/path; value: {"kind", "reason"}: a file that could not be taken
)

// Source is the value of a source's fact.
type Source struct {
	Root string `json:"root"` // real path
	// Only says what of it is followed, as paths below the root: files that were named, whose directory nobody named. Empty is all.
	Only []string `json:"only,omitempty"`
	// Exclude says what is left out, by patterns: see excluding. What was stored of it before stays.
	Exclude []string `json:"exclude,omitempty"`
	// Host is the machine that the files are of. Away says that this is another than the archive's: runs in them that
	// name no host are given it.
	Host    string    `json:"host,omitempty"`
	Away    bool      `json:"away,omitempty"`
	Added   time.Time `json:"added"`
	Command string    `json:"added_by,omitempty"`
	// Removed says since when the source is no longer scanned of itself. Its name stays its own: what was stored
	// under it stays.
	Removed *time.Time `json:"removed,omitempty"`
}

// Follows says whether a path below the root is followed, "." being the root itself.
func (s *Source) Follows(below string) bool {
	return len(s.Only) == 0 || slices.ContainsFunc(s.Only, func(o string) bool { return o == below || within(below, o) })
}

// Follow has a path below the root be followed as well, and says whether that is news.
func (s *Source) Follow(below string) bool {
	if s.Follows(below) {
		return false
	}
	rest := slices.DeleteFunc(slices.Clone(s.Only), func(o string) bool { return within(o, below) })
	if s.Only = nil; below != "." {
		s.Only = append(rest, below)
	}
	return true
}

type problemFact struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
}

// source scans one root and brings in what is new.
func (g *Ingester) source(ctx context.Context, root Root, around []Named, report *Report) error {
	dir, err := os.OpenRoot(root.Dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
			report.Missing = append(report.Missing, root.Source)
			return nil
		}
		return err
	}
	defer dir.Close()
	s := &scan{g: g, root: root, dir: dir, around: around, report: report}
	s.begin(ctx)
	if err := s.walk(ctx); err != nil {
		if err := s.wait(); err != nil {
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
	work, facts, err := s.choose(ctx)
	if err != nil {
		return err
	}
	if g.DryRun {
		return s.countWork(ctx, work)
	}
	if s.empty {
		if err := g.build(ctx, work.bytes); err != nil {
			return err
		}
	}
	if s.news {
		if err := s.rememberLearned(ctx, s.learned); err != nil {
			return err
		}
	}
	if err := s.store(ctx, work, facts); err != nil {
		return err
	}
	if err := s.unlearn(ctx); err != nil || !s.relearn || root.Below != "." {
		return err
	}
	return g.Index.Remember(ctx, formatsKey+root.Source, g.formatsName())
}

// prepare finds out what the index knows of the source.
func (s *scan) prepare(ctx context.Context) (err error) {
	g, source := s.g, s.root.Source
	if s.before, err = g.Index.Stats(ctx, source); err != nil {
		return err
	}
	s.seen = make([]bool, s.before.Len())
	if s.graves, err = g.tombstones(ctx); err != nil {
		return err
	}
	sources, err := g.Index.Sources(ctx)
	if err != nil {
		return err
	}
	s.first, s.empty = !slices.Contains(sources, source), len(sources) == 0
	if err = s.prepareAgain(ctx); err != nil {
		return err
	}
	all, err := g.provenances(ctx)
	s.host = all[source].host
	return err
}

// prepareAgain finds out what other formats than those of the last scan may know.
func (s *scan) prepareAgain(ctx context.Context) (err error) {
	if s.relearn, err = s.g.newFormats(ctx, s.root.Source); err != nil || !s.relearn {
		return err
	}
	s.other = map[uint64]bool{}
	for p, err := range s.g.Index.Unclaimed(ctx, s.root.Source, s.g.parsers()) {
		if err != nil {
			return err
		}
		s.other[pathHash(p)] = true
	}
	return nil
}

// learnedKey is where the index remembers roots that were recognised by scans which did not see all that lies below
// them: a JSON array of paths.
const learnedKey = "roots learned in "

// learn takes note of roots that are new, and of those that earlier scans have left: until a scan has been through all
// of a root, files that were met before it was known are what they were then.
func (s *scan) learn(ctx context.Context, fresh []string) error {
	text, err := s.g.Index.Recall(ctx, learnedKey+s.root.Source)
	if err != nil {
		return err
	}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &s.learned); err != nil {
			return fmt.Errorf("what was learned of %s: %w", s.root.Source, err)
		}
	}
	s.learned, s.news = append(s.learned, fresh...), len(fresh) > 0
	return nil
}

// unlearn forgets the roots that this scan has been through.
func (s *scan) unlearn(ctx context.Context) error {
	left := slices.DeleteFunc(slices.Clone(s.learned), func(r string) bool { return r == s.root.Below || within(r, s.root.Below) })
	if len(left) == len(s.learned) {
		return nil
	}
	return s.rememberLearned(ctx, left)
}

func (s *scan) rememberLearned(ctx context.Context, roots []string) error {
	text := ""
	if len(roots) > 0 {
		b, err := json.Marshal(roots)
		if err != nil {
			return err
		}
		text = string(b)
	}
	return s.g.Index.Remember(ctx, learnedKey+s.root.Source, text)
}

// formatsKey is where the index remembers which formats a source was scanned for.
const formatsKey = "formats of "

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

func (g *Ingester) newFormats(ctx context.Context, source string) (bool, error) {
	last, err := g.Index.Recall(ctx, formatsKey+source)
	return last != g.formatsName(), err
}

// choose finds the files to read, and the facts about the source that are new.
func (s *scan) choose(ctx context.Context) (*queue, []blob.Fact, error) {
	known, err := s.knownRoots(ctx)
	if err != nil {
		return nil, nil, err
	}
	s.wake()
	files, err := s.detect(ctx, func(i uint32, e *entry) bool {
		return !e.known || len(s.other) > 0 && s.other[pathHash(s.files.path(i))]
	})
	if err != nil {
		return nil, nil, err
	}
	files = slices.DeleteFunc(files, func(i uint32) bool { // what still is no format's was read
		e := s.files.at(i)
		e.known = e.known && s.stances.at(e.stance).format == nil
		return e.known
	})
	owners := s.owners()
	roots, fresh := together(known, owners)
	// A root that is recognised now means that what lies below it may be something else than it was without.
	if err := s.learn(ctx, fresh); err != nil {
		return nil, nil, err
	}
	again, err := s.detect(ctx, func(i uint32, e *entry) bool {
		return e.known && (e.alone && (s.g.All || underRoot(s.files.path(i), roots)) ||
			len(s.learned) > 0 && slices.ContainsFunc(s.learned, func(r string) bool { return within(s.files.path(i), r) }))
	})
	if err != nil {
		return nil, nil, err
	}
	s.report.Unchanged += s.total - int64(len(files)+len(again))
	files = s.settle(append(files, again...), roots)
	owners = s.owners()
	var facts []blob.Fact
	for _, r := range fresh {
		facts = append(facts, s.fact(FactRoot, r, map[string]string{"format": owners[r]}))
	}
	s.skipped = slices.DeleteFunc(s.skipped, func(e FileError) bool { return !underRoot(e.Path, roots) && !s.g.All && e.Err == nil })
	s.judgeLinks(roots)
	slices.SortStableFunc(s.skipped, func(a, b FileError) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(files, s.files.compare)
	work := s.files.queue(files, &s.stances)
	s.files = listing{} // of what is to be read the queue knows all
	return work, facts, nil
}

func (s *scan) fact(kind, p string, value any) blob.Fact {
	b, _ := json.Marshal(value) // strings and times only
	return blob.Fact{Kind: kind, Key: path.Join(s.root.Source, p), Time: s.g.Now(), Value: b}
}

// knownRoots returns the directories of this source that formats own.
func (s *scan) knownRoots(ctx context.Context) ([]string, error) {
	var all []string
	for f, err := range s.g.Index.Facts(ctx, FactRoot) {
		if err != nil {
			return nil, err
		}
		if f.Key == s.root.Source {
			all = append(all, ".")
		} else if below, ok := strings.CutPrefix(f.Key, s.root.Source+"/"); ok {
			all = append(all, below)
		}
	}
	return all, nil
}

// problemFacts compares what could not be taken with what was known of it: facts for what is new, and null for what
// is over. Only paths that this scan covered can be over.
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
		if !ok || s.root.Below != "." && below != s.root.Below && !within(below, s.root.Below) {
			continue
		}
		var was problemFact
		if err := json.Unmarshal(f.Value, &was); err == nil && now[f.Key] == was {
			delete(now, f.Key)
		} else if _, still := now[f.Key]; !still {
			facts = append(facts, blob.Fact{Kind: FactProblem, Key: f.Key, Time: s.g.Now(), Value: []byte("null")})
		}
	}
	for _, key := range sortedKeys(now) {
		b, _ := json.Marshal(now[key])
		facts = append(facts, blob.Fact{Kind: FactProblem, Key: key, Time: s.g.Now(), Value: b})
	}
	return facts, nil
}

// sourceFact is the fact of the source itself, when the archive does not know it yet or does not follow all that is scanned now.
func (s *scan) sourceFact(ctx context.Context) ([]blob.Fact, error) {
	known, err := Sources(ctx, s.g.Index)
	if err != nil {
		return nil, err
	}
	is := Source{Root: s.root.Dir, Added: s.g.Now().UTC().Truncate(time.Microsecond)}
	if s.root.Below != "." {
		is.Only = []string{s.root.Below}
	}
	if i := slices.IndexFunc(known, func(k Named) bool { return k.Name == s.root.Source }); i >= 0 {
		if is = known[i].Source; is.Removed != nil || !is.Follow(s.root.Below) {
			return nil, nil
		}
	}
	return []blob.Fact{s.fact(FactSource, "", is)}, nil
}

// countWork says what an ingest would do, as far as sizes tell.
func (s *scan) countWork(ctx context.Context, work *queue) error {
	for c := range work.left {
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

// due says what a file is against the archive, as far as its size and time tell, and how many bytes of it are new.
func (s *scan) due(ctx context.Context, c *claimed) (pieceKind, int64, error) {
	if _, _, ok := s.before.Find(pathHash(c.path)); ok && (c.zip || splitsOf(c) != nil) {
		return pieceRewritten, 0, nil // it has changed, and nobody knows how much without its parts
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
