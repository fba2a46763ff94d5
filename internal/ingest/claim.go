package ingest

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/zipped"
)

// credentials are whole names of files that hold secrets of programs and are never archived, wherever they lie
// (docs/cli.md lists them).
var credentials = map[string]bool{
	"auth.json": true, ".credentials.json": true, "oauth_creds.json": true, "credentials.json": true, ".netrc": true, "_netrc": true,
	".env": true, ".pgpass": true, ".git-credentials": true, ".npmrc": true, ".pypirc": true, "id_rsa": true, "id_dsa": true, "id_ecdsa": true,
	"id_ed25519": true, "mcp-oauth-tokens.json": true, "google_accounts.json": true, "application_default_credentials.json": true,
	"secrets.json": true, // Cline
}

// claimed is a file with what its format says of it.
type claimed struct {
	*file
	*stance
}

// stance is what a format says of a file; many files share one, so that a million of them take little. format is nil
// for files that lie below a root and are claimed by none.
type stance struct {
	format format.Format
	claim  format.Claim
	root   string // of the format, "" for a file that stands alone
	zip    bool   // it is taken apart into the files in it
}

// stances has one of each, called by their numbers.
type stances struct {
	mu  sync.Mutex
	ids map[stance]uint32
	all []*stance
}

func (s *stances) of(v stance) uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.ids[v]
	if !ok {
		if s.ids == nil {
			s.ids = map[stance]uint32{}
		}
		id = uint32(len(s.all))
		s.ids[v], s.all = id, append(s.all, &v)
	}
	return id
}

func (s *stances) at(id uint32) *stance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[id]
}

func (c *claimed) formatName() string {
	if c.format == nil {
		return ""
	}
	return c.format.Name()
}

// nobody is the number of a file that could not be opened.
const nobody = math.MaxUint32

// detect asks the formats what the files are that are meant, and gives those that could be opened.
func (s *scan) detect(ctx context.Context, meant func(uint32, *entry) bool) ([]uint32, error) {
	var todo []uint32
	for i, e := range s.files.all {
		if meant(i, e) {
			todo = append(todo, i)
		}
	}
	var next, done atomic.Int64
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range workers() {
		wait.Go(func() {
			head := make([]byte, format.HeadSize)
			files := opener{root: s.dir}
			defer files.Close()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(todo) || ctx.Err() != nil {
					return
				}
				e, f := s.files.at(todo[i]), s.files.file(todo[i])
				said, err := s.ask(&files, f, head)
				e.stance = s.stances.of(said)
				if err != nil {
					mu.Lock()
					s.problem(f.path, "open", err)
					mu.Unlock()
					todo[i] = nobody
				}
				if n := done.Add(1); n%200 == 0 {
					s.g.progress(Progress{Stage: "detect", Files: n, TotalFiles: int64(len(todo))})
				}
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(todo, func(i uint32) bool { return i == nobody }), ctx.Err()
}

// ask finds the strongest claim on one file.
func (s *scan) ask(files *opener, file *file, head []byte) (c stance, err error) {
	if credentials[path.Base(file.path)] {
		c.claim.Skip = true
		return c, nil
	}
	f, _, err := files.open(file.path)
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
	for _, one := range s.g.Formats {
		if c.claim.Strength == format.Certain { // nobody claims more
			if w, ok := one.(format.Withholder); !ok || !w.Withholds(h) {
				continue
			}
		}
		if claim := one.Detect(h); claim.Strength > c.claim.Strength || claim.Skip {
			c.format, c.claim = one, claim
		}
	}
	c.claim.Root = index.RelPath(h.Dir, c.claim.Root)
	if c.claim.Strength == format.None && !c.claim.Skip || c.claim.Role == format.Other {
		c.format = nil
	}
	if c.claim.Strength == format.None && !c.claim.Skip && isZip(file.path) {
		if list, err := zipped.Open(f, h.Size); err == nil {
			c.format, c.claim, _ = exported(s.g.Formats, file.path, list)
			c.zip = c.format != nil
		}
	}
	return c, nil
}

// head is what a format sees of a file by its path alone.
func (s *scan) head(p string) format.Head {
	dir := slashed(s.root.Dir)
	return format.Head{Path: path.Join(dir, p), Dir: dir}
}

// here is a directory that a format owns as far as it lies in the source: all of that where the source begins inside of it.
func here(root string) string {
	if root == ".." || strings.HasPrefix(root, "../") {
		return "."
	}
	return root
}

// owners are the directories that formats own because of files which were asked, and the names of the formats. Where two
// formats want one, the first by name has it.
func (s *scan) owners() map[string]string {
	all := map[string]string{}
	for _, said := range s.stances.all {
		if said.claim.Root == "" || said.claim.Strength <= format.Weak || said.claim.Skip {
			continue
		}
		r, name := here(path.Clean(said.claim.Root)), ""
		if said.format != nil {
			name = said.format.Name()
		}
		if have := all[r]; have == "" || name != "" && name < have {
			all[r] = name
		}
	}
	return all
}

// together returns the directories that formats own in this source, those known before and those that files of this
// scan make, sorted; and which of them are new.
func together(known []string, owners map[string]string) (all, fresh []string) {
	before := map[string]bool{}
	for _, r := range known {
		before[r] = true
	}
	for _, r := range sortedKeys(owners) {
		if !before[r] {
			fresh = append(fresh, r)
		}
	}
	all = slices.Concat(known, fresh)
	slices.Sort(all)
	return all, fresh
}

// ignored is a file that belongs to nothing known.
type ignored struct {
	path uint64 // its hash
	stat index.Stat
}

// settle decides what becomes of each file: with its format, as another file of a root, or not at all.
func (s *scan) settle(files []uint32, roots []string) []uint32 {
	return slices.DeleteFunc(files, func(i uint32) bool {
		e := s.files.at(i)
		said := *s.stances.at(e.stance)
		if said.claim.Skip {
			s.report.LeftOut++
			if p := s.files.path(i); strings.HasSuffix(p, "-wal") { // or its database would be read at each scan: see wake
				s.leave(p, e)
			}
			return true
		}
		p := s.files.path(i)
		below := deepest(p, roots)
		switch {
		case said.format != nil:
			said.root = said.claim.Root
			if said.root == "" {
				said.root = below
			}
		case below != "" || said.claim.Role == format.Other:
			said.root, said.claim.Role = below, format.Other
		case s.g.All:
			said.claim.Role = format.Other
		default:
			s.report.Ignored++
			s.leave(p, e)
			return true
		}
		e.stance = s.stances.of(said)
		return false
	})
}

// leave remembers a file that was left alone as it is now.
func (s *scan) leave(p string, e *entry) {
	s.ignored = append(s.ignored, ignored{pathHash(p), index.Stat{Size: e.size, ModTime: e.mtime, Inode: e.inode, Ignored: true}})
}

// underRoot says whether a path that was skipped matters: only below a root of a format.
func underRoot(p string, roots []string) bool { return deepest(p, roots) != "" }
