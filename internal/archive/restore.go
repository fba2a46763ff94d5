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

// RestoreOptions say what is restored, and where to. Source, Runs and Paths are combined: an original must match all of them.
type RestoreOptions struct {
	To string // directory; it is made if it does not exist
	// Roots, if not nil, is used instead of To: it maps each source to the directory for its files, without the source's
	// name, so that they are restored where they came from. Files of sources that it does not name fail.
	Roots map[string]string
	// Apart reports whether an original was never a file (rows of a database). Such originals fail if Roots is set.
	Apart func(blob.Version) bool
	// At asks for the state that was archived by that time: of each file the newest version in packs written until then,
	// as far as they have it. Zero is now.
	At     time.Time
	Source string
	Runs   []string // public ids; the originals of any of them; needs the index
	// Paths are files or directories, as in the source or with the source's name before them.
	Paths []string
	All   bool // required if nothing else restricts the restore
	// Version is the number of the version to restore of each file; 0 is the newest.
	Version int
	// AllVersions adds older versions, as <path>@v<number>.
	AllVersions bool
	DryRun      bool
	Overwrite   bool // replace existing files that differ
	// Damaged restores what is left of originals that have lost bytes, with zeros in place of the lost bytes, under their
	// name with DamagedSuffix. Each is reported as damaged, and the error is blob.ErrLost.
	Damaged bool
}

// The results of restoring one original.
const (
	ActionRestored  = "restored"
	ActionPlanned   = "planned"   // would be restored (dry run)
	ActionUnchanged = "unchanged" // the file exists with the same content
	ActionRefused   = "refused"   // another file has the name
	ActionFailed    = "failed"
	ActionRemoved   = "removed" // from the archive since the restore began: a prune and a gc ran meanwhile
	ActionDamaged   = "damaged" // what is left of it was restored, or would be
)

// Restored is the result of restoring one version of one original.
type Restored struct {
	Source  string
	Path    string
	Version int
	Size    int64
	Name    string // relative to the target directory, slash-separated
	Action  string
	Err     error       // for refused, failed and damaged
	Lost    []blob.Loss // for damaged: ordered by offset
}

// ErrInside says that a restore would write into the archive itself.
var ErrInside = errors.New("directory is inside the archive")

// ErrDirectory says that a directory is where a file would be restored. No restore replaces it.
var ErrDirectory = fmt.Errorf("a directory is in its place: %w", fs.ErrExist)

// errChoice says that RestoreOptions do not say what to restore.
var errChoice = errors.New("nothing selected: choose all, a source, a run or paths")

// Restore writes originals as <to>/<source>/<path>, exact to the byte, with mtime and permissions, and nothing outside of
// To. Names that would lead elsewhere are escaped (%2E%2E for ".."). A file gets its name only after its SHA-256 has been
// verified. One bad file never stops the others: report is called for each, one at a time and in no particular order, and the
// error summarises them. A full disk stops the restore.
//
// Errors: index.ErrNotFound if no original matches, or none matches one of the paths; blob.ErrCorrupt if bytes are damaged;
// fs.ErrExist if files were refused because others have their names (ErrDirectory: directories), and nothing else failed; ErrInside.
func (a *Archive) Restore(ctx context.Context, o RestoreOptions, report func(Restored)) error {
	if !o.All && o.Source == "" && len(o.Runs) == 0 && len(o.Paths) == 0 {
		return errChoice
	}
	r := &restorer{archive: a, opts: o, targets: map[string]*target{}, report: report, names: newNameSet(), matched: make([]bool, len(o.Paths))}
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

// restorer is the state of one Restore.
type restorer struct {
	archive *Archive
	opts    RestoreOptions
	targets map[string]*target // by source; "" is To
	names   *nameSet
	retry   map[string]Restored // what this pass restores, by name, if it is not the first
	matched []bool              // which of opts.Paths match any original

	stop    context.CancelCauseFunc
	mu      sync.Mutex
	report  func(Restored)
	moved   map[string]Restored // failed in this pass, by name: their packs were there when they were listed
	total   int
	failed  int
	refused int
	first   error // first error of the worst kind so far
}

// original is a version to restore, and how to read it.
type original struct {
	blob.Version
	newest bool
	other  bool        // a state of a version that contradicts the present one, or another original of its name and number
	lost   []blob.Loss // only with RestoreOptions.Damaged
	// place is where the version begins; dispatch sorts by it, to read what is stored together. If Pack is "", Raw is the id of
	// the chain instead, because the index assigned ids nearly in the order of packs.
	place blob.Copy
	part  func(ctx context.Context, from, to int64) io.Reader
	// again looks the version up once more: the index may have changed since, when a forget or gc runs meanwhile. changed reports
	// whether it did; the error is index.ErrNotFound if the version is gone. nil: it cannot change.
	again func(ctx context.Context) (now original, changed bool, err error)
}

// read returns a reader of the whole original, which verifies its SHA-256 at the end.
func (o *original) read(ctx context.Context) io.Reader {
	return newVerifyingReader(o.part(ctx, 0, o.Size), o.Version)
}

// job is an original and the file that it is restored to.
type job struct {
	original
	to   *target
	name string // relative to it
}

// maxPasses is how often originals are listed from packs: gc may rewrite the packs between the listing and the reading.
const maxPasses = 3

// run restores the originals. The index says where bytes are now; of what was listed from packs, that which gc has moved since is listed anew.
func (r *restorer) run(ctx context.Context) error {
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	err := r.pass(ctx)
	for n := 1; n < maxPasses && err == nil && ctx.Err() == nil && len(r.moved) > 0; n++ {
		r.retry, r.moved = r.moved, nil
		err = r.pass(ctx)
		for _, d := range r.retry { // not listed any more
			if err == nil {
				d.Action, d.Err = ActionRemoved, nil
			}
			r.record(d)
		}
	}
	for _, d := range r.moved {
		r.record(d)
	}
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
		if !r.matched[i] {
			return fmt.Errorf("no such original: %q: %w", p, index.ErrNotFound)
		}
	}
	return nil
}

