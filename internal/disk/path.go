package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RealPath returns an absolute path without symbolic links. If the path does not exist, it resolves the part that does.
func RealPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	parent := filepath.Dir(abs)
	if !errors.Is(err, fs.ErrNotExist) || parent == abs {
		return real, err
	}
	if real, err = RealPath(parent); err != nil {
		return "", err
	}
	return filepath.Join(real, filepath.Base(abs)), nil
}

// IsInside reports whether a path is a directory or lies below it, whatever symbolic links and mounts lead there. Neither need exist.
func IsInside(path, dir string) (bool, error) {
	real, err := RealPath(path)
	if err != nil {
		return false, err
	}
	if dir, err = RealPath(dir); err != nil {
		return false, err
	}
	outer, missing := os.Stat(dir)
	for {
		if real == dir {
			return true, nil
		}
		if info, err := os.Stat(real); err == nil && missing == nil && os.SameFile(info, outer) {
			return true, nil
		}
		parent := filepath.Dir(real)
		if parent == real {
			return false, nil
		}
		real = parent
	}
}
