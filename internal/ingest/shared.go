package ingest

import (
	"context"
	"encoding/binary"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// sharedState is what the workers of one scan share. mu guards it.
type sharedState struct {
	mu           sync.Mutex
	pendingStats map[uint64]index.Stat // metadata to save once everything before it is committed
	statsFlushed bool                  // some of it is saved already
	untrusted    map[string]bool       // paths that the next scan must read whatever their metadata says
	sizes        map[int64]bool        // of content that is stored or in flight
	inFlight     map[blob.Ref]bool     // content that a worker has and the index lacks
	facts        []blob.Fact           // found while files were read
	// contentFilter has the hashes of this scan's content, used if the index was empty: see addIfAbsent.
	contentFilter index.BloomFilter
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

// markUnread makes the next scan read a file that this one could not: of a database it may be the log alone that has changed, and that is not
// looked at again.
func (s *scan) markUnread(p string) {
	if _, _, known := s.statCache.Find(pathHash(p)); known {
		s.recordStat(p, index.Stat{ModTime: -1})
	}
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

// addIfAbsent records a content hash and reports whether it was certainly new to the archive. False means "unknown, ask the index".
func (k *sharedState) addIfAbsent(ref blob.Ref) (isNew bool) {
	return !k.contentFilter.Add(int64(binary.LittleEndian.Uint64(ref[:])))
}
