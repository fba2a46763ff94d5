// Command txarchive keeps the transcripts of AI agents: every byte, searchable, for as long as a policy says.
//
// This package is the door: commands, wiring, printing and exit codes. What it does stands in internal/.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

func main() {
	deepen(os.Args == nil) // which it never is
	a := newApp()
	a.ends = true
	ctx, listen := untilInterrupted()
	a.listen = listen
	os.Exit(execute(ctx, a, os.Args[1:]))
}

// deepen makes the stack of its caller as deep at once as SQLite's parser and machine need it. It grows by itself, too, but in five or six
// steps, each of which goes through all frames and copies them: that took a twentieth of a search. Nothing is touched.
//
//go:noinline
func deepen(touch bool) (b byte) {
	if touch {
		var room [24 << 10]byte
		b = room[len(os.Args)]
	}
	return b
}

// listenAfter is when signals are listened for by commands of which an interruption leaves nothing behind: that begins three threads,
// which take as long as a twentieth of what such a command is asked for. One that comes before ends it at once.
const listenAfter = 25 * time.Millisecond

var leavesNothing = []string{"search", "list", "show", "tree", "stats", "cost", "cat", "version"}

// untilInterrupted ends when the program is told to end, once signals are listened for. A second Ctrl-C ends the program at once.
func untilInterrupted() (ctx context.Context, listen func()) {
	ctx, end := context.WithCancelCause(context.Background())
	listen = sync.OnceFunc(func() {
		told, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(told, func() {
			stop()
			end(context.Cause(told))
		})
	})
	return ctx, listen
}

// begins is called when it is known which command a process ends with.
func (a *app) begins(command string) {
	holdMemory(command)
	if slices.Contains(leavesNothing, command) {
		time.AfterFunc(listenAfter, a.listen)
	} else {
		a.listens()
	}
}

// works is called before work that goes on when nobody reads what is printed about it any more: a closed pipe would end the process in its
// midst. undone is what an interruption leaves behind, and what to do then.
func (a *app) works(undone string) {
	a.undone = undone
	if a.results != nil {
		a.results.optional = true
	}
	if a.ends {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // writing fails instead
	}
}

// listens is called before something is done that should not be ended in the midst, or another handling of signals begins.
func (a *app) listens() {
	if a.listen != nil {
		a.listen()
	}
}
