package ingest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/listing"
	"github.com/txarchive/txarchive/internal/ingest/sourcefs"
	"github.com/txarchive/txarchive/internal/ingest/zipped"
)

// credentials are the names of files that hold secrets of programs. They are never archived, in whatever directory they are
// (docs/cli.md lists them).
var credentials = map[string]bool{
	"auth.json": true, ".credentials.json": true, "oauth_creds.json": true, "credentials.json": true, ".netrc": true, "_netrc": true,
	".env": true, ".pgpass": true, ".git-credentials": true, ".npmrc": true, ".pypirc": true, "id_rsa": true, "id_dsa": true, "id_ecdsa": true,
	"id_ed25519": true, "mcp-oauth-tokens.json": true, "google_accounts.json": true, "application_default_credentials.json": true,
	"secrets.json":               true, // Cline
	"prod-mc-auth-mgmt-api.json": true, // xAI's export of an account: sessions and hashes of keys
}

// isCredential also knows a name with the number that a browser appends to that of another download: "credentials (1).json".
func isCredential(p string) bool {
	name := path.Base(p)
	before, numbered, _ := strings.Cut(name, "(")
	number, after, closed := strings.Cut(numbered, ")")
	if closed && number != "" && strings.Trim(number, "0123456789") == "" {
		name = strings.TrimSuffix(before, " ") + after
	}
	return credentials[name]
}

// file is a regular file of a source.
type file struct {
	path  string // below the source's root, with slashes
	size  int64
	mtime int64 // nanoseconds
}

// claimed is a file with its class.
type claimed struct {
	*file
	*class
}

// claimed returns a file from the queue.
func (s *scan) claimed(f listing.File) *claimed {
	return &claimed{&file{f.Path, f.Size, f.ModTime}, s.classes.get(f.Class)}
}

// class is the format and the claim of a file. A classTable interns it, so that a million files with few classes take little memory.
// format is nil for files that no format claims.
type class struct {
	format format.Format
	claim  format.Claim
	root   string // the root of a format that the file belongs to, "" for a file that stands alone
	isZip  bool   // it is stored as the files in it
	failed bool   // a format could not say what the file is: see format.Bug
}

// classTable interns classes and numbers them.
type classTable struct {
	mu  sync.Mutex
	ids map[class]uint32
	all []*class
}

// intern returns the number of a class.
func (t *classTable) intern(v class) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok := t.ids[v]
	if !ok {
		if t.ids == nil {
			t.ids = map[class]uint32{}
		}
		id = uint32(len(t.all))
		t.ids[v], t.all = id, append(t.all, &v)
	}
	return id
}

func (t *classTable) get(id uint32) *class {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[id]
}

func (c *claimed) formatName() string {
	if c.format == nil {
		return ""
	}
	return c.format.Name()
}

// notOpened replaces the number of a file that could not be opened.
const notOpened = math.MaxUint32

