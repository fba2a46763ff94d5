package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestMemoryGivesWay holds more than the limit allows: the limit goes up, and down again.
func TestMemoryGivesWay(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	before := debug.SetMemoryLimit(-1)
	defer func() {
		currentLimit.Store(0)
		debug.SetMemoryLimit(before)
	}()
	limitMemory("ingest")
	reach := func(what string, done func(limit int64) bool) {
		t.Helper()
		for range 200 {
			runtime.GC()
			if done(debug.SetMemoryLimit(-1)) {
				return
			}
			time.Sleep(10 * time.Millisecond) // finalizers run beside us
		}
		t.Errorf("%s: the limit is %d", what, debug.SetMemoryLimit(-1))
	}
	held := make([]byte, memoryLimit)
	reach("much is alive", func(limit int64) bool { return limit >= memoryLimit*4/3 })
	runtime.KeepAlive(held)
	held = nil
	reach("little is alive", func(limit int64) bool { return limit == memoryLimit })
	limitMemory("search")
	runtime.GC()
	if got := debug.SetMemoryLimit(-1); got != searchMemory {
		t.Errorf("a search is held to %d", got)
	}
}
