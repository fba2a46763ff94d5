package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// TempPrefix begins the names of files that are being written. What bears it and belongs to no writer is a
// leftover of a crash.
const TempPrefix = ".tmp-"

// Publish gives a file that is complete its name: fsync, close, rename, fsync of the new directory, which it
// makes where it lacks. It never overwrites: fs.ErrExist. On an error the file is removed under both names as far
// as the disk still lets it; it never stands under its name in part.
func (f *FS) Publish(file *File, path string) error {
	err := file.Sync()
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	dir := filepath.Dir(path)
	if err == nil {
		err = f.MkdirAll(dir)
	}
	if err == nil {
		err = f.RenameNew(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, f.Remove(file.Name()))
	}
	if err := f.SyncDir(dir); err != nil {
		// The name may or may not survive a crash. The caller will act as if it did not, so it should not.
		return errors.Join(err, f.Remove(path))
	}
	return nil
}

// WriteFile writes data to path, whole or not at all, in place of what is there, and makes it durable.
func (f *FS) WriteFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	file, err := f.CreateTemp(dir, TempPrefix+"*")
	if err != nil {
		if wrong, ok := errors.AsType[*fs.PathError](err); ok {
			wrong.Path = path // the temporary name says nothing to who asked for this one
		}
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = f.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, f.Remove(file.Name()))
	}
	return f.SyncDir(dir)
}

// Rename moves a file within a file system, over what is at newPath. It is durable after SyncDir.
func (f *FS) Rename(oldPath, newPath string) error {
	if err := f.fault(OpRename, newPath); err != nil {
		return err
	}
	return os.Rename(oldPath, newPath)
}

// RenameNew is Rename that never overwrites: fs.ErrExist.
func (f *FS) RenameNew(oldPath, newPath string) error {
	if err := f.fault(OpRename, newPath); err != nil {
		return err
	}
	if err := renameNew(oldPath, newPath); err != nil {
		return &os.LinkError{Op: OpRename, Old: oldPath, New: newPath, Err: err}
	}
	return nil
}

// LinkNew gives a file a second name on the same file system, durable after SyncDir. It never overwrites: fs.ErrExist.
// errors.ErrUnsupported where the file system has no such thing.
func (f *FS) LinkNew(oldPath, newPath string) error {
	if err := f.fault(OpLink, newPath); err != nil {
		return err
	}
	return os.Link(oldPath, newPath)
}

// ReplaceLink makes path a symbolic link to target, a name beside it, in one step in place of what is there, and durable. ReadLink reads it.
//
// Where a file system has no such links, and on Windows, where making them is a privilege, it is a file with the name in it, as
// Git checks one out there.
func (f *FS) ReplaceLink(target, path string) error {
	dir := filepath.Dir(path)
	// A free temporary name; the file itself only reserves it.
	file, err := f.CreateTemp(dir, TempPrefix+"*")
	if err != nil {
		return err
	}
	temp := file.Name()
	err = errors.Join(file.Close(), f.Remove(temp))
	if err == nil {
		err = f.symlink(target, temp, path)
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return f.WriteFile(path, []byte(target))
	}
	if err == nil {
		err = f.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return err
	}
	return f.SyncDir(dir)
}

func (f *FS) symlink(target, temp, path string) error {
	if err := f.fault(OpLink, path); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return errors.ErrUnsupported
	}
	return os.Symlink(target, temp)
}

// longestLink is how long a name in a file may be. No file of SQLite is as short, but for an empty one.
const longestLink = 255

// ReadLink returns the name that ReplaceLink wrote, "" where path is no link but a file of its own. fs.ErrNotExist where it is nothing.
func ReadLink(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return os.Readlink(path)
	}
	if !info.Mode().IsRegular() || info.Size() > longestLink {
		return "", nil
	}
	name, err := os.ReadFile(path)
	if err != nil || string(name) != filepath.Base(string(name)) {
		return "", err
	}
	return string(name), nil
}
