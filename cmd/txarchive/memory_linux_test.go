package main

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("the kernel was built without large pages")
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
