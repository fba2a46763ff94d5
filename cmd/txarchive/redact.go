package main

import (
	"bytes"
	"context"
	"io"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/secret"
)

// texts are those of an archive: without credentials when that was asked for. A text is redacted as a whole, before
// anything is cut out of it or wrapped.
func (a *app) texts(store *archive.Archive) search.Texts {
	if a.redact {
		return redactedTexts{store}
	}
	return store
}

type redactedTexts struct{ store *archive.Archive }

func (r redactedTexts) Text(ctx context.Context, place index.Place, part int) (string, error) {
	text, err := r.store.Text(ctx, place, part)
	return secret.Redact(text), err
}

func (r redactedTexts) Placed(ctx context.Context, places []index.Place) func(context.Context, index.Place, int) (string, error) {
	read := r.store.Placed(ctx, places)
	return func(ctx context.Context, place index.Place, part int) (string, error) {
		text, err := read(ctx, place, part)
		return secret.Redact(text), err
	}
}

// redacts puts a redactor before the results, for what is no text of an event: titles, attributes, answers of `sql`.
func (a *app) redacts() {
	if !a.redact {
		return
	}
	r := &redactor{to: a.out}
	a.redactor, a.out = r, r
	if width, ok := terminal(r.to); ok {
		a.out = redactedTerminal{r, width}
	}
}

// endRedaction prints what is left of the last line.
func (a *app) endRedaction(err error) error {
	if a.redactor == nil {
		return err
	}
	a.out = a.redactor.to
	if failed := a.redactor.flush(); err == nil {
		err = failed
	}
	a.redactor = nil
	return err
}

// redactor takes credentials out of lines.
type redactor struct {
	to   io.Writer
	line bytes.Buffer
}

func (r *redactor) Write(b []byte) (int, error) {
	end := bytes.LastIndexByte(b, '\n') + 1
	r.line.Write(b[:end])
	if end > 0 {
		if err := r.flush(); err != nil {
			return 0, err
		}
	}
	r.line.Write(b[end:])
	return len(b), nil
}

func (r *redactor) flush() error {
	_, err := io.WriteString(r.to, secret.Redact(r.line.String()))
	r.line.Reset()
	return err
}

// redactedTerminal is a redactor before a terminal.
type redactedTerminal struct {
	*redactor
	width int
}

func (r redactedTerminal) columns() int { return r.width }
