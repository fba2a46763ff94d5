package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
)

// sourceRow is a source as `source list` tells it.
type sourceRow struct {
	Name    string   `json:"name"`
	Root    string   `json:"root"`
	Only    []string `json:"only,omitempty"` // what of it is followed; all of it without
	Exclude []string `json:"exclude"`        // patterns of what is left out
	State   string   `json:"state"`          // present, missing, removed
	Host    *string  `json:"host"`
	Added   instant  `json:"added"`
	Removed instant  `json:"removed"`
	Files   int64    `json:"files"`
	Bytes   int64    `json:"bytes"`
}

func runSourceList(ctx context.Context, a *app) error {
	store, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	sources, err := ingest.Sources(ctx, store.Index())
	if err != nil {
		return err
	}
	l := a.listing(column{head: "source", flex: cutMiddle}, column{head: "state"}, column{head: "files", right: true, spare: 1},
		column{head: "size", right: true, spare: 2}, column{head: "directory", flex: cutMiddle})
	for _, s := range sources {
		row := sourceRow{Name: s.Name, Root: s.Root, Only: s.Only, Exclude: append([]string{}, s.Exclude...), State: sourceState(s), Host: orNull(s.Host), Added: instant{s.Added}}
		if s.Removed != nil {
			row.Removed.Time = *s.Removed
		}
		for v, err := range store.Index().Versions(ctx, index.VersionFilter{Source: s.Name, Newest: true}) {
			if err != nil {
				return err
			}
			row.Files++
			row.Bytes += v.Size
		}
		where := a.shown(followed(row.Root, row.Only))
		if len(row.Exclude) > 0 {
			where += " without " + orNone(row.Exclude)
		}
		if err := l.row(row, row.Name, row.State, number(row.Files), size(row.Bytes), where); err != nil {
			return err
		}
	}
	l.end("There are no sources yet. Next: txarchive ingest DIR, or txarchive source add DIR")
	return nil
}

// followed is what is scanned of a directory of which maybe only some is.
func followed(root string, only []string) string {
	switch len(only) {
	case 0:
		return root
	case 1:
		return filepath.Join(root, filepath.FromSlash(only[0]))
	}
	return filepath.Join(root, "{"+strings.Join(only, ",")+"}")
}

func sourceState(s ingest.Named) string {
	if s.Removed != nil {
		return "removed"
	}
	if _, err := os.Stat(s.Root); err != nil {
		return "missing"
	}
	return "present"
}
