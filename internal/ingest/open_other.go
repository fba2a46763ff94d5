//go:build !linux

package ingest

import (
	"io/fs"
	"os"
)

// openBelow opens a file below a directory by one call; nil where there is no such call.
func openBelow(*os.File, string) (original, fs.FileInfo) { return nil, nil }

func openDir(dir string) (*os.File, error) { return os.Open(dir) }

// lookAt returns what stands in a directory under a name.
func lookAt(_ *os.File, e fs.DirEntry) (metadata, error) {
	info, err := e.Info()
	if err != nil {
		return metadata{}, err
	}
	return metadataOf(info), nil
}
