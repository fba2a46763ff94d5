package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
)

// RestoreOptions say what is restored, and where to. Source, Runs and Paths narrow each other.
type RestoreOptions struct {
	To string // directory; it is made where it lacks
	// Roots puts the files of each source below a directory of its own, without the source's name, in place of To:
	// where they came from. Files of sources that it does not name fail.
	Roots map[string]string
	// Apart names originals that were never files (rows of a database): they fail where Roots says where to.
	Apart func(blob.Version) bool
	// At asks for the state that was archived at that time: of each file the newest version that packs of until then
	// have, as far as they have it. Zero is now.
	At     time.Time
	Source string
	Runs   []string // public ids: what any of them holds; needs the index
	// Paths are files or directories, as in the source or with the source's name before them.
	Paths []string
	All   bool // needed when nothing else narrows
	// Version is the number of the version that is wanted of each file, 0 the newest.
	Version int
	// AllVersions adds older versions, as <path>@v<number>.
	AllVersions bool
	DryRun      bool
	Overwrite   bool // replace files that are there and differ
	// Damaged writes of originals that have lost bytes what is left, with zeros in place of what is not, under the name
	// that they have otherwise and DamagedSuffix. Each is reported as damaged, and the error is blob.ErrLost.
	Damaged bool
}

// What became of an original.
const (
	ActionRestored  = "restored"
	ActionPlanned   = "planned"   // would be restored
	ActionUnchanged = "unchanged" // stands there already, byte for byte
	ActionRefused   = "refused"   // another file stands there
	ActionFailed    = "failed"
	ActionDamaged   = "damaged" // what is left of it was restored, or would be
)

// Restored is what became of one version of one original.
type Restored struct {
	Source  string
	Path    string
	Version int
	Size    int64
	Name    string // below the target directory, slash-separated
	Action  string
	Err     error       // for refused, failed and damaged
	Lost    []blob.Loss // for damaged: in the order of their bytes
}

// ErrInside is a restore into the archive itself.
var ErrInside = errors.New("it lies in the archive")

// errChoice is a restore that does not say of what.
var errChoice = errors.New("say what to restore: all, a source, a run or paths")

// Restore writes originals as <to>/<source>/<path>, byte for byte, with mtime and permissions, and nothing outside of
// To. Names that would lead elsewhere are escaped (%2E%2E for ".."). A file gets its name only when its SHA-256 was
// right. One bad file never stops the others: each is reported, one at a time and in no order, and the error sums up. A full
// disk stops all.
//
// Errors: index.ErrNotFound when nothing is meant, or nothing by one of the paths, blob.ErrCorrupt when bytes are damaged, fs.ErrExist when only
// other files stood in the way, ErrInside.
func (a *Archive) Restore(ctx context.Context, o RestoreOptions, report func(Restored)) error {
	if !o.All && o.Source == "" && len(o.Runs) == 0 && len(o.Paths) == 0 {
		return errChoice
	}
	r := &restorer{archive: a, opts: o, targets: map[string]*target{}, report: report, names: newNames(), met: make([]bool, len(o.Paths))}
	if o.Roots == nil {
		if _, err := r.target(""); err != nil {
			return fmt.Errorf("restore: %w", err)
		}
	}
	err := r.run(ctx)
	if cerr := r.close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// restorer is one Restore.
type restorer struct {
	archive *Archive
	opts    RestoreOptions
	targets map[string]*target // by source; "" is To
	names   *names
	met     []bool // which of opts.Paths mean any original

	stop    context.CancelCauseFunc
	mu      sync.Mutex
	report  func(Restored)
	total   int
	failed  int
	refused int
	first   error // of the worst kind so far
}

// original is a version to restore, and how to read it.
type original struct {
	blob.Version
	newest bool
	lost   []blob.Loss // of a restore that wants what is left
	// place is where it begins, as far as it is worth to read those that are near together: without a pack Raw is its chain, for the
	// index met them in the order of the packs, nearly.
	place blob.Copy
	part  func(ctx context.Context, from, to int64) io.Reader
}

// read gives all of an original. At its end it has proved to be what was archived.
func (o *original) read(ctx context.Context) io.Reader {
	return verifying(o.part(ctx, 0, o.Size), o.Version)
}

// job is an original with the name that it gets.
type job struct {
	original
	to   *target
	name string // below it
}

// run hands the originals to a few workers.
func (r *restorer) run(ctx context.Context) error {
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	jobs := make(chan job)
	var workers sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for j := range jobs {
				r.done(r.restore(ctx, j))
			}
		})
	}
	err := r.choose(ctx, jobs)
	close(jobs)
	workers.Wait()
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.total == 0:
		return fmt.Errorf("no such original: %w", index.ErrNotFound)
	case r.first != nil:
		return fmt.Errorf("%d of %d files failed, %d refused: %w", r.failed, r.total, r.refused, r.first)
	}
	for i, p := range r.opts.Paths {
		if !r.met[i] {
			return fmt.Errorf("no such original: %q: %w", p, index.ErrNotFound)
		}
	}
	return nil
}

