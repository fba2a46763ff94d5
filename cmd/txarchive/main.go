// Command txarchive keeps the transcripts of AI agents: every byte, searchable, for as long as a policy says.
//
// This package has the commands with their flags and help, the wiring, and the exit codes of errors. The rooms below internal/ do the
// work, and print what is more than a few lines.
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
	growStack(os.Args == nil) // never true
	a := newApp()
	a.ownsProcess = true
	ctx, startSignals := signalContext()
	a.startSignals = startSignals
	os.Exit(execute(ctx, a, os.Args[1:]))
}

// growStack grows the stack of its caller at once to what SQLite's parser and virtual machine need. A stack that grows on demand takes
// five or six steps, each of which walks and copies all frames: that took a twentieth of a search. With touch false, the array is not
// accessed.
//
//go:noinline
func growStack(touch bool) (b byte) {
	if touch {
		var frame [24 << 10]byte
		b = frame[len(os.Args)]
	}
	return b
}

// signalDelay is when read-only commands begin to handle signals. Handling starts three threads, which take as long as a twentieth of
// such a command. A signal that comes earlier ends the process at once.
const signalDelay = 25 * time.Millisecond

// readOnlyCommands leave nothing behind when they are interrupted.
var readOnlyCommands = []string{"search", "list", "show", "tree", "stats", "cost", "cat", "version"}

// signalContext returns a context that is canceled by SIGINT or SIGTERM once startSignals was called. A second Ctrl-C ends the process
// at once.
func signalContext() (ctx context.Context, startSignals func()) {
	ctx, end := context.WithCancelCause(context.Background())
	startSignals = sync.OnceFunc(func() {
		signaled, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(signaled, func() {
			stop()
			end(context.Cause(signaled))
		})
	})
	return ctx, startSignals
}

// beforeCommand applies what depends on the command of the process: its memory limits, and when signals are handled.
func (a *app) beforeCommand(command string) {
	limitMemory(command)
	if slices.Contains(readOnlyCommands, command) {
		time.AfterFunc(signalDelay, a.startSignals)
	} else {
		a.handleSignals()
	}
}

// beginWork is called before work that must go on when nobody reads the output any more: SIGPIPE would end the process in the middle of
// it. interruptHint is what to print if the work is interrupted: what was done, and what to do.
func (a *app) beginWork(interruptHint string) {
	a.interruptHint = interruptHint
	if a.results != nil {
		a.results.IgnoreClosed = true
	}
	if a.ownsProcess {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // writes fail with EPIPE instead
	}
}

// handleSignals starts to handle signals. It is called before anything that must not end halfway, and before signals are handled in
// another way.
func (a *app) handleSignals() {
	if a.startSignals != nil {
		a.startSignals()
	}
}
