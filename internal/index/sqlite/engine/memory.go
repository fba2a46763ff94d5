package engine

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// memoryMethods is sqlite3_mem_methods. SQLite allocates the pages of its cache one by one, each a little more than 4096
// bytes with its header. The C library translated to Go takes 8192 bytes for that: two system pages to fault in, which
// costs more than reading them from disk. This allocator packs pages into slabs. It does the same for small blocks, which
// are most of the allocations: nodes of parsed statements, of which the schema alone has tens of thousands; the C library
// rounds each up to a power of two. Other blocks are allocated as in SQLite itself: the size precedes the block.
var memoryMethods = [...]uintptr{
	*(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, int32) uintptr
	}{allocate})),
	*(*uintptr)(unsafe.Pointer(&struct{ f func(*libc.TLS, uintptr) }{release})),
	*(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, int32) uintptr
	}{reallocate})),
	*(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr) int32
	}{func(_ *libc.TLS, p uintptr) int32 { return *sizeOf(p) }})), // xSize
	*(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, int32) int32
	}{func(_ *libc.TLS, n int32) int32 { return (n + 7) &^ 7 }})), // xRoundup
	*(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr) int32
	}{func(*libc.TLS, uintptr) int32 { return sqlite3.SQLITE_OK }})), // xInit
	*(*uintptr)(unsafe.Pointer(&struct{ f func(*libc.TLS, uintptr) }{func(*libc.TLS, uintptr) {}})), // xShutdown
	0, // pAppData
}

const (
	sizePrefix = 8          // the size and, for a page, its index in its slab
	minPage    = 4000       // a block with the size of a page's content is a page
	maxPage    = 4096 + 272 // with SQLite's header
	pageStride = sizePrefix + maxPage

	// The first slab is enough for a short query, and its pages are faulted in one by one. Later slabs are huge pages
	// where the system has them: a writer accesses its cache at random, which is twice as fast with huge pages. They make
	// an ingest 4 % faster, but a search would pay for zeroing two megabytes.
	firstSlab = 1 << 20
	slabSize  = 2 << 20
)

func isPage(size int32) bool { return size >= minPage && size <= maxPage }

// sizeOf returns where the size of a block is stored, indexOf where the index of a page is.
func sizeOf(p uintptr) *int32  { return deref[int32](p - sizePrefix) }
func indexOf(p uintptr) *int32 { return deref[int32](p - sizePrefix/2) }

func allocate(t *libc.TLS, n int32) uintptr {
	var p uintptr
	if n <= maxSmall {
		p = smallBlocks.alloc(t, n)
	} else if isPage(n) {
		p = pages.alloc(t)
	} else if !spend(t, n) {
		return 0
	} else if p = libc.Xmalloc(t, types.Size_t(n)+sizePrefix); p != 0 {
		p += sizePrefix
	}
	if p != 0 {
		*sizeOf(p) = n
	}
	return p
}

func release(t *libc.TLS, p uintptr) {
	switch n := *sizeOf(p); {
	case n <= maxSmall:
		smallBlocks.release(p, n)
	case isPage(n):
		pages.release(t, p)
	default:
		spend(t, -n)
		libc.Xfree(t, p-sizePrefix)
	}
}

func reallocate(t *libc.TLS, p uintptr, n int32) uintptr {
	was := *sizeOf(p)
	if was <= maxSmall && n <= maxSmall && sizeClass(was) == sizeClass(n) {
		*sizeOf(p) = n
		return p
	}
	if was > maxSmall && n > maxSmall && !isPage(was) && !isPage(n) {
		if !spend(t, n-was) {
			return 0
		}
		if p = libc.Xrealloc(t, p-sizePrefix, types.Size_t(n)+sizePrefix); p == 0 {
			return 0
		}
		p += sizePrefix
		*sizeOf(p) = n
		return p
	}
	to := allocate(t, n)
	if to != 0 {
		copy(unsafe.Slice(deref[byte](to), n), unsafe.Slice(deref[byte](p), was))
		release(t, p)
	}
	return to
}

const (
	maxSmall  = 512        // larger blocks are not small; this excludes most lists of expressions, which double as they grow
	smallStep = 16         // sizes, including the prefix, are multiples of it
	smallSlab = 1<<16 - 64 // what fits into one page of the C library
)

// smallBlocks allocates small blocks from free lists by size class. Memory of a class is never returned.
var smallBlocks smallAllocator

type smallAllocator struct {
	mu        sync.Mutex
	free      [(maxSmall+sizePrefix)/smallStep + 2]uintptr // free lists by size class; a free block begins with the address of the next
	next, end uintptr                                      // the part of the slab that was never allocated
}

func sizeClass(n int32) uintptr { return (uintptr(n) + sizePrefix + smallStep - 1) / smallStep }

