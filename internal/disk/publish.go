package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// TempPrefix is the prefix of the names of files that are being written. A file with this prefix that belongs to no
// writer is a leftover of a crash.
const TempPrefix = ".tmp-"

// Publish gives a complete file its final name: fsync, close, rename, fsync of the new directory, which it
// makes if it does not exist. It never overwrites a file, but returns fs.ErrExist. After an error it removes the file under
// both names if it can; an incomplete file never has the final name.
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
		err = f.renameNew(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, f.Remove(file.Name()))
	}
	if err := f.SyncDir(dir); err != nil {
		// The name may or may not survive a crash. The caller will treat the file as not published, so remove it.
		return errors.Join(err, f.Remove(path))
	}
	return nil
}

// WriteFile atomically replaces the file at path with data, and makes it durable.
func (f *FS) WriteFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	file, err := f.CreateTemp(dir)
	if err != nil {
		if wrong, ok := errors.AsType[*fs.PathError](err); ok {
			wrong.Path = path // the temporary name means nothing to the caller
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

// Rename moves a file within a file system and replaces what is at newPath. It is durable after SyncDir.
func (f *FS) Rename(oldPath, newPath string) error {
	if err := f.fault(OpRename, newPath); err != nil {
		return err
	}
	return os.Rename(oldPath, newPath)
}

// renameNew is like Rename, but never overwrites a file: it returns fs.ErrExist.
func (f *FS) renameNew(oldPath, newPath string) error {
	if err := f.fault(OpRename, newPath); err != nil {
		return err
	}
	if err := renameNew(oldPath, newPath); err != nil {
		return &os.LinkError{Op: OpRename, Old: oldPath, New: newPath, Err: err}
	}
	return nil
}

// LinkNew makes a hard link to a file, durable after SyncDir. It never overwrites a file, but returns fs.ErrExist. It returns
// errors.ErrUnsupported if the file system has no hard links.
func (f *FS) LinkNew(oldPath, newPath string) error {
	if err := f.fault(OpLink, newPath); err != nil {
		return err
	}
	return os.Link(oldPath, newPath)
}

// ReplaceLink atomically makes path a symbolic link to target, a name in the same directory, and makes it durable. ReadLink
// reads it.
//
// If the file system has no symbolic links, and on Windows, where creating them requires a privilege, it writes a file that
// contains the name, as Git does there at checkout.
func (f *FS) ReplaceLink(target, path string) error {
	dir := filepath.Dir(path)
	// A free temporary name; the file itself only reserves it.
	file, err := f.CreateTemp(dir)
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

// longestLink is the longest name in a file that ReadLink takes for a link. SQLite files are longer, unless they are empty.
const longestLink = 255

// ReadLink returns the name that ReplaceLink wrote, or "" if path is not a link but another file. It returns fs.ErrNotExist
// if path does not exist.
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
