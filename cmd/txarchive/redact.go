package main

import (
	"context"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/secret"
	"github.com/txarchive/txarchive/internal/terminal"
)

// texts returns the texts of an archive, without credentials if --redact is given. A text is redacted as a whole, before anything is cut
// out of it or wrapped.
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

// redactOutput puts a redactor before the results, for what is not the text of an event: titles, attributes, answers of `sql`.
func (a *app) redactOutput() {
	if !a.redact {
		return
	}
	r := &secret.Redactor{W: a.Out}
	a.redactor, a.Out = r, r
	if _, ok := terminal.Detect(r.W); ok {
		a.Out = redactedTerminal{r}
	}
}

// endRedaction prints the rest of the last line.
func (a *app) endRedaction(err error) error {
	if a.redactor == nil {
		return err
	}
	a.Out = a.redactor.W
	if failed := a.redactor.Flush(); err == nil {
		err = failed
	}
	a.redactor = nil
	return err
}

// redactedTerminal is a redactor whose results go to a terminal.
type redactedTerminal struct{ *secret.Redactor }

// Columns implements terminal.Screen. Lines may be of any length: nothing tells the half of a credential that a table or a title was cut in.
func (redactedTerminal) Columns() int { return 0 }
