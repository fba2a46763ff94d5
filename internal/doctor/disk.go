package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/terminal"
)

// disk finds out what kind of file system the archive is on.
func (d *Doctor) disk(_ context.Context, c *Check) error {
	kind, network := disk.FileSystem(d.Archive.Dir())
	switch {
	case network:
		c.add(kind)
		c.conclude(Note, "the archive is on "+kind+", where locks and the index's log are not reliable",
			"let one machine write at a time, and keep the index on a local disk: copy packs/ there and run txarchive reindex")
	case kind == "":
		c.Says = "unknown file system"
	}
	return nil
}

// modes looks for files that others may read: transcripts contain secrets.
func (d *Doctor) modes(ctx context.Context, c *Check) error {
	if runtime.GOOS == "windows" {
		c.Says = "access control lists are not checked on Windows"
		return nil
	}
	dir := d.Archive.Dir()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed by a writer at work
			return nil
		case err != nil:
			c.add(fmt.Sprintf("cannot check %s: %v", d.Shown(path), err))
			return nil
		case e.Type()&fs.ModeSymlink != 0:
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			c.add(fmt.Sprintf("%04o %s", info.Mode().Perm(), d.Shown(path)))
		}
		return ctx.Err()
	})
	c.conclude(Problem, terminal.Plural(c.Count, "file or directory is", "files and directories are")+" accessible to others", "chmod -R go= "+terminal.ShellPath(dir))
	return err
}

// maxEmptyIndex is more than an empty index takes, in bytes. Every first load leaves one behind, for those who were reading it.
const maxEmptyIndex = 1 << 20

// leftovers looks for old generations of the index and unfinished files, which nobody needs.
func (d *Doctor) leftovers(ctx context.Context, c *Check) error {
	s, err := d.Archive.Storage(ctx)
	if err != nil {
		return err
	}
	if s.Leftovers > 0 {
		c.add(fmt.Sprintf("%s (%s)", terminal.Plural(s.Leftovers, "unfinished file", "unfinished files"), terminal.Bytes(s.LeftoverBytes)))
	}
	if s.OldIndexBytes > maxEmptyIndex {
		c.add("older generations of the index, " + terminal.Bytes(s.OldIndexBytes))
	}
	c.conclude(Note, "left over from another run, or another command is running", "the next command that writes removes them")
	return nil
}

// rootState returns "present" if a source can be scanned, else why not.
func rootState(root string) string {
	f, err := os.Open(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case err != nil:
		return "not readable"
	}
	if err := f.Close(); err != nil {
		return "not readable"
	}
	return "present"
}