// pass lists the originals and restores them with several workers.
func (r *restorer) pass(ctx context.Context) error {
	jobs := make(chan job)
	var workers sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for j := range jobs {
				if d := r.restore(ctx, j); j.again == nil && errors.Is(d.Err, blob.ErrNotFound) {
					r.postpone(&j, d)
				} else {
					r.record(d)
				}
			}
		})
	}
	err := r.dispatch(ctx, jobs)
	close(jobs)
	workers.Wait()
	return err
}

// postpone keeps the result of an original whose pack is not there any more.
func (r *restorer) postpone(j *job, d Restored) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.moved == nil {
		r.moved = map[string]Restored{}
	}
	r.moved[j.fullName()] = d
}

// dispatchBatch is how many originals dispatch collects before it sorts them.
const dispatchBatch = 1 << 15

// dispatch sends the originals to the workers, sorted within large batches by their place in the packs. In the order of names, a
// member of many small originals would be inflated once for each of them.
func (r *restorer) dispatch(ctx context.Context, jobs chan<- job) error {
	var batch []job
	flush := func() error {
		slices.SortStableFunc(batch, func(a, b job) int { return a.place.Compare(b.place) })
		for _, j := range batch {
			select {
			case jobs <- j:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		clear(batch)
		batch = batch[:0]
		return nil
	}
	for o, err := range r.archive.originals(ctx, r.opts) {
		if err != nil { // the originals before it can still be restored
			return errors.Join(err, flush())
		}
		if !underAny(r.opts.Paths, r.matched, o.Source, o.Path) {
			continue
		}
		j, err := r.job(o)
		if err != nil {
			if r.retry == nil {
				r.record(j.outcome(ActionFailed, err))
			}
			continue
		}
		if r.retry != nil {
			if _, wanted := r.retry[j.fullName()]; !wanted {
				continue
			}
			delete(r.retry, j.fullName())
		} else if !r.names.claim(j.fullName()) {
			r.record(j.outcome(ActionFailed, fmt.Errorf("%s: another original of this restore has the same name", j.name)))
			continue
		}
		if batch = append(batch, j); len(batch) < dispatchBatch {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return flush()
}

func (j *job) fullName() string { return j.to.dir + "/" + j.name }

func (j *job) outcome(action string, err error) Restored {
	return Restored{Source: j.Source, Path: j.Path, Version: j.Number, Size: j.Size, Name: j.name, Action: action, Err: err}
}

// record counts and reports one result.
func (r *restorer) record(d Restored) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	switch d.Action {
	case ActionRemoved:
		r.total-- // as if it had never been there
	case ActionFailed, ActionDamaged:
		r.failed++
	case ActionRefused:
		r.refused++
	}
	if d.Err != nil && (r.first == nil || worse(d.Err, r.first)) {
		r.first = d.Err
	}
	if errors.Is(d.Err, syscall.ENOSPC) || errors.Is(d.Err, syscall.EDQUOT) {
		r.stop(d.Err)
	}
	if r.report != nil {
		r.report(d)
	}
}

// worse reports whether err is more serious than other: damage before failures before refusals.
func worse(err, other error) bool {
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

// restore restores one original. If it cannot be read as it was listed, and the index says meanwhile that it is another or gone,
// because another process has redacted or removed it, that is what counts.
func (r *restorer) restore(ctx context.Context, j job) Restored {
	if len(j.lost) > 0 {
		return r.restoreDamaged(ctx, j)
	}
	d := r.restoreWhole(ctx, j)
	if j.again == nil || !errors.Is(d.Err, blob.ErrCorrupt) && !errors.Is(d.Err, blob.ErrNotFound) && !errors.Is(d.Err, index.ErrNotFound) {
		return d
	}
	now, changed, err := j.again(ctx)
	switch {
	case errors.Is(err, index.ErrNotFound):
		return j.outcome(ActionRemoved, nil)
	case err != nil:
		return j.outcome(ActionFailed, err)
	case !changed:
		return d
	}
	j.original = now
	return r.restoreWhole(ctx, j)
}

func (r *restorer) restoreWhole(ctx context.Context, j job) Restored {
	state, err := j.compare(ctx)
	switch {
	case err != nil:
		return j.outcome(ActionFailed, err)
	case state == same:
		return j.outcome(ActionUnchanged, nil)
	case state == directory:
		return j.outcome(ActionRefused, &fs.PathError{Op: "restore", Path: j.name, Err: ErrDirectory})
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

// contextReader is a reader that fails once its context is done.
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
