package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/dbcopy"
)

func workers() int { return max(2, runtime.GOMAXPROCS(0)) }

// keeper is what the workers of one scan share.
type keeper struct {
	mu       sync.Mutex
	stats    map[uint64]index.Stat // to remember once everything before them is committed
	saved    bool                  // some of it is written
	distrust map[string]bool
	sizes    map[int64]bool    // of content that is stored or on its way
	content  map[blob.Ref]bool // on its way
	facts    []blob.Fact       // that came up while files were read
	met      []uint64          // of an index that was empty: a bit for each content of this scan, and for those that look like it
}

// store sends the files through workers, packs and commits, and ends with the facts of the scan.
func (s *scan) store(ctx context.Context, work *queue, facts []blob.Fact) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.load, s.wholes = newLoad(), newWholes()
	s.keeper = &keeper{stats: map[uint64]index.Stat{}, distrust: map[string]bool{}, sizes: map[int64]bool{}, content: map[blob.Ref]bool{}}
	if s.empty {
		s.keeper.met = make([]uint64, metContents/64)
	}
	deliveries, commits := make(chan delivery, 2), make(chan *batch)
	var group sync.WaitGroup
	fail := func(err error) {
		if err != nil {
			cancel(err)
		}
	}
	group.Go(func() { fail(s.commits(ctx, commits)) })
	group.Go(func() { fail(s.gather(ctx, deliveries, commits, facts)) })
	s.read(ctx, work, deliveries, fail)
	close(deliveries)
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return s.saveStats(ctx)
}

// read runs the workers until every file was looked at.
func (s *scan) read(ctx context.Context, work *queue, out chan<- delivery, fail func(error)) {
	var files, bytes atomic.Int64
	var mu sync.Mutex
	var wait sync.WaitGroup
	var lexicon index.Lexicon
	for range workers() {
		wait.Go(func() {
			w := &worker{s: s, ctx: ctx, out: out, files: opener{root: s.dir}, builder: pack.NewBuilder(pack.Options{}), collector: index.NewCollector(&lexicon)}
			defer w.files.Close()
			for c := range work.left {
				if ctx.Err() != nil {
					break
				}
				if err := w.take(c); err != nil && ctx.Err() == nil && !errors.Is(err, os.ErrNotExist) {
					mu.Lock()
					s.problem(c.path, "read", err)
					mu.Unlock()
				}
				s.g.progress(Progress{Stage: "store", Path: c.path, Files: files.Add(1), TotalFiles: work.count, Bytes: bytes.Add(c.size), TotalBytes: work.bytes})
			}
			if err := w.flush(); err != nil {
				fail(err)
			}
		})
	}
	wait.Wait()
}

