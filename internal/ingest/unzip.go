package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/zipped"
)

// isZip says whether a file is called a zip. Others that are one inside (documents, programs) are nobody's export.
func isZip(p string) bool { return strings.EqualFold(path.Ext(p), ".zip") }

// mostAsked is how many files of a zip are looked into to find out whose it is.
const mostAsked = 16

// exported finds the format of the transcripts in a zip, by the first of them; p is the path of the zip. Without one the error says
// why, or is nil.
func exported(formats []format.Format, p string, list []zipped.File) (format.Format, format.Claim, error) {
	asked, failed := 0, error(nil)
	for i := range list {
		for _, f := range formats {
			if asked >= mostAsked || !named(f, &list[i]) {
				continue
			}
			asked++
			claim, err := inZip(f, p, &list[i])
			if claim.Strength > format.None {
				return f, claim, nil
			}
			failed = cmp.Or(failed, err)
		}
	}
	return nil, format.Claim{}, failed
}

// named says whether a file in a zip is called as transcripts of a format are.
func named(f format.Format, file *zipped.File) bool {
	z, ok := f.(format.Zipped)
	return ok && z.InZip(path.Base(file.Path))
}

// inZip asks a format what a file in a zip is.
func inZip(f format.Format, p string, file *zipped.File) (format.Claim, error) {
	head, err := file.Head(format.HeadSize)
	if err != nil {
		return format.Claim{}, faultOf(file, err)
	}
	return f.Detect(format.Head{Path: path.Join(p, file.Path), Size: file.Size, Bytes: head}), nil
}

// faultOf says why a file in a zip could not be read.
func faultOf(file *zipped.File, err error) error {
	return fmt.Errorf("%.100q in it: %w", file.Name, err)
}

// faults are why some of the files in a zip could not be read.
type faults struct {
	first error
	count int
}

func (f *faults) Error() string {
	if f.count > 1 {
		return fmt.Sprintf("%s, and %d more", f.first, f.count-1)
	}
	return f.first.Error()
}

func (f *faults) Unwrap() error { return f.first }

// errInItself is a file that stands where the zip itself would.
var errInItself = errors.New("it is called as the zip")

// unzip stores the files in a zip, each an original of its own. The zip itself is not stored, unless one of them could not be
// read: that is told of at each scan.
func (w *worker) unzip(c *claimed, f original, info fs.FileInfo) error {
	err := w.unpack(c, f, info)
	var bad *faults
	if errors.As(err, &bad) {
		own := c.within(inItself(c.path), format.Other)
		own.format, own.root = nil, c.path
		return errors.Join(w.kept(c.path, own), err)
	}
	if err != nil {
		return err
	}
	w.s.remember(c.path, index.Stat{Size: info.Size(), ModTime: blob.Nano(info.ModTime()), Inode: inode(info)})
	after, err := f.Stat()
	if err != nil || w.s.g.Now().Sub(info.ModTime()) < youngAge || after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) {
		w.s.distrust(c.path)
	}
	return nil
}

func (w *worker) unpack(c *claimed, f original, info fs.FileInfo) error {
	list, err := zipped.Open(f, info.Size())
	if err != nil {
		return &faults{err, 1}
	}
	bad := &faults{}
	for i := range list {
		file := &list[i]
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		if credentials[path.Base(file.Path)] {
			w.s.leaveOut()
			continue
		}
		own := c.member(file)
		if all := inItself(c.path); own.path == all || within(own.path, all) {
			file.Err = errInItself
		}
		if err := file.Check(); err != nil {
			bad.count++
			bad.first = cmp.Or(bad.first, faultOf(file, err))
			continue
		}
		if err := w.member(own, file, info); err != nil {
			return err
		}
	}
	if bad.count > 0 {
		return bad
	}
	return nil
}

// leaveOut counts a file that is not archived while others are.
func (s *scan) leaveOut() {
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	s.report.LeftOut++
}

// member is a file in a zip with what its format says of it. Only that which has the zip is asked: what people have attached is no transcript.
func (c *claimed) member(file *zipped.File) *claimed {
	own := c.within(path.Join(c.path, file.Path), format.Other)
	own.root = c.path
	if named(c.format, file) {
		if claim, _ := inZip(c.format, c.path, file); claim.Strength > format.None {
			own.claim = claim
			return own
		}
	}
	own.format = nil
	return own
}

func (w *worker) member(own *claimed, file *zipped.File, zip fs.FileInfo) error {
	content := file.Content()
	defer content.Close()
	at := file.ModTime
	if at.IsZero() || at.After(zip.ModTime()) {
		at = zip.ModTime() // nothing in it is newer, whatever zone its time is meant in
	}
	own.size, own.mtime = file.Size, blob.Nano(at)
	return w.apart(own, content, zip.Mode(), index.Stat{Size: own.size, ModTime: own.mtime, Inode: partInode})
}

// CheckZip says why a scan takes nothing out of a zip, or out of what is called one; nil when it does.
func CheckZip(formats []format.Format, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	list, err := zipped.Open(f, info.Size())
	if err != nil {
		return err
	}
	whose, _, err := exported(formats, filepath.Base(name), list)
	if whose != nil || err != nil {
		return err
	}
	for i := range list {
		if isZip(list[i].Name) {
			return fmt.Errorf("it holds other zips, such as %q", list[i].Name)
		}
	}
	return errors.New("it is no export of conversations")
}
