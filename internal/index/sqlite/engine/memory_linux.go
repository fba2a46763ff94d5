package engine

import (
	"unsafe"

	"golang.org/x/sys/unix"
	"modernc.org/libc"
)

// allocSlab allocates a slab that is aligned such that the system can back it with one huge page, which takes one page
// fault instead of five hundred.
func allocSlab(*libc.TLS) uintptr {
	all, err := unix.MmapPtr(-1, 0, nil, 2*slabSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return 0
	}
	start := uintptr(all)
	slab := (start + slabSize - 1) &^ (slabSize - 1)
	if slab > start {
		_ = unix.MunmapPtr(all, slab-start)
	}
	if end := slab + slabSize; end < start+2*slabSize {
		_ = unix.MunmapPtr(unsafe.Pointer(deref[byte](end)), start+2*slabSize-end)
	}
	_ = unix.Madvise(unsafe.Slice(deref[byte](slab), slabSize), unix.MADV_HUGEPAGE) // best effort: not every system has huge pages
	return slab
}

func freeSlab(_ *libc.TLS, slab uintptr) {
	_ = unix.MunmapPtr(unsafe.Pointer(deref[byte](slab)), slabSize)
}
