package main

import (
	"bytes"
	"math"
	"os"
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
	if !hugePagesOffered() {
		return
	}
	block := make([]byte, hugeBlock)
	start := -uintptr(unsafe.Pointer(unsafe.SliceData(block))) & (hugePage - 1)
	_ = syscall.Madvise(block[start:], syscall.MADV_HUGEPAGE) // best effort
}

// hugePagesOffered reports whether the system has large pages, and takes no account of memory before it is touched: where it does, a block
// that is not needed could be what ends the process.
func hugePagesOffered() bool {
	offered, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || bytes.Contains(offered, []byte("[never]")) {
		return false
	}
	overcommit, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	if err != nil || bytes.HasPrefix(overcommit, []byte("2")) {
		return false
	}
	var space syscall.Rlimit
	return syscall.Getrlimit(syscall.RLIMIT_AS, &space) == nil && space.Cur == math.MaxUint64
}
