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
)

// quarantineDir is the directory for damaged packs that a repair has replaced. Nothing reads them, and only DropQuarantined
// removes them.
const quarantineDir = "quarantine"

// QuarantineDir returns the directory of quarantined packs.
func (a *Archive) QuarantineDir() string { return filepath.Join(a.dir, quarantineDir) }

// Quarantine makes a hard link or a copy of a pack's file in the quarantine, which stays when the pack is removed. A file that
// is there already is not added twice.
func (a *Archive) Quarantine(ctx context.Context, name string) error {
	if a.mode != Write {
		return ErrReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	from := filepath.Join(a.dir, packsDir, filepath.FromSlash(name)) + local.Ext
	was, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	to := filepath.Join(a.QuarantineDir(), filepath.FromSlash(name))
	if err := a.opts.FS.MkdirAll(filepath.Dir(to)); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	for n := 1; ; n++ {
		path := to + local.Ext
		if n > 1 { // a pack of that name was quarantined before, with other damage
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
			err = a.copyToQuarantine(from, path) // a file system without hard links
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("quarantine: %w", err)
		}
		if err == nil {
			return nil
		}
	}
}

// DropQuarantined deletes a file from the quarantine. path is relative to the archive's directory.
func (a *Archive) DropQuarantined(path string) error {
	if a.mode != Write {
		return ErrReadOnly
	}
	file := filepath.Join(a.dir, filepath.FromSlash(path))
	if rel, err := filepath.Rel(a.QuarantineDir(), file); err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("remove %s: not in quarantine", path)
	}
	if err := a.opts.FS.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove from quarantine: %w", err)
	}
	return a.opts.FS.SyncDir(filepath.Dir(file))
}

func (a *Archive) copyToQuarantine(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := a.opts.FS.CreateTemp(filepath.Dir(to))
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Close(), a.opts.FS.Remove(out.Name()))
	}
	return a.opts.FS.Publish(out, to)
}

// sameBytes reports whether two files have the same content. It is false if one cannot be read.
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

// PacksIn returns the packs in another directory: an archive, a backup, or just a copy of packs/. It returns ErrNoArchive if there
// are none.
func PacksIn(dir string) (blob.Store, error) {
	for _, of := range []string{filepath.Join(dir, packsDir), dir} {
		months, err := filepath.Glob(filepath.Join(of, "[0-9][0-9][0-9][0-9]", "[0-9][0-9]"))
		if err == nil && len(months) > 0 {
			return local.New(nil, of), nil
		}
	}
	return nil, fmt.Errorf("packs in %s: %w", dir, ErrNoArchive)
}
