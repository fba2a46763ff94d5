package prune

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

const packExt = ".tar.gz"

// Files looks through every file below the archive's directory byte by byte, foreign ones too: packs as they inflate, all
// others as they are. It knows nothing of what they mean, and so proves what Search and Apply believe.
func (f *Forget) Files(ctx context.Context, dir string) (found []Match, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // of a writer, or of SQLite
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		n := int64(len(f.Pattern.find([]byte(rel))))
		if d.Type().IsRegular() {
			more, err := f.file(ctx, path, rel)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("search %s: %w", f.Pattern.Masked(rel), err)
			}
			n += more
		}
		if n > 0 {
			found = append(found, Match{Where: InFile, File: f.Pattern.Masked(rel), Count: n, Action: Drop})
		}
		return nil
	})
	return found, err
}

func (f *Forget) file(ctx context.Context, path, rel string) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var r io.Reader = file
	name, ok := strings.CutPrefix(rel, "packs/")
	if !ok {
		name, ok = strings.CutPrefix(rel, "quarantine/") // where a repair keeps the packs that were damaged
	}
	if ok && strings.HasSuffix(name, packExt) && blob.ValidName(strings.TrimSuffix(name, packExt)) {
		info, err := file.Stat()
		if err != nil {
			return 0, err
		}
		pr, pw := io.Pipe()
		defer pr.Close()
		go func() {
			err := pack.Inflate(ctx, strings.TrimSuffix(name, packExt), &openFile{file, info.Size()}, pw)
			if errors.Is(err, blob.ErrCorrupt) {
				err = nil // nobody can read what is damaged; verify names it
			}
			pw.CloseWithError(err)
		}()
		r = pr
	}
	places, err := f.Pattern.scan(r)
	return int64(len(places)), err
}

type openFile struct {
	*os.File
	size int64
}

func (f *openFile) Size() int64 { return f.size }
