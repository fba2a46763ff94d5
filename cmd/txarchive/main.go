// Command txarchive keeps the transcripts of AI agents: every byte, searchable, for as long as a policy says.
//
// This package is the door: commands, wiring, printing and exit codes. What it does stands in internal/.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	deepen(len(os.Args) < 0)
	a := newApp()
	a.ends = true
	os.Exit(execute(untilInterrupted(), a, os.Args[1:]))
}

// deepen makes the stack of its caller as deep at once as SQLite's parser and machine need it. It grows by itself, too, but in five or six
// steps, each of which goes through all frames and copies them: that took a twentieth of a search. It must never touch.
//
//go:noinline
func deepen(touch bool) (b byte) {
	if touch {
		var room [24 << 10]byte
		b = room[len(os.Args)]
	}
	return b
}

// listenAfter is when signals are listened for: that begins three threads, which take a short command longer than what it is
// asked for.
const listenAfter = 25 * time.Millisecond

// untilInterrupted ends when the program is told to end. A second Ctrl-C ends the program at once, and so does one that comes before
// listenAfter: whatever is written by then is as after a crash, which every command that writes is made for.
func untilInterrupted() context.Context {
	ctx, end := context.WithCancelCause(context.Background())
	time.AfterFunc(listenAfter, func() {
		told, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		<-told.Done()
		stop()
		end(context.Cause(told))
	})
	return ctx
}
