package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/terminal"
)

// pagedCommands are those whose results may be longer than a screen; subcommands of these names are, too. `sql` is paged unless it is
// the interactive shell.
var pagedCommands = []string{"cat", "conversations", "cost", "diff", "docs", "doctor", "list", "report", "runs", "search", "show", "stats", "status", "tree"}

// pageCommand puts a pager before the terminal for the commands that may print much.
func (a *app) pageCommand(cmd *cobra.Command) {
	if slices.Contains(pagedCommands, cmd.Name()) {
		cmd.SetContext(a.page(cmd.Context()))
	}
}

// page puts a pager before the terminal, if results go to one and neither --no-pager nor TERM=dumb forbids it. The context that it
// returns is canceled when the reader leaves the pager.
func (a *app) page(ctx context.Context) context.Context {
	width, ok := terminal.Detect(a.Out)
	file, isFile := (*os.File)(nil), false
	if results, ok := a.Out.(*terminal.Output); ok {
		file, isFile = results.W.(*os.File)
	}
	if !ok || !isFile || a.noPager || a.Getenv("TERM") == "dumb" {
		return ctx
	}
	command := a.pagerCommand()
	if command == "" {
		return ctx
	}
	ctx, quit := context.WithCancelCause(ctx)
	a.pager = &terminal.Pager{Command: command, Terminal: file, Width: width, Stderr: a.Err, Quit: quit, OwnsInterrupt: a.handleSignals,
		CannotRun: fmt.Sprintf("txarchive: cannot run the pager %q\nhint: set TXARCHIVE_PAGER to another, or use --no-pager\n", command)}
	a.Out = a.pager
	if _, ok := terminal.Detect(a.Err); ok {
		a.Err = a.pager.Messages()
	}
	return ctx
}

// pagerCommand returns the command of the pager: $TXARCHIVE_PAGER, $PAGER, else less where it is installed; "" for cat, or for none.
func (a *app) pagerCommand() string {
	command := terminal.FirstNonEmpty(a.Getenv("TXARCHIVE_PAGER"), a.Getenv("PAGER"))
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

// endPage closes the pager. That the reader left it early is not an error.
func (a *app) endPage(err error) error {
	if a.pager == nil {
		return err
	}
	quit := a.pager.Close()
	a.Out, a.Err = a.pager.Terminal, a.pager.Stderr
	if quit {
		err = nil
	}
	a.pager = nil
	return err
}
