//go:build !linux

package sourcefs

import (
	"io/fs"
	"os"
)

// openBelow returns nil: there is no openat2 on this system, see Opener.Open.
func openBelow(*os.File, string) (File, fs.FileInfo) { return nil, nil }

// OpenDir opens a directory for listing.
func OpenDir(dir string) (*os.File, error) { return os.Open(dir) }

// Stat returns the metadata of an entry of an open directory, without following a link.
func Stat(_ *os.File, e fs.DirEntry) (Info, error) {
	info, err := e.Info()
	if err != nil {
		return Info{}, err
	}
	return InfoOf(info), nil
}