func (s *smallAllocator) alloc(t *libc.TLS, n int32) uintptr {
	class := sizeClass(n)
	s.mu.Lock()
	p := s.free[class]
	if p != 0 {
		s.free[class] = *deref[uintptr](p)
	} else if size := class * smallStep; s.end-s.next >= size || s.newSlab(t) {
		p = s.next + sizePrefix
		s.next += size
	}
	s.mu.Unlock()
	return p
}

// newSlab begins a new slab.
func (s *smallAllocator) newSlab(t *libc.TLS) bool {
	slab := pages.reserve(smallSlab / pageStride)
	if slab == 0 {
		if slab = libc.Xmalloc(t, smallSlab); slab == 0 {
			return false
		}
	}
	s.next, s.end = slab, slab+smallSlab/pageStride*pageStride
	return true
}

func (s *smallAllocator) release(p uintptr, n int32) {
	class := sizeClass(n)
	s.mu.Lock()
	*deref[uintptr](p), s.free[class] = s.free[class], p
	s.mu.Unlock()
}

// pages allocates the pages of all connections' caches. Slabs without live pages are returned to the system.
var pages pageAllocator

type pageAllocator struct {
	mu      sync.Mutex
	partial uintptr // first of the slabs with free pages
	slabs   int
}

// pageSlab is the header of a slab; its pages follow.
type pageSlab struct {
	next, previous uintptr // in the list of slabs with free pages
	free           uintptr // list of released pages; each begins with the address of the next
	used, live     int32
	pages, _       int32 // padding: pages are aligned to eight bytes on 32-bit machines, too
	_              uintptr
}

func (s *pageAllocator) alloc(t *libc.TLS) uintptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.partial == 0 {
		slab := s.newSlab(t)
		if slab == 0 {
			return 0
		}
		s.pushPartial(slab)
	}
	slab := deref[pageSlab](s.partial)
	p := slab.free
	if p != 0 {
		slab.free = *deref[uintptr](p)
	} else {
		p = s.partial + unsafe.Sizeof(*slab) + uintptr(slab.used)*pageStride + sizePrefix
		*indexOf(p) = slab.used
		slab.used++
	}
	if slab.live++; slab.live == slab.pages {
		s.removePartial(s.partial)
	}
	return p
}

func (s *pageAllocator) release(t *libc.TLS, p uintptr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	address := p - sizePrefix - uintptr(*indexOf(p))*pageStride - unsafe.Sizeof(pageSlab{})
	slab := deref[pageSlab](address)
	*deref[uintptr](p), slab.free = slab.free, p
	if slab.live == slab.pages {
		s.pushPartial(address)
	}
	if slab.live--; slab.live == 0 && (slab.next != 0 || slab.previous != 0) { // one slab stays, for callers that allocate and release a page in turn
		s.removePartial(address)
		s.slabs--
		if slab.pages == pagesPerSlab(firstSlab) {
			libc.Xfree(t, address)
		} else {
			freeSlab(t, address)
		}
	}
}

// newSlab allocates a slab from the system.
func (s *pageAllocator) newSlab(t *libc.TLS) (slab uintptr) {
	size := uintptr(slabSize)
	if s.slabs == 0 {
		size = firstSlab
		slab = libc.Xmalloc(t, firstSlab)
	} else {
		slab = allocSlab(t)
	}
	if slab != 0 {
		s.slabs++
		*deref[pageSlab](slab) = pageSlab{pages: pagesPerSlab(size)}
	}
	return slab
}

func pagesPerSlab(slab uintptr) int32 { return int32((slab - unsafe.Sizeof(pageSlab{})) / pageStride) }

// reserve takes n consecutive pages of the first slab that were never allocated, for good, since other slabs may be
// returned. It returns 0 if there are not as many.
func (s *pageAllocator) reserve(n int32) uintptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.partial == 0 {
		return 0
	}
	slab := deref[pageSlab](s.partial)
	if slab.pages != pagesPerSlab(firstSlab) || slab.used+n >= slab.pages {
		return 0
	}
	p := s.partial + unsafe.Sizeof(*slab) + uintptr(slab.used)*pageStride
	slab.used, slab.live = slab.used+n, slab.live+n
	return p
}

// pushPartial adds a slab to the list of slabs with free pages; removePartial removes it.
func (s *pageAllocator) pushPartial(slab uintptr) {
	deref[pageSlab](slab).next, deref[pageSlab](slab).previous = s.partial, 0
	if s.partial != 0 {
		deref[pageSlab](s.partial).previous = slab
	}
	s.partial = slab
}

func (s *pageAllocator) removePartial(slab uintptr) {
	l := deref[pageSlab](slab)
	if l.next != 0 {
		deref[pageSlab](l.next).previous = l.previous
	}
	if l.previous != 0 {
		deref[pageSlab](l.previous).next = l.next
	} else {
		s.partial = l.next
	}
}
