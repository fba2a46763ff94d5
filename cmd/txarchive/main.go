// Command txarchive keeps the transcripts of AI agents: every byte, searchable, for as long as a policy says.
//
// This package is the door: commands, wiring, printing and exit codes. What it does stands in internal/.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// memoryLimit is what the Go heap is held to, above what a large ingest needs: the collector works harder before the
// process grows. SQLite's cache comes on top. GOMEMLIMIT overrides it.
const memoryLimit = 190 << 20

// searchMemory is the same for a search, which with all caches of SQLite stays below 100 MB.
const searchMemory = 44 << 20

func holdMemory(limit int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

func main() {
	holdMemory(memoryLimit)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := execute(ctx, newApp(), os.Args[1:])
	stop()
	os.Exit(code)
}
