package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// disk looks at where the archive lies.
func (d *doctor) disk(_ context.Context, c *check) error {
	kind, network := fileSystem(d.store.Dir())
	switch {
	case network:
		c.item(kind)
		c.end(checkNote, "the archive lies on "+kind+", where locks and the index's log cannot be relied on",
			"let one machine write at a time, and keep the index on a local disk: copy packs/ there and run txarchive reindex")
	case kind == "":
		c.Says = "the kind of file system is not known here"
	}
	return nil
}

// modes looks for files that others may read: transcripts hold secrets.
func (d *doctor) modes(ctx context.Context, c *check) error {
	if runtime.GOOS == "windows" {
		c.Says = "access lists are not looked at on Windows"
		return nil
	}
	dir := d.store.Dir()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // a writer at work
			return nil
		case err != nil:
			c.item(fmt.Sprintf("%s cannot be looked at: %v", d.a.shown(path), err))
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
			c.item(fmt.Sprintf("%04o %s", info.Mode().Perm(), d.a.shown(path)))
		}
		return ctx.Err()
	})
	c.end(checkProblem, plural(c.Count, "file or directory is", "files and directories are")+" open to others", "chmod -R go= "+quotedPath(dir))
	return err
}

// plainPath is one that a shell takes as it is.
var plainPath = lazyregexp.New(`^[A-Za-z0-9/_.-]+$`)

// quotedPath is a path as a shell takes it.
func quotedPath(path string) string {
	if plainPath.MatchString(path) {
		return path
	}
	return shellQuote(path)
}

// emptyIndex is more than an index takes that has nothing in it: each first load leaves one to those who read it.
const emptyIndex = 1 << 20

// leftovers are generations of the index and unfinished files that nobody needs.
func (d *doctor) leftovers(ctx context.Context, c *check) error {
	s, err := d.store.Storage(ctx)
	if err != nil {
		return err
	}
	if s.Leftovers > 0 {
		c.item(fmt.Sprintf("%s (%s)", plural(s.Leftovers, "unfinished file", "unfinished files"), size(s.LeftoverBytes)))
	}
	if s.OldIndexBytes > emptyIndex {
		c.item("older generations of the index, " + size(s.OldIndexBytes))
	}
	c.end(checkNote, "things are left over from another run, or one is at work", "the next command that writes clears them away")
	return nil
}

// rootState says whether a source can be scanned, and why not.
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
