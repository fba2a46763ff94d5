package ingest

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
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
}

// stances has one of each.
type stances struct {
	mu  sync.Mutex
	all map[stance]*stance
}

func (s *stances) of(v stance) *stance {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.all[v]; have != nil {
		return have
	}
	if s.all == nil {
		s.all = map[stance]*stance{}
	}
	s.all[v] = &v
	return &v
}

func (c *claimed) formatName() string {
	if c.format == nil {
		return ""
	}
	return c.format.Name()
}

// detect asks the formats what the files are that are meant.
func (s *scan) detect(ctx context.Context, meant func(*file) bool) ([]*claimed, error) {
	var todo []*claimed
	for i := range s.files {
		if f := &s.files[i]; meant(f) {
			todo = append(todo, &claimed{file: f})
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
				said, err := s.ask(&files, todo[i].file, head)
				todo[i].stance = s.stances.of(said)
				if err != nil {
					mu.Lock()
					s.problem(todo[i].path, "open", err)
					mu.Unlock()
					todo[i] = nil
				}
				if n := done.Add(1); n%200 == 0 {
					s.g.progress(Progress{Stage: "detect", Files: n, TotalFiles: int64(len(todo))})
				}
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(todo, func(c *claimed) bool { return c == nil }), ctx.Err()
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
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return c, err
	}
	h := format.Head{Path: file.path, Size: file.size, Bytes: head[:n]}
	for _, f := range s.g.Formats {
		if claim := f.Detect(h); claim.Strength > c.claim.Strength || claim.Skip {
			c.format, c.claim = f, claim
		}
	}
	if c.claim.Strength == format.None && !c.claim.Skip || c.claim.Role == format.Other {
		c.format = nil
	}
	return c, nil
}

// roots returns the directories that formats own in this source, those known before and those that files of this
// scan make, sorted; and which of them are new.
func (s *scan) roots(known []string, files []*claimed) (all, fresh []string) {
	all = slices.Clone(known)
	for _, c := range files {
		r := c.claim.Root
		if r == "" || c.claim.Strength <= format.Weak || c.claim.Skip {
			continue
		}
		r = path.Clean(r)
		if !slices.Contains(all, r) {
			all = append(all, r)
			fresh = append(fresh, r)
		}
	}
	slices.Sort(all)
	return all, fresh
}

// settle decides what becomes of each file: with its format, as another file of a root, or not at all.
func (s *scan) settle(files []*claimed, roots []string) []*claimed {
	return slices.DeleteFunc(files, func(c *claimed) bool {
		if c.claim.Skip {
			s.report.LeftOut++
			return true
		}
		below, said := deepest(c.path, roots), *c.stance
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
			s.ignored[c.path] = index.Stat{Size: c.size, ModTime: c.mtime, Inode: c.inode, Ignored: true}
			return true
		}
		c.stance = s.stances.of(said)
		return false
	})
}

// underRoot says whether a path that was skipped matters: only below a root of a format.
func underRoot(p string, roots []string) bool { return deepest(p, roots) != "" }
