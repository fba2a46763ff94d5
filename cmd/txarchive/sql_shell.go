package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/sqlshell"
)

// runShell is `txarchive sql` on a terminal: it asks for statements until there are no more.
func runShell(ctx context.Context, a *app, o sqlOptions, params map[string]any) error {
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	words, err := sqlshell.ReadWords(ctx, store.Index())
	if err != nil {
		return err
	}
	o.spare = true // not every statement uses every parameter
	s := a.shell(store, &o, params, words)
	s.History = a.history("sql_history")
	editor := sqlshell.NewEditor(words)
	defer editor.Close()
	if _, err := editor.ReadHistory(strings.NewReader(s.History.Text())); err != nil {
		a.Note("cannot read the history: %v", err)
	}
	s.Lines = editor
	a.Note("The archive is %s. Type .help for help, .quit to leave.", a.DisplayPath(store.Dir()))
	// Ctrl-C ends a statement here, not the program.
	return s.Run(context.WithoutCancel(ctx))
}

// shell returns a shell over an open archive, still without lines and history. It changes the format in o.
func (a *app) shell(store *archive.Archive, o *sqlOptions, params map[string]any, words *sqlshell.Words) *sqlshell.Shell {
	return &sqlshell.Shell{
		Words: words, Out: a.Out, Width: a.Width, Note: a.Note,
		Query: func(ctx context.Context, statement string) (int64, error) {
			return a.answer(ctx, store, *o, statement, params)
		},
		SetFormat: func(name string) error {
			if _, err := a.Rows(name); err != nil {
				return err
			}
			o.format = name
			return nil
		},
		Fail: func(err error) { a.exit(context.Background(), shellUsage(err)) },
	}
}

// shellUsage makes what the shell does not understand an error of usage.
func shellUsage(err error) error {
	if wrong, ok := errors.AsType[*sqlshell.Error](err); ok {
		return failure.Usage(wrong.Message, wrong.Hint)
	}
	return err
}

// history opens a history of a name below $XDG_STATE_HOME, or one that keeps nothing where there is no such directory.
func (a *app) history(name string) *sqlshell.History {
	dir := a.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home := a.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return &sqlshell.History{}
		}
		dir = filepath.Join(home, ".local", "state")
	}
	h, err := sqlshell.OpenHistory(filepath.Join(dir, "txarchive", name))
	if err != nil {
		a.log.Debug("shorten history", "path", h.Path, "err", err)
	}
	return h
}
