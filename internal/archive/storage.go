package archive

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/txarchive/txarchive/internal/disk"
)

// Storage is the disk usage of an archive, in bytes unless noted.
type Storage struct {
	Packs         int64 `json:"packs"` // number
	PackBytes     int64 `json:"pack_bytes"`
	IndexBytes    int64 `json:"index_bytes"`     // the current generation and its WAL
	OldIndexBytes int64 `json:"old_index_bytes"` // superseded generations, and those that are being built
	Leftovers     int64 `json:"leftovers"`       // number of unfinished files, including those of a running writer
	LeftoverBytes int64 `json:"leftover_bytes"`
}

// Total returns the sum of all bytes.
func (s Storage) Total() int64 { return s.PackBytes + s.IndexBytes + s.OldIndexBytes + s.LeftoverBytes }

// Storage measures the disk usage of the archive. A writer may be running meanwhile.
func (a *Archive) Storage(ctx context.Context) (Storage, error) {
	var s Storage
	for info, err := range a.packs.List(ctx) {
		if err != nil {
			return s, err
		}
		s.Packs++
		s.PackBytes += info.Size
	}
	current, err := a.currentIndex()
	if err != nil {
		return s, err
	}
	if current != "" {
		for _, side := range append([]string{""}, sidecars...) {
			n, err := fileSize(current + side)
			if err != nil {
				return s, err
			}
			s.IndexBytes += n
		}
	}
	return s, a.measureOthers(&s, filepath.Base(current))
}

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// measureOthers adds old generations and leftovers.
func (a *Archive) measureOthers(s *Storage, current string) error {
	files, err := a.generations()
	if err != nil {
		return err
	}
	for name := range files {
		if strings.HasPrefix(name, current) && current != "" {
			continue
		}
		n, err := fileSize(filepath.Join(a.dir, name))
		if err != nil {
			return err
		}
		s.OldIndexBytes += n
	}
	left, err := a.leftovers()
	if err != nil {
		return err
	}
	for _, path := range left {
		n, err := fileSize(path)
		if err != nil {
			return err
		}
		s.Leftovers++
		s.LeftoverBytes += n
	}
	return nil
}

// leftovers returns the paths of temporary files: unfinished, or being written.
func (a *Archive) leftovers() ([]string, error) {
	var found []string
	for _, dir := range []string{a.dir, filepath.Join(a.dir, packsDir)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), disk.TempPrefix) && !e.IsDir() {
				found = append(found, filepath.Join(dir, e.Name()))
			}
		}
	}
	return found, nil
}
