package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/disk"
)

// target is a directory into which files are restored.
type target struct {
	dir      string
	root     *disk.Root // nil for a dry run
	existing *os.Root   // the same directory, for looking at what is there; nil if there is none
}

// target opens the directory for the files of a source; "" is To, for all sources.
func (r *restorer) target(source string) (*target, error) {
	if t := r.targets[source]; t != nil {
		return t, nil
	}
	dir := r.opts.To
	if source != "" {
		dir = r.opts.Roots[source]
	}
	if dir == "" {
		return nil, errors.New("no target directory given")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	inside, err := disk.IsInside(dir, r.archive.dir)
	if err != nil {
		return nil, err
	}
	if inside {
		return nil, fmt.Errorf("%s: %w", dir, ErrInside)
	}
	t := &target{dir: dir}
	r.targets[source] = t
	if !r.opts.DryRun {
		if t.root, err = r.archive.opts.FS.OpenRoot(dir); err != nil {
			return nil, err
		}
	}
	if info, bad := os.Stat(dir); bad == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	t.existing, err = os.OpenRoot(dir)
	if r.opts.DryRun && errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	return t, err
}

func (r *restorer) close() error {
	var errs []error
	for _, t := range r.targets {
		if t.root != nil {
			errs = append(errs, t.root.Close())
		}
		if t.existing != nil {
			errs = append(errs, t.existing.Close())
		}
	}
	return errors.Join(errs...)
}

// job returns the job for an original: its directory and its name there. Older versions are placed beside the newest.
func (r *restorer) job(o original) (j job, err error) {
	j = job{original: o, name: safeName(o.Source, o.Path)}
	if r.opts.AllVersions && !o.newest {
		j.name = suffixed(j.name, fmt.Sprintf("@v%d", o.Number))
	}
	if o.other {
		j.name = suffixed(safeName(o.Source, o.Path), fmt.Sprintf("@v%d-%s", o.Number, o.SHA256.Short()))
	}
	if len(o.lost) > 0 {
		j.name = suffixed(j.name, DamagedSuffix)
	}
	if r.opts.Roots == nil {
		j.to, err = r.target("")
		return j, err
	}
	_, j.name, _ = strings.Cut(j.name, "/") // the source is one part
	if r.opts.Apart != nil && r.opts.Apart(o.Version) {
		return j, errors.New("it is part of a database or a zip, not a file of its own: it can only be restored to another directory")
	}
	j.to, err = r.target(o.Source)
	return j, err
}

// What exists at a name.
const (
	absent = iota
	same
	different
	directory
)

// compare compares an original with what exists at its name.
func (j *job) compare(ctx context.Context) (int, error) {
	if j.to.existing == nil {
		return absent, nil
	}
	local := filepath.FromSlash(j.name)
	info, err := j.to.existing.Lstat(local)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return absent, nil // if the name cannot be used, creating the file will report it
	}
	if err != nil {
		return absent, err
	}
	if info.IsDir() {
		return directory, nil
	}
	if !info.Mode().IsRegular() || info.Size() != j.Size {
		return different, nil
	}
	f, err := j.to.existing.Open(local)
	if err != nil {
		return absent, err
	}
	_, err = io.Copy(io.Discard, newVerifyingReader(contextReader{ctx, f}, j.Version))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, blob.ErrCorrupt) {
		return different, nil
	}
	return same, err
}
