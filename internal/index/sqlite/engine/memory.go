package engine

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// memoryMethods is sqlite3_mem_methods. SQLite asks for the pages of its cache one by one, each a little more than 4096 bytes with what
// it notes of it, and the C library made in Go gives 8192 for that: two pages of the system to be touched for the first time, which
// costs more than to read them. Here pages lie one behind the other. So does what is small, which is most of what it asks for: nodes of parsed
// statements, of which the schema alone has tens of thousands; there each took the next power of two. All else is as SQLite itself does
// it: the size stands before what is handed out.
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
	sizePrefix = 8          // the size and, of a page, its number in its lot
	minPage    = 4000       // what is as large as the content of a page is one
	maxPage    = 4096 + 272 // with what SQLite notes of it
	pageStride = sizePrefix + maxPage

	// The first lot is what a short question needs, and its pages are touched one by one. Those after it are large pages of the system where it
	// gives such: the cache of who writes is looked up all over, and every look finds its page twice as fast. An ingest takes 4 % less for it, where
	// a search would pay for two megabytes of zeros.
	firstSlab = 1 << 20
	slabSize  = 2 << 20
)

func isPage(size int32) bool { return size >= minPage && size <= maxPage }

// sizeOf is where the size of what SQLite was given stands, placeOf where the number of a page does.
func sizeOf(p uintptr) *int32  { return deref[int32](p - sizePrefix) }
func indexOf(p uintptr) *int32 { return deref[int32](p - sizePrefix/2) }

func allocate(t *libc.TLS, n int32) uintptr {
	var p uintptr
	if n <= maxSmall {
		p = smallBlocks.alloc(t, n)
	} else if isPage(n) {
		p = pages.alloc(t)
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
	maxSmall  = 512        // what is larger is none; lists of expressions, which double as they grow, mostly are not
	smallStep = 16         // their sizes are multiples, with what stands before them
	smallSlab = 1<<16 - 64 // what the C library has room for in one of its own pages
)

// smallBlocks are small: what is given back is taken again by what is as large, and stays for that.
var smallBlocks smallAllocator

type smallAllocator struct {
	mu        sync.Mutex
	free      [(maxSmall+sizePrefix)/smallStep + 2]uintptr // by size; each begins with the next one
	next, end uintptr                                      // of the lot, what was never taken
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

// newSlab begins a lot.
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

// pages are those of all caches. What one gives back another takes, and the system gets lots of which none is taken.
var pages pageAllocator

type pageAllocator struct {
	mu      sync.Mutex
	partial uintptr // the first of the lots that have room
	slabs   int
}

// pageSlab stands before its pages.
type pageSlab struct {
	next, previous uintptr // that have room
	free           uintptr // a page that was given back; it begins with the next one
	used, live     int32
	pages, _       int32 // pages stand at multiples of eight bytes on machines of 32 bits, too
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
	if slab.live--; slab.live == 0 && (slab.next != 0 || slab.previous != 0) { // one stays, for whoever takes a page in turns
		s.removePartial(address)
		s.slabs--
		if slab.pages == pagesPerSlab(firstSlab) {
			libc.Xfree(t, address)
		} else {
			freeSlab(t, address)
		}
	}
}

// newSlab takes one from the system.
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

// reserve takes pages of the first lot that nobody has taken yet, one behind the other, for good: the others are given back. It is 0 where there are not as many.
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

// pushPartial puts a lot before those that have room, drop takes it out.
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
