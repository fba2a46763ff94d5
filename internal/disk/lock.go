package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Holder describes who holds a lock. It is written to the lock file, for people and for LockedError.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Command string    `json:"command"`
	Since   time.Time `json:"since"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s (%s) since %s", h.PID, h.Host, h.Command, h.Since.UTC().Format(time.RFC3339))
}

// LockedError says that another process, or another part of this one, holds the lock.
type LockedError struct {
	Path   string
	Holder string
}

func (e *LockedError) Error() string { return fmt.Sprintf("%s is locked by %s", e.Path, e.Holder) }

// errHeld is returned by tryLock if another open file has the lock.
var errHeld = errors.New("held")

// Lock is held until Release, or until its process dies.
type Lock struct{ f *os.File }

// Lock takes the lock at path without waiting. It returns *LockedError if the lock is held, even by this process. The file is
// created if it does not exist and never deleted, because two processes could then lock two files of the same name.
func (f *FS) Lock(path string, holder Holder) (*Lock, error) {
	if err := f.fault(OpCreate, path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := tryLock(file); err != nil {
		if errors.Is(err, errHeld) {
			err = &LockedError{Path: path, Holder: readHolder(file).String()}
		} else {
			err = fmt.Errorf("lock %s: %w", path, err)
		}
		return nil, errors.Join(err, file.Close())
	}
	if err := f.writeHolder(file, holder); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return &Lock{f: file}, nil
}

func (f *FS) writeHolder(file *os.File, holder Holder) error {
	line, err := json.Marshal(holder)
	if err != nil {
		return err
	}
	if err := f.fault(OpTruncate, file.Name()); err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	if err := f.fault(OpWrite, file.Name()); err != nil {
		return err
	}
	_, err = file.WriteAt(append(line, '\n'), 0)
	return err
}

// readHolder reads what the holder wrote. It returns an empty Holder if that is just being written.
func readHolder(file *os.File) Holder {
	var holder Holder
	line, err := io.ReadAll(io.NewSectionReader(file, 0, 4096))
	if err != nil || json.Unmarshal(line, &holder) != nil {
		return Holder{}
	}
	return holder
}

// Release releases the lock. The file stays. Closing it would not be enough, because a child process that is about to be
// started may have it open too.
func (l *Lock) Release() error { return errors.Join(unlock(l.f), l.f.Close()) }