// gather puts what the workers deliver into packs.
func (s *scan) gather(ctx context.Context, deliveries <-chan delivery, commits chan<- *batch, facts []blob.Fact) error {
	defer close(commits)
	b := &batcher{g: s.g, ctx: ctx, commits: commits}
	tick := time.NewTicker(batchTime / 4)
	defer tick.Stop()
	for open := true; open; {
		select {
		case d, ok := <-deliveries:
			if open = ok; !ok {
				break
			}
			if err := b.add(d); err != nil {
				return errors.Join(err, b.abort())
			}
		case <-tick.C:
			if b.stale() {
				if err := b.seal(); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return errors.Join(ctx.Err(), b.abort())
		}
	}
	return s.finish(ctx, b, facts)
}

// finish seals the last pack with the facts of the scan in it: the source and its roots, and the files that could
// not be taken.
func (s *scan) finish(ctx context.Context, b *batcher, facts []blob.Fact) error {
	for _, p := range b.waiting {
		s.skipped = append(s.skipped, FileError{Source: p.version.Source, Path: p.version.Path, Stage: "store",
			Reason: "has the content of a file that could not be stored; the next scan takes it"})
		s.distrust(p.version.Path)
	}
	s.report.Problems = append(s.report.Problems, s.skipped...)
	problems, err := s.problemFacts(ctx, s.skipped)
	if err != nil {
		return errors.Join(err, b.abort())
	}
	facts = append(append(facts, problems...), s.keeper.facts...)
	source, err := s.sourceFact(ctx)
	if err != nil {
		return errors.Join(err, b.abort())
	}
	if b.current != nil || len(facts) > 0 || !s.first { // of a directory without anything there is nothing to follow
		facts = append(source, facts...)
	}
	if len(facts) > 0 {
		if err := b.begin(); err != nil {
			return err
		}
		b.current.facts = facts
	}
	return b.seal()
}

func (b *batcher) abort() error {
	if b.current == nil {
		return nil
	}
	return b.current.writer.Abort()
}

// commits puts batches into the index, one after another.
func (s *scan) commits(ctx context.Context, batches <-chan *batch) error {
	for c := range batches {
		if ctx.Err() != nil {
			continue // the packs are durable; the next writer adopts them
		}
		if err := s.g.commit(ctx, c); err != nil {
			return err
		}
		s.committed(c)
		s.load.give(c.room)
		if err := s.saveSome(ctx, c); err != nil {
			return err
		}
		s.g.progress(Progress{Stage: "commit", Bytes: c.raw})
	}
	return nil
}

// committed counts what a batch brought, and remembers the metadata of files that are complete.
func (s *scan) committed(c *batch) {
	r := s.report
	r.Packs++
	r.StoredBytes += c.pack.Size
	for _, p := range c.pieces {
		r.RawBytes += p.size
		if p.rows != nil {
			r.count(p.rows)
		}
		if !p.last {
			continue
		}
		switch {
		case p.kind == pieceGrown:
			r.Grown++
		case p.kind == pieceRewritten:
			r.Rewritten++
		case p.kind == pieceNew && p.copy:
			r.Copies++
		case p.kind == pieceNew:
			r.New++
		}
		s.remember(p.version.Path, p.stat)
	}
}

// remember keeps the metadata of a file for the next scan.
func (s *scan) remember(p string, stat index.Stat) {
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	s.keeper.stats[pathHash(p)] = stat
}

// distrust makes the next scan read a file again whatever its metadata say.
func (s *scan) distrust(p string) {
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	s.keeper.distrust[p] = true
}

// statsKept is how much of the metadata of files is kept in memory.
const statsKept = 1 << 16

// saveSome makes room where many files are scanned: what is committed the index knows, and of metadata a part is
// written early.
func (s *scan) saveSome(ctx context.Context, c *batch) error {
	k := s.keeper
	k.mu.Lock()
	for _, p := range c.pieces {
		delete(k.content, p.version.SHA256)
	}
	if len(k.stats) < statsKept {
		k.mu.Unlock()
		return nil
	}
	k.mark()
	stats := k.stats
	k.stats, k.saved = map[uint64]index.Stat{}, true
	k.mu.Unlock()
	return s.g.Index.SaveStats(ctx, s.root.Source, stats, nil)
}

// mark makes the metadata of what is not trusted worthless, also of what was written early.
func (k *keeper) mark() {
	for p := range k.distrust {
		hash := pathHash(p)
		if stat, ok := k.stats[hash]; ok || k.saved {
			stat.ModTime = -1
			k.stats[hash] = stat
		}
	}
}

// saveStats writes what the next scan may skip: what was stored, and what was left alone.
func (s *scan) saveStats(ctx context.Context) error {
	k := s.keeper
	k.mark()
	for _, f := range s.ignored {
		k.stats[f.path] = f.stat
		if len(k.stats) < statsKept {
			continue
		}
		if err := s.g.Index.SaveStats(ctx, s.root.Source, k.stats, nil); err != nil {
			return err
		}
		k.stats = map[uint64]index.Stat{}
	}
	var gone []uint64
	if s.root.Below == "." {
		for i, seen := range s.seen {
			if hash, stat := s.before.At(i); !seen && stat.Inode != partInode {
				gone = append(gone, hash)
			}
		}
	}
	return s.g.Index.SaveStats(ctx, s.root.Source, k.stats, gone)
}

// hasSize says whether content of this size may be stored already, or on its way.
func (s *scan) hasSize(size int64) bool {
	s.keeper.mu.Lock()
	known := s.keeper.sizes[size]
	s.keeper.sizes[size] = true
	s.keeper.mu.Unlock()
	if known {
		return true
	}
	has, err := s.g.Index.HasSize(context.Background(), size)
	return err == nil && has
}

// hasContent says whether content is stored or on its way, and notes that it is now.
func (s *scan) hasContent(ref blob.Ref, size int64) bool {
	if size == 0 {
		return false // an entry of no bytes costs no more than a link
	}
	s.keeper.mu.Lock()
	fresh := s.keeper.meet(ref)
	known := s.keeper.content[ref]
	s.keeper.content[ref] = true
	s.keeper.mu.Unlock()
	if known || fresh || !s.hasSize(size) {
		return known
	}
	_, err := s.g.stored(context.Background(), ref)
	return err == nil
}

// metContents is how many contents of a first scan are told apart, in 2 MiB: of a million, the index is asked for each sixteenth.
const metContents = 1 << 24

// meet says that content is nowhere in the archive yet, as far as that needs no look, and notes that it is now.
func (k *keeper) meet(ref blob.Ref) (fresh bool) {
	if k.met == nil {
		return false
	}
	at := binary.LittleEndian.Uint64(ref[:]) % metContents
	bit := uint64(1) << (at % 64)
	fresh = k.met[at/64]&bit == 0
	k.met[at/64] |= bit
	return fresh
}

// snapshot copies a database that may be in use and returns the copy.
func snapshot(ctx context.Context, files *opener, c *claimed) (*os.File, func(), error) {
	dir, remove, err := disk.Scratch("db")
	if err != nil {
		return nil, nil, err
	}
	clean := func() { _ = remove() } // what stays is removed by the next that is made
	copied, err := dbcopy.Snapshot(ctx, dir, func(suffix string) (*os.File, error) {
		f, _, err := files.openFile(c.path + suffix)
		return f, err
	})
	if err != nil {
		clean()
		return nil, nil, err
	}
	f, err := os.Open(filepath.Clean(copied))
	if err != nil {
		clean()
		return nil, nil, err
	}
	return f, func() { f.Close(); clean() }, nil
}
