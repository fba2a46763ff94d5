package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// memoryLimit is the soft limit of the Go heap, above what a large ingest needs: the garbage collector works harder before the process
// grows. SQLite's cache comes on top. GOMEMLIMIT overrides it.
const memoryLimit = 190 << 20

// searchMemory is the limit for a search, which stays below 100 MB with all caches of SQLite.
const searchMemory = 40 << 20

// heapGrowth is GOGC: by how many percent the heap may grow before it is collected. The memory limit bounds it, too, and a large ingest
// takes 4 % less CPU than with 100. GOGC in the environment overrides it.
const heapGrowth = 200

// currentLimit is the limit in force. It is 0 if GOMEMLIMIT sets another, and in tests, which run many commands in one process.
var currentLimit atomic.Int64

// limitMemory sets the limits for the command of a process. Setting one stops the world, so it is done once, and not for a command that
// is over before that.
func limitMemory(command string) {
	switch command {
	case "version":
	case "search":
		setLimits(searchMemory, searchHeapGrowth)
	default:
		setLimits(memoryLimit, heapGrowth)
		observeGC()
	}
}

// searchHeapGrowth is heapGrowth for a search: it makes little garbage, and most searches end before a collection is worth it.
const searchHeapGrowth = 400

func setLimits(n int64, growth int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		currentLimit.Store(n)
		debug.SetMemoryLimit(n)
	}
}

// gcObserver is garbage in every cycle of the collector, and its finalizer measures the live heap. Commands that hold something for
// every original or run (repair, forget, plans of prune) may need more than the limit. Without room to work in the collector would take
// half of the CPU, so the limit is raised. A command that keeps as much as a load does gets large pages for what will come.
type gcObserver struct {
	live []metrics.Sample
	huge bool
}

// hugeFrom is the live heap of a command that is about to use much memory.
const hugeFrom = 6 << 20

func observeGC() {
	c := &gcObserver{live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	runtime.SetFinalizer(c, (*gcObserver).afterCycle)
}

func (c *gcObserver) afterCycle() {
	metrics.Read(c.live)
	live := int64(c.live[0].Value.Uint64())
	if n := currentLimit.Load(); n == memoryLimit {
		debug.SetMemoryLimit(limitFor(n, live))
	}
	if !c.huge && live >= hugeFrom {
		c.huge = true
		useHugePages()
	}
	runtime.SetFinalizer(c, (*gcObserver).afterCycle)
}

// limitFor returns the limit for a live heap: a third more than that, once that is above the limit.
func limitFor(limit, live int64) int64 { return max(limit, live+live/3) }
