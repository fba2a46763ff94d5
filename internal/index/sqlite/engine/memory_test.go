package engine

import (
	"bytes"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"modernc.org/libc"
	driver "modernc.org/sqlite"
)

// TestMemory allocates, resizes and releases blocks of sizes around that of a page, and checks that no memory is in two blocks.
func TestMemory(t *testing.T) {
	tls := libc.NewTLS()
	defer tls.Close()
	bytesOf := func(p uintptr, n int32) []byte { return unsafe.Slice(deref[byte](p), n) }
	sizes := []int32{1, 8, 9, 72, maxSmall, maxSmall + 1, minPage - 1, minPage, 4096, maxPage, maxPage + 1, 100_000}
	held := map[uintptr]byte{}
	check := func(p uintptr, n int32) {
		t.Helper()
		if b := bytesOf(p, n); !bytes.Equal(b, bytes.Repeat([]byte{held[p]}, int(n))) {
			t.Errorf("of %d bytes some are those of others", n)
		}
	}
	for round := range 3 {
		for i := range 20 * 60 {
			n := sizes[i%len(sizes)]
			p := allocate(tls, n)
			if p == 0 || p%8 != 0 || held[p] != 0 || *sizeOf(p) != n {
				t.Fatalf("%d bytes: %x, which are taken: %t", n, p, held[p] != 0)
			}
			held[p] = byte(1 + i%250)
			copy(bytesOf(p, n), bytes.Repeat([]byte{held[p]}, int(n)))
			if (i+round)%3 == 0 {
				mark, other := held[p], sizes[(i+round)%len(sizes)]
				delete(held, p)
				p = reallocate(tls, p, other)
				held[p] = mark
				check(p, min(n, other))
				copy(bytesOf(p, other), bytes.Repeat([]byte{mark}, int(other)))
			}
		}
		for p := range held {
			check(p, *sizeOf(p))
			release(tls, p)
		}
		clear(held)
	}
	for slab := pages.partial; slab != 0; slab = deref[pageSlab](slab).next {
		if l := deref[pageSlab](slab); l.live == 0 && (l.next != 0 || l.previous != 0) {
			t.Error("a lot of which no page is taken is kept beside others")
		}
	}
}

// TestMemoryTaken checks that SQLite uses the allocator for the pages of its cache.
func TestMemoryTaken(t *testing.T) {
	db := Pool(Connector(new(driver.Driver), filepath.Join(t.TempDir(), "test.db")), 1)
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (x)"); err != nil {
		t.Fatal(err)
	}
	pages.mu.Lock()
	defer pages.mu.Unlock()
	if pages.partial == 0 && runtime.GOOS == "linux" {
		t.Error("no page was asked for")
	}
}
