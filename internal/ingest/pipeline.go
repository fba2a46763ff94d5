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
	"github.com/txarchive/txarchive/internal/ingest/sourcefs"
)

func workers() int { return max(2, runtime.GOMAXPROCS(0)) }

// sharedState is what the workers of one scan share. mu guards it.
type sharedState struct {
	mu           sync.Mutex
	pendingStats map[uint64]index.Stat // metadata to save once everything before it is committed
	statsFlushed bool                  // some of it is saved already
	untrusted    map[string]bool       // paths that the next scan must read whatever their metadata says
	sizes        map[int64]bool        // of content that is stored or in flight
	inFlight     map[blob.Ref]bool     // content that a worker has and the index lacks
	facts        []blob.Fact           // found while files were read
	// contentFilter is a bit set over the hashes of this scan's content, used if the index was empty: see addIfAbsent.
	contentFilter []uint64
}

// storeAll runs the files through workers, packs and commits, then writes the facts and the metadata of the scan.
func (s *scan) storeAll(ctx context.Context, work *queue, facts []blob.Fact) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.rowBudget, s.documentBudget = newRowBudget(), newDocumentBudget()
	s.shared = &sharedState{pendingStats: map[uint64]index.Stat{}, untrusted: map[string]bool{}, sizes: map[int64]bool{}, inFlight: map[blob.Ref]bool{}}
	if s.emptyIndex {
		s.shared.contentFilter = make([]uint64, contentFilterBits/64)
	}
	deliveries, commits := make(chan delivery, 2), newCommits()
	var group sync.WaitGroup
	fail := func(err error) {
		if err != nil {
			cancel(err)
		}
	}
	group.Go(func() { fail(s.commitBatches(ctx, commits)) })
	group.Go(func() { fail(s.packDeliveries(ctx, deliveries, commits, facts)) })
	s.runWorkers(ctx, work, deliveries, fail)
	close(deliveries)
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return s.saveStats(ctx)
}