// detect classifies the files that match, on all cores, and returns the numbers of those that could be opened.
func (s *scan) detect(ctx context.Context, match func(uint32, *listing.Entry) bool) ([]uint32, error) {
	var todo []uint32
	for i, e := range s.files.All {
		if match(i, e) {
			todo = append(todo, i)
		}
	}
	var next, done atomic.Int64
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range workers() {
		wait.Go(func() {
			head := make([]byte, format.HeadSize)
			files := sourcefs.Opener{Root: s.dir}
			defer files.Close()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(todo) || ctx.Err() != nil {
					return
				}
				e := s.files.At(todo[i])
				f := &file{s.files.Path(todo[i]), e.Size, e.ModTime}
				cl, err := s.classify(&files, f, head)
				e.Class = s.classes.intern(cl)
				if err != nil {
					stage := "detect"
					if !cl.failed {
						stage, todo[i] = "open", notOpened
					}
					mu.Lock()
					s.problem(f.path, stage, err)
					mu.Unlock()
				}
				if n := done.Add(1); n%200 == 0 {
					s.g.progress(Progress{Stage: "detect", Files: n, TotalFiles: int64(len(todo))})
				}
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(todo, func(i uint32) bool { return i == notOpened }), ctx.Err()
}

// classify opens a file and returns its class. The error of a class that failed is a *format.Bug.
func (s *scan) classify(files *sourcefs.Opener, file *file, head []byte) (c class, err error) {
	if isCredential(file.path) {
		c.claim.Skip = true
		return c, nil
	}
	f, _, err := files.Open(file.path)
	if errors.Is(err, os.ErrNotExist) {
		c.claim.Skip = true // gone already
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer f.Close()
	n, err := f.ReadAt(head[:min(int64(len(head)), file.size)], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return c, err
	}
	h := s.head(file.path)
	h.Size, h.Bytes = file.size, head[:n]
	c, bug := s.g.ask(h)
	if c.claim.Strength == format.None && !c.claim.Skip && isZip(file.path) {
		if list, err := zipped.Open(f, h.Size); err == nil {
			var failed error
			c.format, c.claim, failed = exportFormat(s.g.Formats, file.path, list)
			c.isZip = c.format != nil
			if _, ok := errors.AsType[*format.Bug](failed); ok && !c.isZip {
				c.failed, bug = true, cmp.Or(bug, failed)
			}
		}
	}
	return c, bug
}

// ask asks the formats about a file, and returns its class by the strongest claim. If a format fails, the error is its bug and the claims of the others
// hold.
func (g *Ingester) ask(h format.Head) (c class, bug error) {
	for _, candidate := range g.Formats {
		if c.claim.Strength == format.Certain { // no claim is stronger; only a Withholder may overrule it
			yes, err := format.Withholds(candidate, h)
			if bug = cmp.Or(bug, err); !yes {
				continue
			}
		}
		claim, err := format.Detect(candidate, h)
		if claim.Strength > c.claim.Strength || claim.Skip {
			c.format, c.claim = candidate, claim
		}
		bug = cmp.Or(bug, err)
	}
	c.failed = bug != nil
	c.claim.Root = index.RelPath(h.Dir, c.claim.Root)
	if c.claim.Strength == format.None && !c.claim.Skip || c.claim.Role == format.Other {
		c.format = nil
	}
	return c, bug
}

// head returns the Head of a file with its path alone.
func (s *scan) head(p string) format.Head { return headOf(toSlash(s.root.Dir), p) }

func headOf(dir, p string) format.Head { return format.Head{Path: path.Join(dir, p), Dir: dir} }

// clampRoot limits a root to the source: "." for a root that lies above it.
func clampRoot(root string) string {
	if root == ".." || strings.HasPrefix(root, "../") {
		return "."
	}
	return root
}

// ownedRoots returns the directories that claims make roots, each with the name of its format. If two formats claim one, the first by name gets it.
func (t *classTable) ownedRoots() map[string]string {
	all := map[string]string{}
	for _, cl := range t.all {
		if cl.claim.Root == "" || cl.claim.Strength <= format.Weak || cl.claim.Skip {
			continue
		}
		r, name := clampRoot(path.Clean(cl.claim.Root)), ""
		if cl.format != nil {
			name = cl.format.Name()
		}
		if have := all[r]; have == "" || name != "" && name < have {
			all[r] = name
		}
	}
	return all
}

// mergeRoots returns all roots of a source, those known before and those found now, sorted; and the ones that are
// new.
func mergeRoots(known []string, owners map[string]string) (all, fresh []string) {
	before := map[string]bool{}
	for _, r := range known {
		before[r] = true
	}
	for _, r := range slices.Sorted(maps.Keys(owners)) {
		if !before[r] {
			fresh = append(fresh, r)
		}
	}
	all = slices.Concat(known, fresh)
	slices.Sort(all)
	return all, fresh
}

// ignored is a file that belongs to no format.
type ignored struct {
	path uint64 // see pathHash
	stat index.Stat
}

// selectFiles returns the files to store: those of a format, those below a root (with the role Other), and with All the rest. It settles their classes.
func (s *scan) selectFiles(files []uint32, roots []string) []uint32 {
	return slices.DeleteFunc(files, func(i uint32) bool {
		e := s.files.At(i)
		cl := *s.classes.get(e.Class)
		if cl.claim.Skip {
			s.report.LeftOut++
			if p := s.files.Path(i); strings.HasSuffix(p, "-wal") { // else its database would be read at each scan: see recheckDatabases
				s.recordIgnored(p, e)
			}
			return true
		}
		p := s.files.Path(i)
		below := deepestRoot(p, roots)
		switch {
		case cl.format != nil:
			cl.root = cmp.Or(cl.claim.Root, below)
		case below != "" || cl.claim.Role == format.Other:
			cl.root, cl.claim.Role = below, format.Other
		case s.g.All:
			cl.claim.Role = format.Other
		default:
			s.report.Ignored++
			if !cl.failed {
				s.recordIgnored(p, e)
			}
			return true
		}
		e.Class = s.classes.intern(cl)
		return false
	})
}

// recordIgnored records the metadata of a file that is not stored, so that the next scan does not open it again.
func (s *scan) recordIgnored(p string, e *listing.Entry) {
	s.ignored = append(s.ignored, ignored{pathHash(p), index.Stat{Size: e.Size, ModTime: e.ModTime, Inode: e.Inode, Ignored: true}})
}

// underRoot reports whether a path lies below a root of a format. Only there does a file that cannot be archived matter.
func underRoot(p string, roots []string) bool { return deepestRoot(p, roots) != "" }
