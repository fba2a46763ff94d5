// Command txarchive keeps the transcripts of AI agents: every byte, searchable, for as long as a policy says.
//
// This package is the door: commands, wiring, printing and exit codes. What it does stands in internal/.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	holdMemory(memoryLimit)
	watchMemory()
	a := newApp()
	a.ends = true
	os.Exit(execute(untilInterrupted(), a, os.Args[1:]))
}

// untilInterrupted ends when the program is told to end. A second Ctrl-C ends the program at once. Signals are listened for beside what
// follows: that begins three threads, which takes as long as the tree of commands. One that comes before ends the program, as it would have a moment earlier.
func untilInterrupted() context.Context {
	ctx, end := context.WithCancelCause(context.Background())
	go func() {
		told, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		<-told.Done()
		stop()
		end(context.Cause(told))
	}()
	return ctx
}
