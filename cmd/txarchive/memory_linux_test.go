package main

import (
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestHugePages(t *testing.T) {
	if !hugePagesOffered() {
		t.Skip("the system has no large pages, or limits memory that is not touched")
	}
	advised := func() (kib int) {
		maps, err := os.ReadFile("/proc/self/smaps")
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for line := range strings.Lines(string(maps)) {
			switch field := strings.Fields(line); field[0] {
			case "Size:":
				size, _ = strconv.Atoi(field[1])
			case "VmFlags:":
				if slices.Contains(field, "hg") {
					kib += size
				}
			}
		}
		return kib
	}
	before := advised()
	useHugePages()
	if n := advised() - before; n < (hugeBlock-2*hugePage)>>10 {
		t.Errorf("%d KiB are advised to have large pages", n)
	}
	var stats runtime.MemStats
	runtime.GC()
	if runtime.ReadMemStats(&stats); stats.HeapAlloc > hugeBlock {
		t.Errorf("%d bytes are still allocated", stats.HeapAlloc)
	}
}

// TestNoHugePages: under a limit of addresses, no block is taken.
func TestNoHugePages(t *testing.T) {
	var before syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_AS, &before))
	limited := before
	limited.Cur = math.MaxUint64 - 1 // one that nothing can reach
	must(t, syscall.Setrlimit(syscall.RLIMIT_AS, &limited))
	t.Cleanup(func() { must(t, syscall.Setrlimit(syscall.RLIMIT_AS, &before)) })
	if hugePagesOffered() {
		t.Error("a block is taken under a limit")
	}
}
