// Package ingest brings files into an archive: it scans sources, detects the format of their files, stores every byte in
// packs, parses the formats it knows and commits packs and records to the index.
//
// Its promises: a file is in the index only when its bytes are durable in a pack; a batch is one pack and one
// transaction; ingesting twice writes nothing; sources are only read; one bad file never stops the rest.
//
// A scan runs in stages: walk.go lists the files, claim.go asks the formats about them, source.go queues those to be read; workers (store.go,
// large.go) read, hash, compress and parse them; pipeline.go and batch.go pack and commit the results. adopt.go indexes packs that are there
// already, reclaim.go asks new formats about what they hold, and stored.go parses it.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/collect"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Index is what an Ingester needs of an index.
type Index interface {
	index.Writer
	index.Catalog
	index.StateReader
	index.PackLister
	index.FactReader
	index.ScanMemory
	Reprice(ctx context.Context, book *price.Book) (changed int64, err error)
}

// Originals reads stored bytes back, to parse them again. The extents name their packs in CopyOf.
type Originals interface {
	Reader(ctx context.Context, extents []blob.Extent) io.Reader
}

// Ingester brings files into an archive. It needs the archive's lock.
type Ingester struct {
	Packs     blob.Store
	Originals Originals
	Index     Index
	Formats   []format.Format
	Prices    *price.Book // the program's; facts of the archive extend them
	Writer    string      // id of this writer in pack names: letters and digits
	// ArchiveDir is the archive's directory. No scan enters it: it would store itself, and more each time. It may be "".
	ArchiveDir string
	Now        func() time.Time
	Log        *slog.Logger
	// All has a scan take every file of a source, also those that belong to no format.
	All bool
	// Pruned archives again what was pruned and is still at its source.
	Pruned bool
	// DryRun scans and counts, and writes nothing.
	DryRun bool
	// Adopted says that Adopt has just been called and found no damage: Run does not call it again.
	Adopted bool
	// Damaged names packs that are not as they were written. Content in them counts as absent, and is stored again.
	Damaged []string
	// Build creates an index beside the present one. A first load of BuildFrom bytes or more goes into it, and the present one stays
	// unchanged until the load is complete. It may be nil.
	Build     func(ctx context.Context) (*Building, error)
	BuildFrom int64
	// Remember is how many runs or conversations of an original are kept as they are (see collect.Collector.Remember), 0 its default.
	Remember int
	// Progress is called often, from several goroutines. It may be nil.
	Progress func(Progress)

	book         *price.Book // Prices with the facts of the archive, once Adopt has read them
	building     *Building
	missingPacks map[string]bool // packs that the index knows and the store lacks, once Adopt has checked

	mu         sync.Mutex
	unreadable map[index.VersionKey]error // stored originals that could not be read: each is tried, and reported, once
	unresolved map[string]FileError       // bugs of resolvers, by their text: the rest of the batch is committed
}

func (g *Ingester) newCollector(l *lexicon.Lexicon) *collect.Collector {
	c := collect.New(l)
	if g.Remember > 0 {
		c.Remember(g.Remember)
	}
	return c
}

// Progress is how far an ingest has come. Totals grow while the scan runs.
type Progress struct {
	Stage             string // manifests, adopt, scan, detect, store, commit or parse
	Path              string
	Files, TotalFiles int64
	Bytes, TotalBytes int64 // raw
}

// Report counts what an ingest did.
type Report struct {
	Files       int64       `json:"files"`     // found by the scan
	Unchanged   int64       `json:"unchanged"` // known by their metadata, not read
	New         int64       `json:"new"`       // files that the archive had not seen
	Grown       int64       `json:"grown"`
	Rewritten   int64       `json:"rewritten"`
	Copies      int64       `json:"copies"`       // new files whose content was stored already
	Ignored     int64       `json:"ignored"`      // belong to no format: not archived
	LeftOut     int64       `json:"left_out"`     // credentials
	Excluded    int64       `json:"excluded"`     // files and directories that the source's patterns exclude; files inside such a directory are not counted
	NotFollowed []Link      `json:"not_followed"` // outside of what formats own
	Pruned      int64       `json:"pruned"`       // read, and not archived because they were pruned
	RawBytes    int64       `json:"raw_bytes"`    // read and stored
	StoredBytes int64       `json:"stored_bytes"` // in new packs
	Packs       int64       `json:"packs"`
	Adopted     int64       `json:"adopted"`    // packs of other writers, or of a crash, that the index lacked
	Events      int64       `json:"events"`     // new rows of the index
	Problems    []FileError `json:"problems"`   // files that could not be archived, or only in part
	Missing     []string    `json:"missing"`    // sources, or followed paths of them, that are not there
	Mended      int64       `json:"mended"`     // damaged packs whose whole content was stored again
	Unreadable  int64       `json:"unparsable"` // lines or documents that no parser could read, in files read now
}

// Closed reports whether a source could not be scanned because its directory may not be read.
func (r *Report) Closed(source string) bool {
	return slices.ContainsFunc(r.Problems, func(p FileError) bool {
		return p.Source == source && p.Path == "." && errors.Is(p.Err, fs.ErrPermission)
	})
}