// runWorkers runs the workers until the queue is empty, and collects problems of files.
func (s *scan) runWorkers(ctx context.Context, work *queue, out chan<- delivery, fail func(error)) {
	var files, bytes atomic.Int64
	var mu sync.Mutex
	var wait sync.WaitGroup
	var lexicon index.Lexicon
	for range workers() {
		wait.Go(func() {
			w := &worker{s: s, ctx: ctx, deliveries: out, files: sourcefs.Opener{Root: s.dir}, builder: pack.NewBuilder(pack.Options{}), collector: index.NewCollector(&lexicon)}
			defer w.files.Close()
			for c := range work.drain {
				if ctx.Err() != nil {
					break
				}
				if err := w.process(c); err != nil && ctx.Err() == nil && !errors.Is(err, os.ErrNotExist) {
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

// packDeliveries puts what the workers deliver into packs, and seals a pack when it is full or old.
func (s *scan) packDeliveries(ctx context.Context, deliveries <-chan delivery, commits *commits, facts []blob.Fact) error {
	defer close(commits.batches)
	b := &batcher{g: s.g, ctx: ctx, commits: commits}
	tick := time.NewTicker(batchMaxAge / 4)
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
			if err := b.sealStale(); err != nil {
				return err
			}
		case <-commits.done:
			if err := b.sealStale(); err != nil {
				return err
			}
		case <-ctx.Done():
			return errors.Join(ctx.Err(), b.abort())
		}
	}
	return s.finish(ctx, b, facts)
}

// finish seals the last pack with the facts of the scan: the source, its roots, and the files that could not be archived.
func (s *scan) finish(ctx context.Context, b *batcher, facts []blob.Fact) error {
	for _, p := range b.waitingCopies {
		s.skipped = append(s.skipped, FileError{Source: p.version.Source, Path: p.version.Path, Stage: "store",
			Reason: "has the same content as a file that could not be stored; the next scan stores it"})
		s.markUntrusted(p.version.Path)
	}
	s.report.Problems = append(s.report.Problems, s.skipped...)
	problems, err := s.problemFacts(ctx, s.skipped)
	if err != nil {
		return errors.Join(err, b.abort())
	}
	facts = append(append(facts, problems...), s.shared.facts...)
	source, err := s.sourceFact(ctx)
	if err != nil {
		return errors.Join(err, b.abort())
	}
	if b.current != nil || len(facts) > 0 || !s.newSource { // an empty directory does not become a source
		facts = append(source, facts...)
	}
	if len(facts) > 0 {
		if err := b.ensureBatch(); err != nil {
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

// commitBatches commits batches to the index, one after another.
func (s *scan) commitBatches(ctx context.Context, commits *commits) error {
	for c := range commits.each {
		if ctx.Err() != nil {
			continue // the packs are durable; the next writer adopts them
		}
		if err := s.g.commit(ctx, c); err != nil {
			return err
		}
		s.recordCommitted(c)
		s.rowBudget.release(c.budget)
		if err := s.flushStats(ctx, c); err != nil {
			return err
		}
		s.g.progress(Progress{Stage: "commit", Bytes: c.rawBytes})
	}
	return nil
}

// recordCommitted counts what a batch brought, and records the metadata of files that are complete.
func (s *scan) recordCommitted(c *batch) {
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
		s.recordStat(p.version.Path, p.stat)
	}
}

// recordStat keeps the metadata of a file, which lets the next scan skip the file if it is unchanged.
func (s *scan) recordStat(p string, stat index.Stat) {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	s.shared.pendingStats[pathHash(p)] = stat
}

// markUntrusted makes the next scan read a file again whatever its metadata says.
func (s *scan) markUntrusted(p string) {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	s.shared.untrusted[p] = true
}

// maxPendingStats is the number of files whose metadata is kept in memory before it is saved.
const maxPendingStats = 1 << 16

// flushStats bounds the memory of a scan of many files after a commit: it drops the batch's content from inFlight, since the index has it now,
// and saves the metadata early once there is much of it.
func (s *scan) flushStats(ctx context.Context, c *batch) error {
	k := s.shared
	k.mu.Lock()
	for _, p := range c.pieces {
		delete(k.inFlight, p.version.SHA256)
	}
	if len(k.pendingStats) < maxPendingStats {
		k.mu.Unlock()
		return nil
	}
	k.invalidateUntrusted()
	stats := k.pendingStats
	k.pendingStats, k.statsFlushed = map[uint64]index.Stat{}, true
	k.mu.Unlock()
	return s.g.Index.SaveStats(ctx, s.root.Source, stats, nil)
}

// invalidateUntrusted overwrites the metadata of untrusted files with a value that matches nothing, also where it was saved early.
func (k *sharedState) invalidateUntrusted() {
	for p := range k.untrusted {
		hash := pathHash(p)
		if stat, ok := k.pendingStats[hash]; ok || k.statsFlushed {
			stat.ModTime = -1
			k.pendingStats[hash] = stat
		}
	}
}

// saveStats saves the metadata of the files that the next scan may skip, stored and ignored ones, and removes that of files which are gone.
// A scan of part of a source removes nothing.
func (s *scan) saveStats(ctx context.Context) error {
	k := s.shared
	k.invalidateUntrusted()
	for _, f := range s.ignored {
		k.pendingStats[f.path] = f.stat
		if len(k.pendingStats) < maxPendingStats {
			continue
		}
		if err := s.g.Index.SaveStats(ctx, s.root.Source, k.pendingStats, nil); err != nil {
			return err
		}
		k.pendingStats = map[uint64]index.Stat{}
	}
	var gone []uint64
	if s.root.Below == "." {
		for i, seen := range s.seen {
			if hash, stat := s.statCache.At(i); !seen && stat.Inode != partInode {
				gone = append(gone, hash)
			}
		}
	}
	return s.g.Index.SaveStats(ctx, s.root.Source, k.pendingStats, gone)
}

// mayHaveSize reports whether content of this size may be stored or in flight, and notes that it now is.
func (s *scan) mayHaveSize(size int64) bool {
	s.shared.mu.Lock()
	known := s.shared.sizes[size]
	s.shared.sizes[size] = true
	s.shared.mu.Unlock()
	if known {
		return true
	}
	has, err := s.g.Index.HasSize(context.Background(), size)
	return err == nil && has
}

// hasContent reports whether content is stored or in flight, and notes that it now is.
func (s *scan) hasContent(ref blob.Ref, size int64) bool {
	if size == 0 {
		return false // an empty tar entry costs no more than a link
	}
	s.shared.mu.Lock()
	isNew := s.shared.addIfAbsent(ref)
	known := s.shared.inFlight[ref]
	s.shared.inFlight[ref] = true
	s.shared.mu.Unlock()
	if known || isNew || !s.mayHaveSize(size) {
		return known
	}
	_, err := s.g.findContent(context.Background(), ref)
	return err == nil
}

// contentFilterBits is the size of contentFilter: 2 MiB. With a million contents, the index is asked for one in sixteen.
const contentFilterBits = 1 << 24

// addIfAbsent records a content hash and reports whether it was certainly new to the archive. The filter has one hash function, like a Bloom
// filter with k = 1: false means "unknown, ask the index".
func (k *sharedState) addIfAbsent(ref blob.Ref) (isNew bool) {
	if k.contentFilter == nil {
		return false
	}
	at := binary.LittleEndian.Uint64(ref[:]) % contentFilterBits
	bit := uint64(1) << (at % 64)
	isNew = k.contentFilter[at/64]&bit == 0
	k.contentFilter[at/64] |= bit
	return isNew
}

// snapshot copies a database that may be in use to a scratch directory, and returns the open copy and a function that removes it.
func snapshot(ctx context.Context, files *sourcefs.Opener, c *claimed) (*os.File, func(), error) {
	dir, remove, err := disk.Scratch("db")
	if err != nil {
		return nil, nil, err
	}
	clean := func() { _ = remove() } // a leftover is removed by the next Scratch
	copied, err := dbcopy.Snapshot(ctx, dir, func(suffix string) (*os.File, error) {
		f, _, err := files.OpenFile(c.path + suffix)
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