// gathered is how many originals are known before the first of them is read.
const gathered = 1 << 15

// choose hands out the originals, many at a time in the order in which packs hold them: in that of their names, a member of small ones
// would be inflated for each of them.
func (r *restorer) choose(ctx context.Context, jobs chan<- job) error {
	var some []job
	hand := func() error {
		slices.SortStableFunc(some, func(a, b job) int { return a.place.Compare(b.place) })
		for _, j := range some {
			select {
			case jobs <- j:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		clear(some)
		some = some[:0]
		return nil
	}
	for o, err := range r.archive.originals(ctx, r.opts) {
		if err != nil { // what comes before it can be restored
			return errors.Join(err, hand())
		}
		if !underAny(r.opts.Paths, r.met, o.Source, o.Path) {
			continue
		}
		j, err := r.job(o)
		if err != nil {
			r.done(j.outcome(ActionFailed, err))
			continue
		}
		if !r.names.claim(j.to.dir + "/" + j.name) {
			r.done(j.outcome(ActionFailed, fmt.Errorf("%s: another original of this restore has the name", j.name)))
			continue
		}
		if some = append(some, j); len(some) < gathered {
			continue
		}
		if err := hand(); err != nil {
			return err
		}
	}
	return hand()
}

func (j *job) outcome(action string, err error) Restored {
	return Restored{Source: j.Source, Path: j.Path, Version: j.Number, Size: j.Size, Name: j.name, Action: action, Err: err}
}

// done counts and reports.
func (r *restorer) done(d Restored) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	switch d.Action {
	case ActionFailed, ActionDamaged:
		r.failed++
	case ActionRefused:
		r.refused++
	}
	if d.Err != nil && (r.first == nil || graver(d.Err, r.first)) {
		r.first = d.Err
	}
	if errors.Is(d.Err, syscall.ENOSPC) || errors.Is(d.Err, syscall.EDQUOT) {
		r.stop(d.Err)
	}
	if r.report != nil {
		r.report(d)
	}
}

// graver says whether err says more about the archive than other: damage before failures before refusals.
func graver(err, other error) bool {
	rank := func(err error) int {
		switch {
		case errors.Is(err, blob.ErrCorrupt), errors.Is(err, blob.ErrNotFound):
			return 2
		case errors.Is(err, fs.ErrExist):
			return 0
		}
		return 1
	}
	return rank(err) > rank(other)
}

// restore writes one original.
func (r *restorer) restore(ctx context.Context, j job) Restored {
	if len(j.lost) > 0 {
		return r.remains(ctx, j)
	}
	state, err := j.compare(ctx)
	switch {
	case err != nil:
		return j.outcome(ActionFailed, err)
	case state == same:
		return j.outcome(ActionUnchanged, nil)
	case state == different && !r.opts.Overwrite:
		return j.outcome(ActionRefused, &fs.PathError{Op: "restore", Path: j.name, Err: fs.ErrExist})
	case r.opts.DryRun:
		return j.outcome(ActionPlanned, nil)
	}
	attr := disk.Attributes{Mode: fs.FileMode(j.Mode), ModTime: j.ModTime, Overwrite: r.opts.Overwrite}
	err = j.to.root.Create(j.name, attr, func(w io.Writer) error {
		_, err := io.Copy(w, j.read(ctx))
		return err
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return j.outcome(ActionRefused, err)
	case err != nil:
		return j.outcome(ActionFailed, err)
	}
	return j.outcome(ActionRestored, nil)
}

// contextReader stops when its context does.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
