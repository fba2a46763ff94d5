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
	pageLeast  = 4000       // what is as large as the content of a page is one
	pageMost   = 4096 + 272 // with what SQLite notes of it
	pageRoom   = sizePrefix + pageMost

	// The first lot is what a short question needs, and its pages are touched one by one. Those after it are large pages of the system where it
	// gives such: the cache of who writes is looked up all over, and every look finds its page twice as fast. An ingest takes 4 % less for it, where
	// a search would pay for two megabytes of zeros.
	firstLot = 1 << 20
	lotSize  = 2 << 20
)

func isPage(size int32) bool { return size >= pageLeast && size <= pageMost }

// sizeOf is where the size of what SQLite was given stands, placeOf where the number of a page does.
func sizeOf(p uintptr) *int32  { return at[int32](p - sizePrefix) }
func placeOf(p uintptr) *int32 { return at[int32](p - sizePrefix/2) }

func allocate(t *libc.TLS, n int32) uintptr {
	var p uintptr
	if n <= pieceMost {
		p = pieces.take(t, n)
	} else if isPage(n) {
		p = pages.take(t)
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
	case n <= pieceMost:
		pieces.give(p, n)
	case isPage(n):
		pages.give(t, p)
	default:
		libc.Xfree(t, p-sizePrefix)
	}
}

func reallocate(t *libc.TLS, p uintptr, n int32) uintptr {
	was := *sizeOf(p)
	if was <= pieceMost && n <= pieceMost && pieceClass(was) == pieceClass(n) {
		*sizeOf(p) = n
		return p
	}
	if was > pieceMost && n > pieceMost && !isPage(was) && !isPage(n) {
		if p = libc.Xrealloc(t, p-sizePrefix, types.Size_t(n)+sizePrefix); p == 0 {
			return 0
		}
		p += sizePrefix
		*sizeOf(p) = n
		return p
	}
	to := allocate(t, n)
	if to != 0 {
		copy(unsafe.Slice(at[byte](to), n), unsafe.Slice(at[byte](p), was))
		release(t, p)
	}
	return to
}

const (
	pieceMost = 512        // what is larger is none; lists of expressions, which double as they grow, mostly are not
	pieceStep = 16         // their sizes are multiples, with what stands before them
	pieceLot  = 1<<16 - 64 // what the C library has room for in one of its own pages
)

// pieces are small: what is given back is taken again by what is as large, and stays for that.
var pieces pieceStore

type pieceStore struct {
	mu        sync.Mutex
	free      [(pieceMost+sizePrefix)/pieceStep + 2]uintptr // by size; each begins with the next one
	next, end uintptr                                       // of the lot, what was never taken
}

func pieceClass(n int32) uintptr { return (uintptr(n) + sizePrefix + pieceStep - 1) / pieceStep }

func (s *pieceStore) take(t *libc.TLS, n int32) uintptr {
	class := pieceClass(n)
	s.mu.Lock()
	p := s.free[class]
	if p != 0 {
		s.free[class] = *at[uintptr](p)
	} else if size := class * pieceStep; s.end-s.next >= size || s.begin(t) {
		p = s.next + sizePrefix
		s.next += size
	}
	s.mu.Unlock()
	return p
}

// begin begins a lot.
func (s *pieceStore) begin(t *libc.TLS) bool {
	lot := pages.run(pieceLot / pageRoom)
	if lot == 0 {
		if lot = libc.Xmalloc(t, pieceLot); lot == 0 {
			return false
		}
	}
	s.next, s.end = lot, lot+pieceLot/pageRoom*pageRoom
	return true
}

func (s *pieceStore) give(p uintptr, n int32) {
	class := pieceClass(n)
	s.mu.Lock()
	*at[uintptr](p), s.free[class] = s.free[class], p
	s.mu.Unlock()
}

// pages are those of all caches. What one gives back another takes, and the system gets lots of which none is taken.
var pages pageStore

type pageStore struct {
	mu   sync.Mutex
	room uintptr // the first of the lots that have room
	lots int
}

// pageLot stands before its pages.
type pageLot struct {
	next, previous uintptr // that have room
	free           uintptr // a page that was given back; it begins with the next one
	made, taken    int32
	pages, _       int32 // pages stand at multiples of eight bytes on machines of 32 bits, too
	_              uintptr
}

func (s *pageStore) take(t *libc.TLS) uintptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room == 0 {
		lot := s.lot(t)
		if lot == 0 {
			return 0
		}
		s.put(lot)
	}
	lot := at[pageLot](s.room)
	p := lot.free
	if p != 0 {
		lot.free = *at[uintptr](p)
	} else {
		p = s.room + unsafe.Sizeof(*lot) + uintptr(lot.made)*pageRoom + sizePrefix
		*placeOf(p) = lot.made
		lot.made++
	}
	if lot.taken++; lot.taken == lot.pages {
		s.drop(s.room)
	}
	return p
}

func (s *pageStore) give(t *libc.TLS, p uintptr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	address := p - sizePrefix - uintptr(*placeOf(p))*pageRoom - unsafe.Sizeof(pageLot{})
	lot := at[pageLot](address)
	*at[uintptr](p), lot.free = lot.free, p
	if lot.taken == lot.pages {
		s.put(address)
	}
	if lot.taken--; lot.taken == 0 && (lot.next != 0 || lot.previous != 0) { // one stays, for whoever takes a page in turns
		s.drop(address)
		s.lots--
		if lot.pages == pagesIn(firstLot) {
			libc.Xfree(t, address)
		} else {
			giveLot(t, address)
		}
	}
}

// lot takes one from the system.
func (s *pageStore) lot(t *libc.TLS) (lot uintptr) {
	size := uintptr(lotSize)
	if s.lots == 0 {
		size = firstLot
		lot = libc.Xmalloc(t, firstLot)
	} else {
		lot = takeLot(t)
	}
	if lot != 0 {
		s.lots++
		*at[pageLot](lot) = pageLot{pages: pagesIn(size)}
	}
	return lot
}

func pagesIn(lot uintptr) int32 { return int32((lot - unsafe.Sizeof(pageLot{})) / pageRoom) }

// run takes pages of the first lot that nobody has taken yet, one behind the other, for good: the others are given back. It is 0 where there are not as many.
func (s *pageStore) run(n int32) uintptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room == 0 {
		return 0
	}
	lot := at[pageLot](s.room)
	if lot.pages != pagesIn(firstLot) || lot.made+n >= lot.pages {
		return 0
	}
	p := s.room + unsafe.Sizeof(*lot) + uintptr(lot.made)*pageRoom
	lot.made, lot.taken = lot.made+n, lot.taken+n
	return p
}

// put puts a lot before those that have room, drop takes it out.
func (s *pageStore) put(lot uintptr) {
	at[pageLot](lot).next, at[pageLot](lot).previous = s.room, 0
	if s.room != 0 {
		at[pageLot](s.room).previous = lot
	}
	s.room = lot
}

func (s *pageStore) drop(lot uintptr) {
	l := at[pageLot](lot)
	if l.next != 0 {
		at[pageLot](l.next).previous = l.previous
	}
	if l.previous != 0 {
		at[pageLot](l.previous).next = l.next
	} else {
		s.room = l.next
	}
}
