package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// pagedCommands are those whose results may be longer than a screen, subcommands of such names too. `sql` is one of
// them when it is not a conversation.
var pagedCommands = []string{"cat", "conversations", "cost", "docs", "doctor", "list", "report", "runs", "search", "show", "stats", "status", "tree"}

// pager stands between the results and the terminal. It starts with the first byte, so that what goes wrong before
// is seen as it is, and keeps messages back until it has ended, so that they do not run into the page.
type pager struct {
	command  string
	to       *os.File // the terminal
	width    int
	messages io.Writer // standard error as it was
	held     bytes.Buffer
	left     context.CancelCauseFunc
	listens  func() // has signals be listened for, before one is ignored

	process *exec.Cmd
	pipe    io.WriteCloser
	over    bool // could not be started, or who reads has seen enough
}

// errLeft says that who reads has seen enough.
var errLeft = errors.New("the pager was left")

// columns makes a pager a terminal for whoever asks how wide it is.
func (p *pager) columns() int { return p.width }

func (p *pager) Write(b []byte) (int, error) {
	if p.process == nil && !p.over {
		p.start()
	}
	if p.pipe == nil {
		return p.to.Write(b)
	}
	if p.over {
		return 0, errLeft
	}
	n, err := p.pipe.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		p.over = true
		p.left(errLeft)
		return n, errLeft
	}
	return n, err
}

// start runs the pager. Without it the results go to the terminal as they are.
func (p *pager) start() {
	cmd := exec.Command("sh", "-c", p.command)
	cmd.Stdout, cmd.Stderr = p.to, os.Stderr
	cmd.Env = os.Environ()
	for _, e := range []string{"LESS=FRX", "LESSCHARSET=utf-8"} { // leave when all fits, show colors, keep what was shown; and UTF-8 in every locale
		name, _, _ := strings.Cut(e, "=")
		if _, set := os.LookupEnv(name); !set {
			cmd.Env = append(cmd.Env, e)
		}
	}
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.over = true
		return
	}
	p.process, p.pipe = cmd, pipe
}

// close waits until the page is read, then says what was held back.
func (p *pager) close() {
	if p.process != nil {
		_ = p.pipe.Close()
		p.listens()
		signal.Ignore(os.Interrupt) // Ctrl-C is the pager's now
		err := p.process.Wait()
		signal.Reset(os.Interrupt)
		var exit *exec.ExitError
		if errors.As(err, &exit) && (exit.ExitCode() == 126 || exit.ExitCode() == 127) { // so says a shell
			fmt.Fprintf(p.messages, "txarchive: the pager %q cannot be run\nhint: TXARCHIVE_PAGER names another, --no-pager does without\n", p.command)
		}
	}
	_, _ = p.messages.Write(p.held.Bytes())
}

// messages is standard error while a page is open.
type messages struct{ p *pager }

func (m messages) Write(b []byte) (int, error) {
	if m.p.process == nil {
		return m.p.messages.Write(b)
	}
	return m.p.held.Write(b)
}

func (m messages) columns() int { return m.p.width }

// pages puts a pager before the terminal for the commands that may print much.
func (a *app) pages(cmd *cobra.Command) {
	if slices.Contains(pagedCommands, cmd.Name()) {
		cmd.SetContext(a.page(cmd.Context()))
	}
}

// page puts a pager before the terminal, when results go to one and nobody objects. The context that it returns ends
// when the pager is left.
func (a *app) page(ctx context.Context) context.Context {
	width, ok := terminal(a.out)
	file, isFile := (*os.File)(nil), false
	if results, ok := a.out.(*outlet); ok {
		file, isFile = results.to.(*os.File)
	}
	if !ok || !isFile || a.noPager || a.getenv("TERM") == "dumb" {
		return ctx
	}
	command := a.pagerCommand()
	if command == "" {
		return ctx
	}
	ctx, left := context.WithCancelCause(ctx)
	a.pager = &pager{command: command, to: file, width: width, messages: a.err, left: left, listens: a.listens}
	a.out = a.pager
	if _, ok := terminal(a.err); ok {
		a.err = messages{a.pager}
	}
	return ctx
}

// pagerCommand is what pages: $TXARCHIVE_PAGER, $PAGER, else less where there is one; "" when that is cat.
func (a *app) pagerCommand() string {
	command := firstOf(a.getenv("TXARCHIVE_PAGER"), a.getenv("PAGER"))
	switch {
	case command == "cat":
		return ""
	case command != "":
		return command
	}
	if _, err := exec.LookPath("less"); err != nil || runtime.GOOS == "windows" {
		return ""
	}
	return "less"
}

// endPage closes the pager. Who left it early has what was wanted: that is no error.
func (a *app) endPage(err error) error {
	if a.pager == nil {
		return err
	}
	a.pager.close()
	a.out, a.err = a.pager.to, a.pager.messages
	if a.pager.over && a.pager.process != nil {
		err = nil
	}
	a.pager = nil
	return err
}
