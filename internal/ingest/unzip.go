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
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/ingest/sourcefs"
	"github.com/txarchive/txarchive/internal/ingest/zipped"
)

// isZip reports whether a path ends in .zip. Other files with the format of a zip (documents, programs) are no exports.
func isZip(p string) bool { return strings.EqualFold(path.Ext(p), ".zip") }

// maxProbed is how many files of a zip are opened to detect its format.
const maxProbed = 16

// exportFormat returns the format of the transcripts in a zip, by the first one that a format claims, with its claim; p is the path of the zip.
// If there is none, the error is that of a file that could not be read, or nil.
func exportFormat(formats []format.Format, p string, list []zipped.File) (format.Format, format.Claim, error) {
	probed, failed := 0, error(nil)
	for i := range list {
		for _, f := range formats {
			yes, err := isTranscriptName(f, &list[i])
			if failed = cmp.Or(failed, err); !yes {
				continue
			}
			if probed++; probed > maxProbed {
				return nil, format.Claim{}, failed
			}
			claim, err := detectInZip(f, p, &list[i])
			if claim.Strength > format.None {
				return f, claim, nil
			}
			failed = cmp.Or(failed, err)
		}
	}
	return nil, format.Claim{}, failed
}

// isTranscriptName reports whether a file in a zip is named as a format's transcripts are.
func isTranscriptName(f format.Format, file *zipped.File) (bool, error) {
	return format.InZip(f, path.Base(file.Path))
}

// detectInZip returns a format's claim on a file in a zip.
func detectInZip(f format.Format, p string, file *zipped.File) (format.Claim, error) {
	head, err := file.Head(format.HeadSize)
	if err != nil {
		return format.Claim{}, memberError(file, err)
	}
	return format.Detect(f, format.Head{Path: path.Join(p, file.Path), Size: file.Size, Bytes: head})
}

// memberError returns an error about a file in a zip, with its name.
func memberError(file *zipped.File, err error) error {
	return fmt.Errorf("%.100q in it: %w", file.Name, err)
}

// zipErrors is the error of a zip of which some files, or the list, could not be read.
type zipErrors struct {
	first  error
	count  int
	secret bool // a file of credentials was left out
}

func (f *zipErrors) Error() string {
	text := f.first.Error()
	if f.count > 1 {
		text = fmt.Sprintf("%s, and %d more", text, f.count-1)
	}
	if f.secret {
		text += "; the zip itself is not kept, since it holds credentials"
	}
	return text
}

func (f *zipErrors) Unwrap() error { return f.first }

// errNamedAsZip is returned for a file in a zip that has the path under which the zip itself would be stored: see selfPath.
var errNamedAsZip = errors.New("it has the same name as the zip")

// storeZip stores the files in a zip, each as an original. If one of them cannot be read, each scan says so, and the zip itself is stored as well,
// unless it holds credentials.
func (w *worker) storeZip(c *claimed, f sourcefs.File, info fs.FileInfo) error {
	err := w.storeMembers(c, f, info)
	if bad, ok := errors.AsType[*zipErrors](err); ok && !bad.secret {
		own := c.derived(selfPath(c.path), format.Other)
		own.format, own.root = nil, c.path
		return errors.Join(w.storeFileAs(c.path, own), err)
	}
	if err != nil {
		return err
	}
	w.s.recordStat(c.path, statOf(info))
	after, err := f.Stat()
	if err != nil || !w.isTrusted(info) || after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) {
		w.s.markUntrusted(c.path)
	}
	return nil
}

// storeMembers stores the files in a zip that can be read. It returns a *zipErrors for the others.
func (w *worker) storeMembers(c *claimed, f sourcefs.File, info fs.FileInfo) error {
	list, err := zipped.Open(f, info.Size())
	if err != nil {
		return &zipErrors{first: err, count: 1}
	}
	bad := &zipErrors{}
	for i := range list {
		file := &list[i]
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		if isCredential(file.Path) {
			w.s.countLeftOut()
			bad.secret = true
			continue
		}
		own := c.member(file)
		if all := selfPath(c.path); own.path == all || source.Within(own.path, all) {
			file.Err = errNamedAsZip
		}
		if err := file.Check(); err != nil {
			bad.count++
			bad.first = cmp.Or(bad.first, memberError(file, err))
			continue
		}
		if err := w.storeMember(own, file, info); err != nil {
			return err
		}
	}
	if bad.count > 0 {
		return bad
	}
	return nil
}

// countLeftOut counts a credential, from a worker.
func (s *scan) countLeftOut() {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	s.report.LeftOut++
}

// member returns the original that a file in a zip becomes. Only the format of the zip is asked about it: files that users attached are no transcripts.
func (c *claimed) member(file *zipped.File) *claimed {
	own := c.derived(path.Join(c.path, file.Path), format.Other)
	own.root = c.path
	if yes, _ := isTranscriptName(c.format, file); yes {
		if claim, _ := detectInZip(c.format, c.path, file); claim.Strength > format.None {
			own.claim = claim
			return own
		}
	}
	own.format = nil
	return own
}

// storeMember stores a file in a zip.
func (w *worker) storeMember(own *claimed, file *zipped.File, zip fs.FileInfo) error {
	content := file.Content()
	defer content.Close()
	at := file.ModTime
	if at.IsZero() || at.After(zip.ModTime()) {
		at = zip.ModTime() // no member is newer than its zip: times in a zip lack a zone
	}
	own.size, own.mtime = file.Size, blob.Nano(at)
	return w.storeDerived(own, content, zip.Mode(), index.Stat{Size: own.size, ModTime: own.mtime, Inode: partInode})
}

// CheckZip returns an error that says why a scan takes nothing out of the zip at name, nil if it does.
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
	whose, _, err := exportFormat(formats, filepath.Base(name), list)
	if whose != nil || err != nil {
		return err
	}
	for i := range list {
		if isZip(list[i].Name) {
			return fmt.Errorf("it contains other zips, such as %q", list[i].Name)
		}
	}
	return errors.New("it is not an export of conversations")
}
