package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/txarchive/txarchive/internal/terminal"
)

// canAsk reports whether a person at a terminal could answer a question.
func (a *app) canAsk() bool {
	_, in := terminal.Detect(a.in)
	_, out := terminal.Detect(a.Err)
	return !a.JSON && in && out
}

// ask asks a question, and reports whether the answer is yes: never, if nobody could answer. The error is that of a command that is
// interrupted instead.
func (a *app) ask(ctx context.Context, question string) (yes bool, err error) {
	if !a.canAsk() {
		return false, nil
	}
	fmt.Fprint(a.Err, a.WrapMessage("", question+" [y/N]")+" ")
	answer, err := bufio.NewReader(a.input(ctx)).ReadString('\n')
	if ctx.Err() != nil {
		fmt.Fprintln(a.Err) // the message of the error is not to stand behind the question
		a.interruptHint = "nothing was done"
		return false, context.Cause(ctx)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return err == nil && (answer == "y" || answer == "yes"), nil
}

// input is standard input, which a person may type: a read of it ends when the command is interrupted.
func (a *app) input(ctx context.Context) io.Reader { return interruptible{ctx, a.in} }

type interruptible struct {
	ctx context.Context
	in  io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	read, own := make(chan result, 1), make([]byte, len(p)) // p is the caller's again if the read goes on
	go func() {
		n, err := r.in.Read(own)
		read <- result{n, err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	case got := <-read:
		return copy(p, own[:got.n]), got.err
	}
}
