package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// Pager is a writer that shows results through a program such as less. It starts the program with the first byte, so that an error
// before that is printed as usual, and holds messages back until the program has ended, so that they do not run into the page.
type Pager struct {
	Command       string                  // for sh -c
	Terminal      *os.File                // where the program writes
	Width         int                     // of the terminal
	Stderr        io.Writer               // for messages
	CannotRun     string                  // printed to Stderr if the shell cannot run Command
	Quit          context.CancelCauseFunc // called with ErrPagerQuit when the program stops reading
	OwnsInterrupt func()                  // called before Ctrl-C is left to the program; the caller must handle signals from then on

	held    bytes.Buffer // messages
	process *exec.Cmd
	pipe    io.WriteCloser
	over    bool // could not be started, or stopped reading
}

// ErrPagerQuit says that the reader has left the pager before the end.
var ErrPagerQuit = errors.New("the pager was left")

// Columns implements Screen.
func (p *Pager) Columns() int { return p.Width }

// Write implements io.Writer.
func (p *Pager) Write(b []byte) (int, error) {
	if p.process == nil && !p.over {
		p.start()
	}
	if p.pipe == nil {
		return p.Terminal.Write(b)
	}
	if p.over {
		return 0, ErrPagerQuit
	}
	n, err := p.pipe.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		p.over = true
		p.Quit(ErrPagerQuit)
		return n, ErrPagerQuit
	}
	return n, err
}

// start runs the program. If it cannot be started, results go to the terminal directly.
func (p *Pager) start() {
	cmd := exec.Command("sh", "-c", p.Command)
	cmd.Stdout, cmd.Stderr = p.Terminal, os.Stderr
	cmd.Env = os.Environ()
	for _, e := range []string{"LESS=FRX", "LESSCHARSET=utf-8"} { // quit if one screen, show colors, do not clear the screen; UTF-8 in every locale
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

// Close waits until the program has ended, then prints the messages that were held back. It reports whether the reader left the pager
// before the end of the results.
func (p *Pager) Close() (quit bool) {
	if p.process != nil {
		_ = p.pipe.Close()
		p.OwnsInterrupt()
		signal.Ignore(os.Interrupt)
		err := p.process.Wait()
		signal.Reset(os.Interrupt)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && (exit.ExitCode() == 126 || exit.ExitCode() == 127) { // the shell: not executable, not found
			fmt.Fprint(p.Stderr, p.CannotRun)
		}
	}
	_, _ = p.Stderr.Write(p.held.Bytes())
	return p.over && p.process != nil
}

// Messages returns the writer that takes the place of Stderr until the pager is closed.
func (p *Pager) Messages() io.Writer { return heldMessages{p} }

type heldMessages struct{ p *Pager }

func (m heldMessages) Write(b []byte) (int, error) {
	if m.p.process == nil {
		return m.p.Stderr.Write(b)
	}
	return m.p.held.Write(b)
}

// Columns implements Screen.
func (m heldMessages) Columns() int { return m.p.Width }
