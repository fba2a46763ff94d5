package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// scratchPrefix is the prefix of the names of directories that Scratch makes. scratchLock is the file in each of them that its
// process holds locked.
const (
	scratchPrefix = "txarchive-"
	scratchLock   = "scratch.lock"
)

// scratchAge is how old a directory must be before another process may regard it as left behind: by then its owner has locked it.
const scratchAge = time.Minute

var sweepOnce sync.Once // per process, which may make many scratch directories

// Scratch makes a directory in the system's temporary directory (TMPDIR) that only this user may read, for data that the process
// does not need after it ends, such as the copy of a database, which is as private as the database. remove deletes it. If the
// process is killed before that, the next process that calls Scratch deletes it.
func Scratch(kind string) (dir string, remove func() error, err error) {
	sweepOnce.Do(func() { sweep(os.TempDir(), time.Now().Add(-scratchAge)) })
	if dir, err = os.MkdirTemp("", scratchPrefix+kind+"-"); err != nil {
		return "", nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, scratchLock), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	_ = tryLock(lock) // if locks are not supported, no other process can lock the file either, and it stays
	return dir, func() error { return errors.Join(lock.Close(), os.RemoveAll(dir)) }, nil
}

// sweep removes from a directory what killed processes have left there. It ignores what it cannot read or remove, which may
// belong to another user.
func sweep(in string, before time.Time) {
	entries, err := os.ReadDir(in)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		if info, err := e.Info(); err != nil || info.ModTime().After(before) {
			continue
		}
		dir := filepath.Join(in, e.Name())
		lock, err := os.OpenFile(filepath.Join(dir, scratchLock), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		dead := tryLock(lock) == nil
		lock.Close()
		if dead {
			_ = os.RemoveAll(dir)
		}
	}
}
