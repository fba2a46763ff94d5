package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/price"
)

// increments measures an ingest that finds nothing new, and one that finds a session of a large archive longer by a
// line.
func (b *bench) increments(ctx context.Context) error {
	measurements := []func() (cost, error){func() (cost, error) { return b.tx(ctx, "ingest", "--quiet", b.corpus) }}
	beside := b.has("find", "second ingest beside find -printf")
	if beside {
		measurements = append(measurements, func() (cost, error) { return timed(ctx, "find", b.corpus, "-printf", "%s %T@ %p\n") })
	}
	got, err := b.interleaved(3*b.runs, measurements...)
	if err != nil {
		return err
	}
	b.set("nothing new, wall", "ms", each(got[0], func(c cost) float64 { return wall(c) * 1000 })...)
	b.set("nothing new, CPU", "ms", each(got[0], func(c cost) float64 { return cpu(c) * 1000 })...)
	if beside {
		b.set("find -printf, wall", "ms", each(got[1], func(c cost) float64 { return wall(c) * 1000 })...)
		b.set("nothing new / find -printf, wall", "", ratios(got[0], got[1], wall)...)
	}
	return b.append(ctx)
}

// appends is how many lines are appended: first with whole commands, then with an ingest in this process that
// measures its commits.
const appends = 20

func (b *bench) append(ctx context.Context) error {
	if b.given != "" {
		b.lack("a generator of the corpus", "one session appended to")
		return nil
	}
	session, err := b.session(ctx)
	if err != nil || session == nil {
		return err
	}
	if _, err := b.tx(ctx, "ingest", "--quiet", session.dir); err != nil {
		return err
	}
	var commands []cost
	for range appends {
		if err := session.grow(); err != nil {
			return err
		}
		c, err := b.tx(ctx, "ingest", "--quiet", session.dir)
		if err != nil {
			return err
		}
		commands = append(commands, c)
	}
	commits, err := b.appendInside(ctx, session)
	if err != nil {
		return err
	}
	b.set("a line more, whole command, wall", "ms", each(commands, func(c cost) float64 { return wall(c) * 1000 })...)
	b.set("a line more, whole command, CPU", "ms", each(commands, func(c cost) float64 { return cpu(c) * 1000 })...)
	b.set("a line more, commit, wall", "ms", each(commits, func(c cost) float64 { return wall(c) * 1000 })...)
	slices.SortFunc(commits, func(a, b cost) int { return int(a.wall - b.wall) })
	b.set("a line more, commit, wall, p95", "ms", wall(commits[len(commits)*95/100])*1000)
	return nil
}

// timedIndex is the index of an archive, and measures its commits.
type timedIndex struct {
	*sqlite.DB
	commits []cost
}

func (t *timedIndex) Commit(ctx context.Context, batch index.Batch) error {
	c, err := measured(func() error { return t.DB.Commit(ctx, batch) })
	t.commits = append(t.commits, c)
	return err
}

func (b *bench) appendInside(ctx context.Context, s *session) ([]cost, error) {
	a, err := archive.Open(ctx, b.archive, archive.Write, archive.Options{Command: "bench"})
	if err != nil {
		return nil, err
	}
	timed := &timedIndex{DB: a.Index()}
	err = s.ingest(ctx, a, timed)
	if err := errors.Join(err, a.Close()); err != nil {
		return nil, err
	}
	if len(timed.commits) < appends {
		return nil, fmt.Errorf("%d commits of %d lines that were appended", len(timed.commits), appends)
	}
	return timed.commits, nil
}

// ingest appends lines and ingests each.
func (s *session) ingest(ctx context.Context, a *archive.Archive, timed *timedIndex) error {
	g := ingest.Ingester{Packs: a.Packs(), Originals: a.Library(), Index: timed, Formats: all.Formats(), Prices: price.Default(), Writer: a.WriterID()}
	roots, err := source.Resolve(ctx, a.Index(), []string{s.dir})
	if err != nil {
		return err
	}
	for range appends {
		if err := s.grow(); err != nil {
			return err
		}
		if _, err := g.Run(ctx, roots); err != nil {
			return err
		}
	}
	return nil
}

// session is a file of lines that grows.
type session struct {
	dir, path string
	rest      []byte // lines not yet appended
	at        time.Time
}

// session puts a small corpus with another seed next to the large one, and truncates its file with the most lines.
func (b *bench) session(ctx context.Context) (*session, error) {
	small, err := b.generate(ctx, 2, b.seed+1000)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(b.dir, "growing")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.CopyFS(dir, os.DirFS(small)); err != nil {
		return nil, err
	}
	s := &session{dir: dir, at: time.Now().Add(-24 * time.Hour)}
	lines := 0
	if err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(p) != ".jsonl" {
			return err
		}
		content, err := os.ReadFile(p)
		if n := bytes.Count(content, []byte("\n")); err == nil && n > lines {
			s.path, s.rest, lines = p, content, n
		}
		return err
	}); err != nil {
		return nil, err
	}
	if lines < 3*appends {
		b.lack("a file of enough lines in this format", "one session appended to")
		return nil, nil
	}
	content := s.rest
	for range lines - 2*appends {
		s.rest = s.rest[bytes.IndexByte(s.rest, '\n')+1:]
	}
	return s, s.write(content[:len(content)-len(s.rest)], os.O_TRUNC)
}

// grow appends the next line.
func (s *session) grow() error {
	n := bytes.IndexByte(s.rest, '\n') + 1
	line := s.rest[:n]
	s.rest = s.rest[n:]
	return s.write(line, os.O_APPEND)
}

// write writes to the file and sets a new modification time, old enough for the scan cache to trust it.
func (s *session) write(content []byte, how int) error {
	f, err := os.OpenFile(s.path, os.O_WRONLY|how, 0)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	s.at = s.at.Add(time.Minute)
	return os.Chtimes(s.path, s.at, s.at)
}
