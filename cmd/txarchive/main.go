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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := execute(ctx, newApp(), os.Args[1:])
	stop()
	os.Exit(code)
}
