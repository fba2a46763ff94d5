//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Denied returns an error if this process may not read a file that exists. It does not open the file: closing it would release every lock
// that the process has on it.
func Denied(path string) error {
	if err := unix.Access(path, unix.R_OK); errors.Is(err, fs.ErrPermission) {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}
