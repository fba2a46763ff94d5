package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// scratchPrefix begins the names of directories that Scratch makes, and scratchLock is the file in each that its process has locked.
const (
	scratchPrefix = "txarchive-"
	scratchLock   = "scratch.lock"
)

// scratchAge is how old a directory is before somebody else may take it for left behind: its process has locked it by then.
const scratchAge = time.Minute

var swept sync.Once // by this process: it may make many

// Scratch makes a directory in the system's temporary one (TMPDIR) that only this user may read, for what may be gone with its process:
// the copy of a database, say, which is as private as the database. remove takes it away; where a process was killed before, the next
// one that makes any does.
func Scratch(kind string) (dir string, remove func() error, err error) {
	swept.Do(func() { sweep(os.TempDir(), time.Now().Add(-scratchAge)) })
	if dir, err = os.MkdirTemp("", scratchPrefix+kind+"-"); err != nil {
		return "", nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, scratchLock), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	_ = tryLock(lock) // where nothing can be locked nobody else can lock it either, and it stays
	return dir, func() error { return errors.Join(lock.Close(), os.RemoveAll(dir)) }, nil
}

// sweep removes what processes that were killed have left in a directory. What cannot be looked at or removed is somebody else's.
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
