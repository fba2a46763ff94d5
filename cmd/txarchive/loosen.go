package main

import (
	"context"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/query"
)

// looseFields are compared with the whole of what a producer states, which people often know a part of.
var looseFields = []string{"project", "model", "path", "group", "source", "agent", "tool", "flow", "step", "format"}

// loosened is a query that found nothing, with its first such value as a part of what it is compared with; nil when it has none.
func loosened(t *query.Tree) *query.Tree {
	of := slices.Clone(query.Conditions(t.Root))
	for i, n := range of {
		f, ok := n.(query.Field)
		if !ok || !slices.Contains(looseFields, f.Name) {
			continue
		}
		if j := slices.IndexFunc(f.Values, func(v query.Value) bool { return v.Match == query.Whole && v.Text != "" }); j >= 0 {
			f.Values = slices.Clone(f.Values)
			f.Values[j].Match = query.Contains
			of[i] = f
			return &query.Tree{Root: query.And{Of: of}}
		}
	}
	return nil
}

// tryShow says of a query that found nothing when its only word is an id: those stand in no text.
func (a *app) tryShow(ctx context.Context, store *archive.Archive, text string) {
	if text = strings.TrimSpace(text); text == "" || strings.ContainsAny(text, " \"()*") {
		return
	}
	if _, err := find(ctx, store, text); err == nil {
		a.note("Try: txarchive show %s   (it is an id)", text)
	}
}

// tryNames says of a query that found nothing that a format it names is none, and which values of fields it may have meant.
func (a *app) tryNames(ctx context.Context, store *archive.Archive, text string) {
	t, err := query.Parse(text, a.now(), a.location())
	if err != nil || t.Root == nil {
		return
	}
	for n := range query.Leaves(t.Root) {
		f, ok := n.(query.Field)
		if !ok {
			continue
		}
		names := a.fieldValues(ctx, store, f.Name, "")
		for _, v := range f.Values {
			same := func(name string) bool { return strings.EqualFold(name, v.Text) }
			if v.Match != query.Whole || v.Text == "" || slices.ContainsFunc(names, same) {
				continue
			}
			far := func(name string) bool { return query.Distance([]rune(v.Text), []rune(name)) > min(2, len(v.Text)/2) }
			near := slices.DeleteFunc(slices.Clone(names), far)
			switch {
			case f.Name == "format" && len(near) == 0:
				a.note("There is no format %q. Try %s", v.Text, strings.Join(formatNames(), ", "))
			case f.Name == "format":
				a.note("There is no format %q. Try %s", v.Text, strings.Join(near, ", "))
			case len(near) > 0:
				meant := query.Field{Name: f.Name}
				for _, name := range near[:min(len(near), 5)] {
					meant.Values = append(meant.Values, query.Value{Text: name})
				}
				a.note("Did you mean %s instead of %s?", meant, v.Text)
			}
		}
	}
}

// tryLooser says what a query that found nothing may have been meant to be.
func (a *app) tryLooser(ctx context.Context, store *archive.Archive, command, text string) {
	now := a.now()
	t, err := query.Parse(text, now, a.location())
	if err != nil {
		return
	}
	a.tryNames(ctx, store, text)
	if t = loosened(t); t != nil {
		q := query.FindTypedTimes(text, now, a.location()).Print(t)
		a.note("Try: txarchive %s %s   (a value is compared as a whole)", command, shellQuote(strings.TrimSpace(q)))
	}
}
