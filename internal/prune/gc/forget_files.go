package gc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

const (
	packExt    = ".tar.gz"
	quarantine = "quarantine/" // where a repair puts damaged packs
)

// Files searches every file below the archive's directory byte by byte, including foreign ones: packs are inflated,
// all others are read as they are. It does not interpret them, and thus proves what Search and Apply conclude. A
// damaged pack is read as far as possible and counted in Unread. What is the program's own is counted in Own instead.
func (f *Forget) Files(ctx context.Context, dir string) (found []Match, err error) {
	f.own = nil
	if found, err = f.files(ctx, dir); err != nil || len(found) == 0 {
		return found, err
	}
	if err := f.readOwn(ctx); err != nil || f.own == nil {
		return found, err
	}
	return f.files(ctx, dir)
}

func (f *Forget) files(ctx context.Context, dir string) (found []Match, err error) {
	f.Unread, f.Own = 0, 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file of a writer or of SQLite
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		n := f.searchPath(rel)
		if d.Type().IsRegular() {
			more, err := f.file(ctx, path, rel)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("search %s: %w", f.Pattern.masked(rel), err)
			}
			n += more
		}
		if n > 0 {
			found = append(found, Match{Where: InFile, File: f.Pattern.masked(rel), Count: n, Action: Drop})
		}
		return nil
	})
	return found, err
}

// Discard removes quarantined packs that contain a match, unless it is the program's own: the repair has saved everything usable in them, and
// nothing reads them. It calls remove with their paths below dir.
func (f *Forget) Discard(ctx context.Context, dir string, remove func(path string) error) (n int64, err error) {
	f.own = nil
	err = filepath.WalkDir(filepath.Join(dir, quarantine), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		held, err := f.file(ctx, path, rel)
		if err == nil && held > 0 && f.own == nil {
			if err = f.readOwn(ctx); err == nil && f.own != nil {
				held, err = f.file(ctx, path, rel)
			}
		}
		if err != nil || held+f.searchPath(rel) == 0 {
			return err
		}
		n++
		return remove(rel)
	})
	if err != nil {
		return n, fmt.Errorf("search quarantine: %w", err)
	}
	return n, nil
}

// packOf returns the name of the pack in a file. A pack that was repaired twice has a numeric suffix in quarantine.
func packOf(rel string) (name string, ok bool) {
	name, packed := strings.CutSuffix(rel, packExt)
	if name, ok = strings.CutPrefix(name, "packs/"); !ok {
		if name, ok = strings.CutPrefix(name, quarantine); ok && !blob.ValidName(name) {
			name = name[:max(0, strings.LastIndexByte(name, '-'))]
		}
	}
	return name, ok && packed && blob.ValidName(name)
}

// isIndex reports whether a file is one of SQLite's.
func isIndex(rel string) bool { return strings.HasPrefix(rel, "index") && !strings.Contains(rel, "/") }

// file counts the matches in a file.
func (f *Forget) file(ctx context.Context, path, rel string) (n int64, err error) {
	err = f.read(ctx, path, rel, func(r io.Reader) error {
		places, err := f.Pattern.scanBut(r, f.isOwn)
		n = int64(len(places))
		return err
	})
	return n, err
}

// read reads a file as Files does.
func (f *Forget) read(ctx context.Context, path, rel string, do func(io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	if f.Hold != nil && isIndex(rel) {
		f.Hold(file)
	} else {
		defer file.Close()
	}
	var r io.Reader = file
	damaged := false
	if name, ok := packOf(rel); ok {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		pr, pw := io.Pipe()
		defer pr.Close()
		go func() {
			err := pack.Inflate(ctx, name, &openFile{file, info.Size()}, pw)
			if damaged = errors.Is(err, blob.ErrCorrupt); damaged {
				err = nil // verify reports it
			}
			pw.CloseWithError(err)
		}()
		r = pr
	}
	err = do(r)
	if err == nil && damaged { // the goroutine that sets damaged has finished
		f.Unread++
	}
	return err
}

type openFile struct {
	*os.File
	size int64
}

func (f *openFile) Size() int64 { return f.size }
