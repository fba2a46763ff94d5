package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/disk"
)

// errEnded is returned by an upload that was committed or aborted.
var errEnded = errors.New("the upload has ended")

// upload is a pack being written to a temporary file.
type upload struct {
	store *Store
	file  *disk.File // nil once it has ended
	err   error      // the first failed Write
}

func (u *upload) Write(p []byte) (int, error) {
	if u.file == nil {
		return 0, errEnded
	}
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.file.Write(p)
	u.err = err
	return n, err
}

func (u *upload) Commit(ctx context.Context, name string) error {
	if u.file == nil {
		return fmt.Errorf("commit pack %s: %w", name, errEnded)
	}
	path, err := u.store.path(name)
	if err == nil {
		err = u.err
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("commit pack %s: %w", name, err), u.Abort())
	}
	file := u.file
	u.file = nil
	if err := u.store.fs.Publish(file, path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%w: %w", blob.ErrExists, err)
		}
		return fmt.Errorf("commit pack %s: %w", name, err)
	}
	return nil
}

func (u *upload) Abort() error {
	if u.file == nil {
		return nil
	}
	file := u.file
	u.file = nil
	if err := errors.Join(file.Close(), u.store.fs.Remove(file.Name())); err != nil {
		return fmt.Errorf("abort pack: %w", err)
	}
	return nil
}
