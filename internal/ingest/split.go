package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/dbcopy"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/sourcefs"
)

// partInode marks entries of the scan cache that stand for a part of a database or zip and not for a file: the walk does not find
// them, which does not mean that they are gone.
const partInode = 1 << 62

// splitsOf returns how a database is split into originals, nil for a file that is stored as it is.
func splitsOf(c *claimed) []format.Split {
	if s, ok := c.format.(format.Splitter); ok && c.claim.Database {
		return s.Split(c.claim.Role)
	}
	return nil
}

// storeParts stores the parts of a database whose rows changed since the last scan, each as an original. The database
// itself is not stored, since every message changes it, unless it cannot be read, or not all of it: then each scan reports the error.
func (w *worker) storeParts(c *claimed, info fs.FileInfo, splits []format.Split) error {
	err := w.splitDatabase(c, info, splits)
	if !dbcopy.Malformed(err) || c.claim.Secret {
		return err
	}
	for _, suffix := range []string{"", "-wal"} {
		if failed := w.storeBroken(c, suffix); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			return errors.Join(err, failed)
		}
	}
	return err
}

// storeBroken stores a file of an unreadable database (suffix "" or "-wal") as it is.
func (w *worker) storeBroken(c *claimed, suffix string) error {
	return w.storeFileAs(c.path+suffix, c.derived(selfPath(c.path)+suffix, c.claim.Role))
}

// selfPath returns the path under which the whole of a split file is stored: among its parts, because its own name is a directory when they are restored.
func selfPath(p string) string { return path.Join(p, path.Base(p)) }

// storeFileAs stores the file at p as the original own, which has another path.
func (w *worker) storeFileAs(p string, own *claimed) error {
	f, info, err := w.files.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	stat := index.Stat{Size: info.Size(), ModTime: blob.Nano(info.ModTime()), Inode: partInode}
	if w.s.isUnchanged(own, stat) {
		return nil
	}
	own.size, own.mtime = stat.Size, stat.ModTime
	return w.storeDerived(own, f, info.Mode(), stat)
}

