package engine

import (
	"unsafe"

	"golang.org/x/sys/unix"
	"modernc.org/libc"
)

// takeLot takes memory for a lot where the system can give it as one large page: that is touched for the first time once, not five hundred times.
func takeLot(*libc.TLS) uintptr {
	all, err := unix.MmapPtr(-1, 0, nil, 2*lotSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return 0
	}
	start := uintptr(all)
	lot := (start + lotSize - 1) &^ (lotSize - 1)
	if lot > start {
		_ = unix.MunmapPtr(all, lot-start)
	}
	if end := lot + lotSize; end < start+2*lotSize {
		_ = unix.MunmapPtr(unsafe.Pointer(at[byte](end)), start+2*lotSize-end)
	}
	_ = unix.Madvise(unsafe.Slice(at[byte](lot), lotSize), unix.MADV_HUGEPAGE) // not every system has any
	return lot
}

func giveLot(_ *libc.TLS, lot uintptr) {
	_ = unix.MunmapPtr(unsafe.Pointer(at[byte](lot)), lotSize)
}
