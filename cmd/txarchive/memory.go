package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// memoryLimit is what the Go heap is held to, above what a large ingest needs: the collector works harder before the
// process grows. SQLite's cache comes on top. GOMEMLIMIT overrides it.
const memoryLimit = 190 << 20

// searchMemory is the same for a search, which with all caches of SQLite stays below 100 MB.
const searchMemory = 40 << 20

// heapGrowth is by how many percent the heap may grow before it is collected. The limit holds it, too: of more room there is no more
// than that, and a large ingest takes 4 % less of the processor. GOGC overrides it.
const heapGrowth = 200

// limit is what the heap is held to now, and 0 where that is not ours to say: GOMEMLIMIT says it, or the commands are a test's,
// which runs many in its process.
var limit atomic.Int64

// holdMemory holds the heap of a process that ends with its command. To say so stops all that runs, so it is said once, and not by a
// command that is over before.
func holdMemory(command string) {
	switch command {
	case "version":
	case "search":
		hold(searchMemory, rareCycles)
	default:
		hold(memoryLimit, heapGrowth)
		watchMemory()
	}
}

// rareCycles is heapGrowth of a search: what it leaves behind is little, and most are over before they are worth a look.
const rareCycles = 400

func hold(n int64, growth int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		limit.Store(n)
		debug.SetMemoryLimit(n)
	}
}

// cycle is collected in every cycle of the collector, and looks how much is alive then. Commands that know something of every
// original or run (repair, forget, plans of prune) may hold more than the limit: a collector without room to work in would take
// half of the CPU, so the limit gives way.
type cycle struct{ live []metrics.Sample }

func watchMemory() {
	c := &cycle{[]metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	runtime.SetFinalizer(c, (*cycle).end)
}

func (c *cycle) end() {
	metrics.Read(c.live)
	if n := limit.Load(); n == memoryLimit {
		debug.SetMemoryLimit(roomFor(n, int64(c.live[0].Value.Uint64())))
	}
	runtime.SetFinalizer(c, (*cycle).end)
}

// roomFor is the limit when so much is alive: a third as much again, once that is more.
func roomFor(limit, live int64) int64 { return max(limit, live+live/3) }