// splitDatabase stores the changed parts of a database from a consistent copy of it.
func (w *worker) splitDatabase(c *claimed, info fs.FileInfo, splits []format.Split) error {
	f, done, err := snapshot(w.ctx, &w.files, c)
	if err != nil {
		return err
	}
	defer done()
	db, err := dbcopy.Open(w.ctx, f.Name())
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := os.OpenFile(filepath.Join(filepath.Dir(f.Name()), "rows.ndjson"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer rows.Close()
	if splits, err = applicableSplits(w.ctx, db, splits); err != nil {
		return err
	}
	var failed contentErrors // what cannot be read does not stop the others
	for _, split := range splits {
		all, err := db.Parts(w.ctx, split.Keys)
		if err := failed.collect(err); err != nil {
			return err
		}
		for _, p := range all {
			if err := failed.collect(w.storePart(c, info, db, split, p, rows)); err != nil {
				return err
			}
		}
	}
	if failed.first != nil {
		return w.storeWhole(c, f, info, &failed)
	}
	w.s.recordStat(c.path, statOf(info))
	if !w.isTrusted(info) {
		w.s.markUntrusted(c.path)
	}
	return nil
}

// contentErrors is the errors about parts of a database that cannot be read as they are.
type contentErrors struct {
	first error
	more  int
}

// collect adds an error about the content, and returns any other one.
func (e *contentErrors) collect(err error) error {
	if _, ok := errors.AsType[*dbcopy.ContentError](err); !ok {
		return err
	}
	if e.first == nil {
		e.first = err
	} else {
		e.more++
	}
	return nil
}

func (e *contentErrors) Error() string {
	if e.more == 0 {
		return e.first.Error()
	}
	return fmt.Sprintf("%v (%d parts)", e.first, e.more+1)
}

func (e *contentErrors) Unwrap() error { return e.first }

// storeWhole stores the copy of a database of which not all parts can be read, perhaps because a later version of its program has other tables, and
// returns why.
func (w *worker) storeWhole(c *claimed, f sourcefs.File, info fs.FileInfo, why error) error {
	if c.claim.Secret || dbcopy.Malformed(why) {
		return why
	}
	copied, err := f.Stat()
	if err != nil {
		return err
	}
	own := c.derived(selfPath(c.path), c.claim.Role)
	own.size, own.mtime = copied.Size(), blob.Nano(info.ModTime())
	if err := w.storeDerived(own, f, info.Mode(), index.Stat{Size: own.size, ModTime: own.mtime, Inode: partInode}); err != nil {
		return err
	}
	return fmt.Errorf("%w: the whole database is kept as %s", why, own.path)
}

// applicableSplits returns the splits that a database has the tables for. If it has none of the tables in any Any, it returns those splits, so
// that reading them reports which table is missing.
func applicableSplits(ctx context.Context, db *dbcopy.Copy, splits []format.Split) ([]format.Split, error) {
	tables, err := db.Tables(ctx)
	if err != nil {
		return nil, err
	}
	has := func(t string) bool { return tables[t] }
	lacks := func(t string) bool { return !tables[t] }
	var applicable, lacking []format.Split
	for _, split := range splits {
		switch {
		case slices.ContainsFunc(split.With, lacks), slices.ContainsFunc(split.Without, has):
		case len(split.Any) == 0 || slices.ContainsFunc(split.Any, has):
			applicable = append(applicable, split)
		default:
			lacking = append(lacking, split)
		}
	}
	if len(applicable) == 0 {
		return lacking, nil
	}
	return applicable, nil
}

// storePart writes the rows of one part to the scratch file rows and stores it, unless it is unchanged since the last scan.
func (w *worker) storePart(c *claimed, info fs.FileInfo, db *dbcopy.Copy, split format.Split, p dbcopy.Part, rows *os.File) error {
	own := c.derived(partPath(c.path, p.Name), split.Role)
	own.claim.Log = split.Log
	if w.s.isUnchanged(own, partStat(p)) {
		return nil
	}
	if err := rows.Truncate(0); err != nil {
		return err
	}
	if _, err := rows.Seek(0, 0); err != nil {
		return err
	}
	if err := db.Write(w.ctx, p, queriesOf(split.Rows), rows); err != nil {
		return err
	}
	size, err := rows.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	own.size, own.mtime = size, blob.Nano(info.ModTime())
	if p.Changed > 0 {
		own.mtime = blob.Nano(time.UnixMilli(p.Changed))
	}
	return w.storeDerived(own, rows, info.Mode(), partStat(p))
}

// derived returns an original that is made from c, with the given path: a part of a database or a member of a zip.
func (c *claimed) derived(name, role string) *claimed {
	return &claimed{&file{path: name}, &class{format: c.format, root: c.root,
		claim: format.Claim{Strength: c.claim.Strength, Role: role, Root: c.claim.Root}}}
}

// isUnchanged reports whether an original had the same metadata at the last scan.
func (s *scan) isUnchanged(c *claimed, stat index.Stat) bool {
	before, _, _ := s.statCache.Find(pathHash(c.path))
	return before == stat
}

// storeDerived stores an original that derived returned.
func (w *worker) storeDerived(own *claimed, f io.ReaderAt, mode fs.FileMode, stat index.Stat) error {
	return w.storeVersion(own, f, blob.Version{
		Source: w.s.root.Source, Path: own.path, Number: 1, Size: own.size, ModTime: time.Unix(0, own.mtime), Mode: uint32(mode.Perm()),
		Format: own.formatName(), Role: own.claim.Role, Claim: own.root,
	}, stat)
}

// partStat returns the metadata of a part for the scan cache. Changed and Rows together change whenever the rows do.
func partStat(p dbcopy.Part) index.Stat {
	return index.Stat{Size: p.Rows, ModTime: p.Changed, Inode: partInode}
}

// countParts counts what an ingest would do with the parts of a database. It counts bytes only for a database of which nothing is
// stored, and then the size of the database, which is an upper bound.
func (s *scan) countParts(ctx context.Context, c *claimed, splits []format.Split) error {
	files := sourcefs.Opener{Root: s.dir}
	defer files.Close()
	f, done, err := snapshot(ctx, &files, c)
	if err != nil {
		return err
	}
	defer done()
	db, err := dbcopy.Open(ctx, f.Name())
	if err != nil {
		return err
	}
	defer db.Close()
	if splits, err = applicableSplits(ctx, db, splits); err != nil {
		return err
	}
	stored := int64(0)
	for _, split := range splits {
		parts, err := db.Parts(ctx, split.Keys)
		if err != nil {
			return err
		}
		for _, p := range parts {
			switch was, _, ok := s.statCache.Find(pathHash(partPath(c.path, p.Name))); {
			case !ok:
				s.report.New++
			case was == partStat(p):
				stored++
				s.report.Unchanged++
			default:
				stored++
				s.report.Rewritten++
			}
		}
	}
	if stored == 0 {
		s.report.RawBytes += c.size
	}
	return nil
}

// maxPartName is the longest name of a part, and maxPartStep the longest element of it, in bytes: file systems would not take longer ones at a restore.
const maxPartName, maxPartStep = 1024, 192

// partPath returns the path of a part, below that of its database for any name. A name that is too long is cut, and ends in its hash.
func partPath(database, name string) string {
	file := name
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\:\x00") {
		file = url.PathEscape(name)
	}
	if len(file) > maxPartName || slices.ContainsFunc(strings.Split(file, "/"), func(element string) bool { return len(element) > maxPartStep }) {
		file = fmt.Sprintf("%s~%x", url.PathEscape(name[:min(len(name), maxPartStep/4)]), sha256.Sum256([]byte(name)))
	}
	return database + "/" + file + ".ndjson"
}

// recheckDatabases marks databases as changed whose write-ahead log has changed: it has rows that the database file lacks. If the root of the
// scan is the database itself, the walk does not find the log; then any log counts as changed.
func (s *scan) recheckDatabases() {
	if s.files.Count() == 1 && s.files.Path(0) == s.root.Below {
		if info, err := s.dir.Stat(s.root.Below + "-wal"); err == nil && info.Size() > 0 {
			s.files.At(0).Known = false
		}
	}
	changed := map[string]bool{}
	for i, e := range s.files.All {
		if !e.Known && bytes.HasSuffix(s.files.Name(i), []byte("-wal")) {
			changed[strings.TrimSuffix(s.files.Path(i), "-wal")] = true
		}
	}
	if len(changed) == 0 {
		return
	}
	for i, e := range s.files.All {
		if changed[s.files.Path(i)] {
			e.Known = false
		}
	}
}

// Apart returns a function that reports whether an original was never a file at its path: a part of a database or a member of a zip.
func Apart(formats []format.Format) func(blob.Version) bool {
	return func(v blob.Version) bool {
		if isZip(v.Claim) {
			return true
		}
		for _, f := range formats {
			if s, ok := f.(format.Splitter); ok && f.Name() == v.Format {
				return s.Apart(v.Role)
			}
		}
		return false
	}
}
