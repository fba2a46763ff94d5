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
)

// partInode marks the entries of the scan cache that stand for parts of a database, or of a zip, and for no file: a scan does not meet
// them, and they are not gone for that.
const partInode = 1 << 62

// splitsOf says how the database that a file is will be taken apart, nil when it is kept as it is.
func splitsOf(c *claimed) []format.Split {
	if s, ok := c.format.(format.Splitter); ok && c.claim.Database {
		return s.Split(c.claim.Role)
	}
	return nil
}

// parts stores the rows of a database that changed since the last scan, each part an original of its own. The database
// itself is not stored, for every message changes it, unless SQLite cannot read it any more: that is told of at each scan.
func (w *worker) parts(c *claimed, info fs.FileInfo, splits []format.Split) error {
	err := w.split(c, info, splits)
	if !dbcopy.Malformed(err) || c.claim.Secret {
		return err
	}
	for _, suffix := range []string{"", "-wal"} {
		if failed := w.broken(c, suffix); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			return errors.Join(err, failed)
		}
	}
	return err
}

// broken stores a file of a database as it is.
func (w *worker) broken(c *claimed, suffix string) error {
	return w.kept(c.path+suffix, c.within(inItself(c.path)+suffix, c.claim.Role))
}

// inItself is where the whole of a file stands that was taken apart: among its parts, for where these are restored its own name is a directory.
func inItself(p string) string { return path.Join(p, path.Base(p)) }

// kept stores a file as an original that is not called as it is.
func (w *worker) kept(p string, own *claimed) error {
	f, info, err := w.files.open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	stat := index.Stat{Size: info.Size(), ModTime: blob.Nano(info.ModTime()), Inode: partInode}
	if w.s.was(own, stat) {
		return nil
	}
	own.size, own.mtime = stat.Size, stat.ModTime
	return w.apart(own, f, info.Mode(), stat)
}

