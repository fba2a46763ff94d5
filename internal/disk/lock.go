package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Holder says who holds a lock. It is written into the lock file for people and for LockedError.
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

// LockedError says that somebody else holds the lock.
type LockedError struct {
	Path   string
	Holder string
}

func (e *LockedError) Error() string { return fmt.Sprintf("%s is locked by %s", e.Path, e.Holder) }

// errHeld is what tryLock returns when another open file has the lock.
var errHeld = errors.New("held")

// Lock is held until Release, or until its process dies.
type Lock struct{ f *os.File }

// Lock takes the lock at path without waiting: *LockedError when it is held, also by this process. The file is
// made where it lacks and never deleted, else two processes could hold locks on two files of one name.
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

// readHolder reads what the holder wrote. It may be read while it is being written: then nobody is named.
func readHolder(file *os.File) Holder {
	var holder Holder
	line, err := io.ReadAll(io.NewSectionReader(file, 0, 4096))
	if err != nil || json.Unmarshal(line, &holder) != nil {
		return Holder{}
	}
	return holder
}

// Release gives the lock back. The file stays. To close it is not enough: a child that is about to be started has it open, too.
func (l *Lock) Release() error { return errors.Join(unlock(l.f), l.f.Close()) }
