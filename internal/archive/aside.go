package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/local"
	"github.com/txarchive/txarchive/internal/disk"
)

// asideDir is where packs stay that a repair has replaced: nothing reads them, and only DropAside removes them.
const asideDir = "quarantine"

// Aside is the directory with the packs that were kept aside.
func (a *Archive) Aside() string { return filepath.Join(a.dir, asideDir) }

// KeepAside keeps the file of a pack in the archive's quarantine, also when it leaves the packs. A file that is there
// already is not kept twice.
func (a *Archive) KeepAside(ctx context.Context, name string) error {
	if a.mode != Write {
		return ErrReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	from := filepath.Join(a.dir, packsDir, filepath.FromSlash(name)) + local.Ext
	was, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("keep aside: %w", err)
	}
	to := filepath.Join(a.Aside(), filepath.FromSlash(name))
	if err := a.opts.FS.MkdirAll(filepath.Dir(to)); err != nil {
		return fmt.Errorf("keep aside: %w", err)
	}
	for n := 1; ; n++ {
		path := to + local.Ext
		if n > 1 { // it was repaired before, and came back damaged otherwise
			path = to + "-" + strconv.Itoa(n) + local.Ext
		}
		if have, err := os.Stat(path); err == nil && (os.SameFile(have, was) || sameBytes(path, from)) {
			return a.opts.FS.SyncDir(filepath.Dir(path))
		}
		err := a.opts.FS.LinkNew(from, path)
		switch {
		case err == nil:
			return a.opts.FS.SyncDir(filepath.Dir(path))
		case errors.Is(err, fs.ErrExist):
			continue
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrPermission):
			err = a.copyAside(from, path) // a file system without hard links
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("keep aside: %w", err)
		}
		if err == nil {
			return nil
		}
	}
}

// DropAside removes a file from quarantine, for good. The path is below the archive's directory.
func (a *Archive) DropAside(path string) error {
	if a.mode != Write {
		return ErrReadOnly
	}
	file := filepath.Join(a.dir, filepath.FromSlash(path))
	if rel, err := filepath.Rel(a.Aside(), file); err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("drop %s: not in quarantine", path)
	}
	if err := a.opts.FS.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop from quarantine: %w", err)
	}
	return a.opts.FS.SyncDir(filepath.Dir(file))
}

func (a *Archive) copyAside(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := a.opts.FS.CreateTemp(filepath.Dir(to), disk.TempPrefix+"*")
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Close(), a.opts.FS.Remove(out.Name()))
	}
	return a.opts.FS.Publish(out, to)
}

// sameBytes says whether two files have the same content; no when one cannot be read.
func sameBytes(a, b string) bool {
	x, err := os.Open(a)
	if err != nil {
		return false
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false
	}
	defer y.Close()
	var p, q [32 << 10]byte
	for {
		n, errX := io.ReadFull(x, p[:])
		m, errY := io.ReadFull(y, q[:])
		if string(p[:n]) != string(q[:m]) {
			return false
		}
		if errX != nil || errY != nil {
			ended := func(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
			return ended(errX) && ended(errY)
		}
	}
}

// PacksIn is the packs of another directory: of an archive or a backup, or a copy of packs/ alone. ErrNoArchive when it has none.
func PacksIn(dir string) (blob.Store, error) {
	for _, of := range []string{filepath.Join(dir, packsDir), dir} {
		months, err := filepath.Glob(filepath.Join(of, "[0-9][0-9][0-9][0-9]", "[0-9][0-9]"))
		if err == nil && len(months) > 0 {
			return local.New(nil, of), nil
		}
	}
	return nil, fmt.Errorf("packs in %s: %w", dir, ErrNoArchive)
}