func (w *worker) split(c *claimed, info fs.FileInfo, splits []format.Split) error {
	f, done, err := snapshot(w.ctx, &w.files, c)
	if err != nil {
		return err
	}
	defer done()
	db, err := dbcopy.Open(f.Name())
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := os.OpenFile(filepath.Join(filepath.Dir(f.Name()), "rows.ndjson"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer rows.Close()
	if splits, err = present(w.ctx, db, splits); err != nil {
		return err
	}
	var lacks error // what cannot be read of one kind of original keeps none of the others away
	for _, split := range splits {
		all, err := db.Parts(w.ctx, split.Keys)
		if err != nil {
			lacks = errors.Join(lacks, err)
			continue
		}
		for _, p := range all {
			if err := w.part(c, info, db, split, p, rows); err != nil {
				return err
			}
		}
	}
	if lacks != nil {
		return lacks
	}
	stat := index.Stat{Size: info.Size(), ModTime: blob.Nano(info.ModTime()), Inode: inode(info)}
	w.s.remember(c.path, stat)
	if w.s.g.Now().Sub(info.ModTime()) < youngAge {
		w.s.distrust(c.path)
	}
	return nil
}

// present leaves out the splits that a database has no table for; where none of Any's is there, reading it says what it
// lacks.
func present(ctx context.Context, db *dbcopy.Copy, splits []format.Split) ([]format.Split, error) {
	tables, err := db.Tables(ctx)
	if err != nil {
		return nil, err
	}
	has := func(t string) bool { return tables[t] }
	hasNot := func(t string) bool { return !tables[t] }
	var there, lacking []format.Split
	for _, split := range splits {
		switch {
		case slices.ContainsFunc(split.With, hasNot), slices.ContainsFunc(split.Without, has):
		case len(split.Any) == 0 || slices.ContainsFunc(split.Any, has):
			there = append(there, split)
		default:
			lacking = append(lacking, split)
		}
	}
	if len(there) == 0 {
		return lacking, nil
	}
	return there, nil
}

// part stores one part unless it is as it was at the last scan.
func (w *worker) part(c *claimed, info fs.FileInfo, db *dbcopy.Copy, split format.Split, p dbcopy.Part, rows *os.File) error {
	own := c.within(partPath(c.path, p.Name), split.Role)
	own.claim.Log = split.Log
	if w.s.was(own, partStat(p)) {
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
	return w.apart(own, rows, info.Mode(), partStat(p))
}

// within is an original below the path of a database that is none of its files.
func (c *claimed) within(name, role string) *claimed {
	return &claimed{&file{path: name}, &stance{format: c.format, root: c.root,
		claim: format.Claim{Strength: c.claim.Strength, Role: role, Root: c.claim.Root}}}
}

// was says whether an original was the same at the last scan.
func (s *scan) was(c *claimed, stat index.Stat) bool {
	before, _, _ := s.before.Find(pathHash(c.path))
	return before == stat
}

// apart stores such an original.
func (w *worker) apart(own *claimed, f io.ReaderAt, mode fs.FileMode, stat index.Stat) error {
	return w.bring(own, f, blob.Version{
		Source: w.s.root.Source, Path: own.path, Number: 1, Size: own.size, ModTime: time.Unix(0, own.mtime), Mode: uint32(mode.Perm()),
		Format: own.formatName(), Role: own.claim.Role, Claim: own.root,
	}, stat)
}

// partStat is what the scan cache holds of a part: whatever else changes, one of the two does.
func partStat(p dbcopy.Part) index.Stat {
	return index.Stat{Size: p.Rows, ModTime: p.Changed, Inode: partInode}
}

// countParts says what an ingest would do with the parts of a database. How many bytes it would bring is only known of a
// database of which nothing is stored: no more than it has.
func (s *scan) countParts(ctx context.Context, c *claimed, splits []format.Split) error {
	files := opener{root: s.dir}
	defer files.Close()
	f, done, err := snapshot(ctx, &files, c)
	if err != nil {
		return err
	}
	defer done()
	db, err := dbcopy.Open(f.Name())
	if err != nil {
		return err
	}
	defer db.Close()
	if splits, err = present(ctx, db, splits); err != nil {
		return err
	}
	stored := int64(0)
	for _, split := range splits {
		parts, err := db.Parts(ctx, split.Keys)
		if err != nil {
			return err
		}
		for _, p := range parts {
			switch was, _, ok := s.before.Find(pathHash(partPath(c.path, p.Name))); {
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

// longestName is how long the name of a part may be, longestStep each step of it: no file system takes longer ones at a restore.
const longestName, longestStep = 1024, 192

// partPath is the path of a part: below that of its database, whatever its name is made of. What is too long for a name ends in its hash.
func partPath(database, name string) string {
	own := name
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\:\x00") {
		own = url.PathEscape(name)
	}
	if len(own) > longestName || slices.ContainsFunc(strings.Split(own, "/"), func(step string) bool { return len(step) > longestStep }) {
		own = fmt.Sprintf("%s~%x", url.PathEscape(name[:min(len(name), longestStep/4)]), sha256.Sum256([]byte(name)))
	}
	return database + "/" + own + ".ndjson"
}

// wake looks again at databases whose write-ahead log has changed: it has what they themselves do not show yet. Where the
// source is nothing but a database the scan does not meet its log; then it is enough that there is one.
func (s *scan) wake() {
	if s.files.count == 1 && s.files.path(0) == s.root.Below {
		if info, err := s.dir.Stat(s.root.Below + "-wal"); err == nil && info.Size() > 0 {
			s.files.at(0).known = false
		}
	}
	changed := map[string]bool{}
	for i, e := range s.files.all {
		if !e.known && bytes.HasSuffix(s.files.name(i), []byte("-wal")) {
			changed[strings.TrimSuffix(s.files.path(i), "-wal")] = true
		}
	}
	if len(changed) == 0 {
		return
	}
	for i, e := range s.files.all {
		if changed[s.files.path(i)] {
			e.known = false
		}
	}
}

// Apart says of stored originals whether they were never files where they stand: what was read of a database or a zip.
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