// count adds the rows and problems of one chunk of an original.
func (r *Report) count(p *index.Parsed) {
	r.Events += int64(len(p.Rows))
	r.Unreadable += int64(len(p.Problems)) + p.UnlistedProblems
	for _, problem := range p.Problems {
		if problem.Kind == format.Failed {
			r.Problems = append(r.Problems, FileError{Source: p.Source, Path: p.Path, Stage: "parse", Reason: problem.Reason})
		}
	}
}

// FileError says why a file was not archived, or not as a whole.
type FileError struct {
	Source string `json:"source"`
	Path   string `json:"path"`
	Stage  string `json:"stage"` // scan, open, detect, read, store, parse, resolve
	Reason string `json:"reason"`
	Err    error  `json:"-"`
}

func (e FileError) Error() string {
	return fmt.Sprintf("%s %s/%s: %s", e.Stage, e.Source, e.Path, e.Reason)
}

func (e FileError) Unwrap() error { return e.Err }

// Run scans roots and archives what is new. Files that cannot be archived are in the report; the error is about the archive itself,
// or the context's.
func (g *Ingester) Run(ctx context.Context, roots []source.Root) (*Report, error) {
	report, err := g.run(ctx, roots)
	return report, errors.Join(err, g.endBuilding(err))
}

func (g *Ingester) run(ctx context.Context, roots []source.Root) (*Report, error) {
	g.applyDefaults()
	report := &Report{Problems: []FileError{}, Missing: []string{}, NotFollowed: []Link{}}
	if !g.DryRun && !g.Adopted {
		n, err := g.Adopt(ctx)
		report.Adopted = int64(n)
		if errors.Is(err, blob.ErrCorrupt) { // a damaged pack costs its own content and nothing else
			report.Problems = append(report.Problems, FileError{Stage: "adopt", Reason: err.Error(), Err: err})
		} else if err != nil {
			return report, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.missingPacks)) {
		err := fmt.Errorf("pack %s is %w", name, blob.ErrMissing)
		report.Problems = append(report.Problems, FileError{Stage: "adopt", Reason: err.Error(), Err: err})
	}
	last, err := g.Index.Recall(ctx, claimsKey)
	if err != nil {
		return report, err
	}
	formatsChanged := last != g.formatsName()
	if formatsChanged && !g.DryRun {
		if err := g.reclaim(ctx, report); err != nil {
			return report, err
		}
	}
	sources, err := g.sourcesWith(ctx, roots)
	if err != nil {
		return report, err
	}
	for _, root := range roots {
		if err := g.scanSource(ctx, root, sources, report); err != nil {
			return report, err
		}
	}
	if g.DryRun {
		return report, nil
	}
	if formatsChanged {
		if err := g.Index.Remember(ctx, claimsKey, g.formatsName()); err != nil {
			return report, err
		}
	}
	if err := g.parsePending(ctx, report); err != nil {
		return report, err
	}
	if err := g.unreadableError(); err != nil {
		report.Problems = append(report.Problems, FileError{Stage: "adopt", Reason: err.Error(), Err: err})
	}
	for _, bug := range slices.Sorted(maps.Keys(g.unresolved)) {
		report.Problems = append(report.Problems, g.unresolved[bug])
	}
	if report.Packs+report.Adopted == 0 {
		return report, nil
	}
	return report, g.Index.Tidy(ctx)
}

// applyDefaults sets the optional fields that are nil.
func (g *Ingester) applyDefaults() {
	if g.book == nil {
		g.book = g.Prices
	}
	if g.Now == nil {
		g.Now = time.Now
	}
	if g.Log == nil {
		g.Log = slog.New(slog.DiscardHandler)
	}
}

func (g *Ingester) progress(p Progress) {
	if g.Progress != nil {
		g.Progress(p)
	}
}

// formatNamed returns the format of a name, nil if this program has none.
func (g *Ingester) formatNamed(name string) format.Format {
	i := slices.IndexFunc(g.Formats, func(f format.Format) bool { return f.Name() == name })
	if i < 0 {
		return nil
	}
	return g.Formats[i]
}

// resolverOf returns the resolver of a format for the index.
func (g *Ingester) resolverOf(name string) (r index.Resolver) {
	f := g.formatNamed(name)
	if _, ok := f.(format.Resolver); ok {
		r.Resolve = func(family *transcript.Family) {
			if err := format.Resolve(f, family); err != nil {
				g.addUnresolved(family, err)
			}
		}
	}
	_, r.Usage = f.(format.UsageResolver)
	return r
}

// addUnresolved keeps a bug of a resolver for the report, with the first family that shows it.
func (g *Ingester) addUnresolved(family *transcript.Family, bug error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.unresolved[bug.Error()]; known {
		return
	}
	g.Log.Warn("run not resolved", "reason", bug)
	if g.unresolved == nil {
		g.unresolved = map[string]FileError{}
	}
	e := FileError{Stage: "resolve", Reason: bug.Error(), Err: bug}
	if len(family.Conversations) > 0 {
		e.Path = family.Conversations[0].Path
	}
	g.unresolved[bug.Error()] = e
}

// parserVersions returns the current version of every parser.
func (g *Ingester) parserVersions() map[string]int {
	all := map[string]int{}
	for _, f := range g.Formats {
		all[f.Name()] = f.Version()
	}
	return all
}
