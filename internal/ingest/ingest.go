// Package ingest is the way in: it scans sources, recognises what their files are, stores every byte in packs,
// parses what it understands and commits both to the index.
//
// Its promises: a file is in the index only when its bytes are durable in a pack; a batch is one pack and one
// transaction; ingesting twice writes nothing; sources are only read; one bad file never stops the rest.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/price"
)

// Index is what the way in needs of an index.
type Index interface {
	index.Writer
	index.Catalog
	Reprice(ctx context.Context, book *price.Book) (changed int64, err error)
}

// Originals reads stored bytes back, to parse them again. Extents name their packs in CopyOf.
type Originals interface {
	Reader(ctx context.Context, extents []blob.Extent) io.Reader
}

// Ingester brings files into an archive. It needs the archive's lock.
type Ingester struct {
	Packs     blob.Store
	Originals Originals
	Index     Index
	Formats   []format.Format
	Prices    *price.Book // of the program; facts of the archive add to them
	Writer    string      // id of this writer in pack names: letters and digits
	Own       string      // directory of the archive, which no scan enters: it would store itself, more each time; "" for none
	Now       func() time.Time
	Log       *slog.Logger
	// All also takes files below the roots that no format knows.
	All bool
	// Pruned also takes what was pruned and is still at its source: it is archived again.
	Pruned bool
	// DryRun looks and counts, and writes nothing.
	DryRun bool
	// Adopted says that Adopt has just been called and found no fault: Run does not look again.
	Adopted bool
	// Damaged are packs that are not as they were written: content that they have counts as nowhere, and is stored again.
	Damaged []string
	// Build begins an index beside the present one. A first load of BuildFrom bytes and more fills that, and the present one stays
	// as it was until the load is in. It may be nil.
	Build     func(ctx context.Context) (*Building, error)
	BuildFrom int64
	// Progress is told how far the work is, often and from several goroutines. It may be nil.
	Progress func(Progress)

	book     *price.Book // Prices and what facts add, once Adopt has read them
	building *Building
	missing  map[string]bool // packs that the index knew and that were not there, once Adopt has looked

	mu     sync.Mutex
	unread map[index.VersionKey]error // stored originals that could not be read: each is tried and told once
}

// Progress is how far an ingest is. Totals grow while a scan still looks.
type Progress struct {
	Stage             string // scan, store, index
	Path              string
	Files, TotalFiles int64
	Bytes, TotalBytes int64 // raw
}

// Root is a directory, or a single file, to scan.
type Root struct {
	Source string // name of the source
	Dir    string // real path of the source's root
	Below  string // path below Dir that is looked at, "." for all
	Listed bool   // it is one of those that a source is followed for: when it is gone, that is no news

	Exclude []string // the source's
}

// Report is what an ingest did.
type Report struct {
	Files       int64       `json:"files"`     // looked at
	Unchanged   int64       `json:"unchanged"` // known by their metadata, not read
	New         int64       `json:"new"`       // files that the archive had not seen
	Grown       int64       `json:"grown"`
	Rewritten   int64       `json:"rewritten"`
	Copies      int64       `json:"copies"`       // new files whose content was stored already
	Ignored     int64       `json:"ignored"`      // belong to nothing that is known, left alone
	LeftOut     int64       `json:"left_out"`     // credentials
	Excluded    int64       `json:"excluded"`     // files and directories that their source leaves out; what is in the latter is not counted
	NotFollowed []Link      `json:"not_followed"` // beside what formats own
	Pruned      int64       `json:"pruned"`       // read, and left out because they were pruned
	RawBytes    int64       `json:"raw_bytes"`    // read and stored
	StoredBytes int64       `json:"stored_bytes"` // in new packs
	Packs       int64       `json:"packs"`
	Adopted     int64       `json:"adopted"`    // packs that others, or a crash, had left
	Events      int64       `json:"events"`     // rows of the index that are new
	Problems    []FileError `json:"problems"`   // files that could not be taken, or only in part
	Missing     []string    `json:"missing"`    // sources whose root is not there
	Mended      int64       `json:"mended"`     // damaged packs, all of which were stored again
	Unreadable  int64       `json:"unparsable"` // lines or documents that no parser could read, in files read now
}

// count adds what a stretch of an original brings.
func (r *Report) count(p *index.Parsed) {
	r.Events += int64(len(p.Rows))
	r.Unreadable += int64(len(p.Problems)) + p.UnlistedProblems
}

// FileError is why a file was not taken, or not as a whole.
type FileError struct {
	Source string `json:"source"`
	Path   string `json:"path"`
	Stage  string `json:"stage"` // scan, open, read, store, parse
	Reason string `json:"reason"`
	Err    error  `json:"-"`
}

func (e FileError) Error() string {
	return fmt.Sprintf("%s %s/%s: %s", e.Stage, e.Source, e.Path, e.Reason)
}

func (e FileError) Unwrap() error { return e.Err }

// Run scans roots and brings in what is new. Bad files are in the report; the error is about the archive itself,
// or the context's.
func (g *Ingester) Run(ctx context.Context, roots []Root) (*Report, error) {
	report, err := g.run(ctx, roots)
	return report, errors.Join(err, g.endBuilding(err))
}

func (g *Ingester) run(ctx context.Context, roots []Root) (*Report, error) {
	g.prepare()
	report := &Report{Problems: []FileError{}, Missing: []string{}, NotFollowed: []Link{}}
	if !g.DryRun && !g.Adopted {
		n, err := g.Adopt(ctx)
		report.Adopted = int64(n)
		if errors.Is(err, blob.ErrCorrupt) { // costs what is in it, and nothing else
			report.Problems = append(report.Problems, FileError{Stage: "adopt", Reason: err.Error(), Err: err})
		} else if err != nil {
			return report, err
		}
	}
	for _, name := range sortedKeys(g.missing) {
		err := fmt.Errorf("pack %s is missing: %w", name, blob.ErrCorrupt)
		report.Problems = append(report.Problems, FileError{Stage: "adopt", Reason: err.Error(), Err: err})
	}
	around, err := g.around(ctx, roots)
	if err != nil {
		return report, err
	}
	for _, root := range roots {
		if err := g.source(ctx, root, around, report); err != nil {
			return report, err
		}
	}
	if g.DryRun {
		return report, nil
	}
	if err := g.parseWanted(ctx, report); err != nil {
		return report, err
	}
	if err := g.unreadError(); err != nil {
		report.Problems = append(report.Problems, FileError{Stage: "adopt", Reason: err.Error(), Err: err})
	}
	if report.Packs+report.Adopted == 0 {
		return report, nil
	}
	return report, g.Index.Tidy(ctx)
}

func (g *Ingester) prepare() {
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

// format returns the format of a name, nil where this program has none.
func (g *Ingester) format(name string) format.Format {
	i := slices.IndexFunc(g.Formats, func(f format.Format) bool { return f.Name() == name })
	if i < 0 {
		return nil
	}
	return g.Formats[i]
}

// resolvers hands the index the resolver of a format.
func (g *Ingester) resolvers(name string) (r index.Resolver) {
	f := g.format(name)
	if resolver, ok := f.(format.Resolver); ok {
		r.Resolve = resolver.Resolve
	}
	_, r.Usage = f.(format.UsageResolver)
	return r
}

// parsers is the current version of every parser.
func (g *Ingester) parsers() map[string]int {
	all := map[string]int{}
	for _, f := range g.Formats {
		all[f.Name()] = f.Version()
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
