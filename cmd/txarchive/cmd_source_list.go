package main

import (
	"context"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/status"
	"github.com/txarchive/txarchive/internal/terminal"
)

// sourceRow is a row of `source list`.
type sourceRow struct {
	Name    string            `json:"name"`
	Root    string            `json:"root"`
	Only    []string          `json:"only,omitempty"` // the paths that are followed; all of it without
	Exclude []string          `json:"exclude"`        // patterns of what is not scanned
	State   string            `json:"state"`          // present, missing, removed
	Host    *string           `json:"host"`
	Added   printer.Timestamp `json:"added"`
	Removed printer.Timestamp `json:"removed"`
	Files   int64             `json:"files"`
	Bytes   int64             `json:"bytes"`
}

func runSourceList(ctx context.Context, a *app) error {
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	sources, err := source.All(ctx, store.Index())
	if err != nil {
		return err
	}
	stored := map[string]index.SourceStats{}
	for s, err := range store.Index().SourceStats(ctx) {
		if err != nil {
			return err
		}
		stored[s.Source] = s
	}
	l := a.Listing(terminal.Column{Head: "source", Shorten: terminal.TruncateMiddle}, terminal.Column{Head: "state"}, terminal.Column{Head: "files", Right: true, DropRank: 1},
		terminal.Column{Head: "size", Right: true, DropRank: 2}, terminal.Column{Head: "directory", Shorten: terminal.TruncateMiddle})
	for _, s := range sources {
		row := sourceRow{Name: s.Name, Root: s.Root, Only: s.Only, Exclude: append([]string{}, s.Exclude...), State: status.StateOf(s), Host: printer.OrNull(s.Host), Added: printer.Stamp(s.Added),
			Files: stored[s.Name].Files, Bytes: stored[s.Name].Bytes}
		if s.Removed != nil {
			row.Removed.Time = *s.Removed
		}
		where := a.DisplayPath(status.Followed(row.Root, row.Only))
		if len(row.Exclude) > 0 {
			where += " without " + orNone(row.Exclude)
		}
		if err := l.Row(row, row.Name, row.State, terminal.Count(row.Files), terminal.Bytes(row.Bytes), where); err != nil {
			return err
		}
	}
	l.End("There are no sources yet. Next: txarchive ingest DIR, or txarchive source add DIR")
	return nil
}
