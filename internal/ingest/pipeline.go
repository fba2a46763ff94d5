package ingest

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/ingest/listing"
	"github.com/txarchive/txarchive/internal/ingest/sourcefs"
)

func workers() int { return max(2, runtime.GOMAXPROCS(0)) }

// storeAll runs the files through workers, packs and commits, then writes the facts and the metadata of the scan.
func (s *scan) storeAll(ctx context.Context, work *listing.Queue, facts []blob.Fact) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.rowBudget, s.documentBudget = newRowBudget(), newDocumentBudget()
	s.shared = &sharedState{pendingStats: map[uint64]index.Stat{}, untrusted: map[string]bool{}, sizes: map[int64]bool{}, inFlight: map[blob.Ref]bool{}}
	if s.emptyIndex {
		s.shared.contentFilter = index.NewBloomFilter(contentFilterBits)
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
func (s *scan) runWorkers(ctx context.Context, work *listing.Queue, out chan<- delivery, fail func(error)) {
	var files, bytes atomic.Int64
	var mu sync.Mutex
	var wait sync.WaitGroup
	var terms lexicon.Lexicon
	for range workers() {
		wait.Go(func() {
			w := &worker{s: s, ctx: ctx, deliveries: out, files: sourcefs.Opener{Root: s.dir}, builder: pack.NewBuilder(pack.Options{}), collector: s.g.newCollector(&terms)}
			defer w.files.Close()
			for f := range work.Drain {
				c := s.claimed(f)
				if ctx.Err() != nil {
					break
				}
				if err := w.process(c); err != nil && ctx.Err() == nil {
					s.markUnread(c.path)
					if !errors.Is(err, os.ErrNotExist) {
						mu.Lock()
						s.problem(c.path, "read", err)
						mu.Unlock()
					}
				}
				s.g.progress(Progress{Stage: "store", Path: c.path, Files: files.Add(1), TotalFiles: work.Count, Bytes: bytes.Add(c.size), TotalBytes: work.Bytes})
			}
			if err := w.flush(); err != nil {
				fail(err)
			}
		})
	}
	wait.Wait()
}

// packDeliveries puts what the workers deliver into packs, and seals a pack when it is full or old. The first says what the source
// is: an ingest that is interrupted has stored files of a source that is followed.
func (s *scan) packDeliveries(ctx context.Context, deliveries <-chan delivery, commits *commits, facts []blob.Fact) error {
	defer close(commits.batches)
	source, err := s.sourceFact(ctx)
	if err != nil {
		return err
	}
	b := &batcher{g: s.g, ctx: ctx, commits: commits, facts: source}
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

// finish seals the last pack with the facts of the scan: the roots of the source, and the files that could not be archived.
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
	if len(facts) > 0 || len(b.facts) > 0 && !s.newSource { // an empty directory does not become a source
		if err := b.ensureBatch(); err != nil {
			return err
		}
		b.current.facts = append(b.current.facts, facts...)
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
