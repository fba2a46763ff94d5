package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/terminal"
)

// firstRoots returns what an archive without sources begins with: the default directories of programs that exist, and what formats
// recognize below the current directory. Both are followed from then on, except in a dry run.
func (a *app) firstRoots(ctx context.Context, store *archive.Archive, g *ingest.Ingester) ([]source.Root, error) {
	known, err := source.All(ctx, store.Index())
	if err != nil || len(known) > 0 { // who has removed all sources does not want new ones
		return nil, err
	}
	found, err := g.Discover(ctx, a.homeOf(""))
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, f := range found {
		dirs = append(dirs, f.Dir)
	}
	here, err := a.rootsHere(ctx, store, g)
	if err != nil {
		return nil, err
	}
	if g.DryRun || len(found) == 0 {
		return source.Resolve(ctx, store.Index(), append(dirs, here...))
	}
	if err := a.follow(ctx, store, known, found, sourceOptions{}); err != nil {
		return nil, err
	}
	a.noteNights(found)
	roots, err := source.Followed(ctx, store.Index())
	if err != nil || len(here) == 0 {
		return roots, err
	}
	more, err := source.Resolve(ctx, store.Index(), here)
	return append(roots, slices.DeleteFunc(more, func(r source.Root) bool {
		return slices.ContainsFunc(roots, func(other source.Root) bool { return other.Source == r.Source })
	})...), err
}

// noteNights notes how what programs go on to write is archived as well, and which of them delete it, and when.
func (a *app) noteNights(found []*ingest.Found) {
	var deleted []string
	for _, f := range found {
		if one := fmt.Sprintf("%s after %s", f.Name, terminal.Plural(f.Days, "day", "days")); f.Days > 0 && !slices.Contains(deleted, one) {
			deleted = append(deleted, one)
		}
	}
	why := ""
	if len(deleted) > 0 {
		why = " before it is deleted (" + strings.Join(deleted, ", ") + ")"
	}
	a.Note("To archive what they write from now on%s: txarchive schedule install", why)
}

// hasHome reports whether a directory is the home directory or one above it.
func (a *app) hasHome(dir string) bool {
	home, err := filepath.EvalSymlinks(a.Getenv("HOME"))
	if err != nil {
		return false
	}
	below, err := filepath.Rel(dir, home)
	return err == nil && filepath.IsLocal(below)
}

// rootsHere returns the directories below the current one that formats recognize, and notes them. In the home directory, or above it,
// this would search everything, so it finds none there.
func (a *app) rootsHere(ctx context.Context, store *archive.Archive, g *ingest.Ingester) ([]string, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if a.hasHome(here) {
		a.Note("Run directories are not searched for in the whole home directory: txarchive ingest DIR archives those below DIR.")
		return nil, nil
	}
	found, err := g.FindBelow(ctx, here, store.Dir())
	if err != nil || len(found) == 0 {
		return nil, err
	}
	taken := "these are ingested and followed from now on"
	if g.DryRun {
		taken = "these would be ingested and followed"
	}
	a.Note("There are no sources yet. Below %s, %s:", a.DisplayPath(here), taken)
	widest := 0
	for _, h := range found {
		widest = max(widest, len(strings.Join(h.Formats, ", ")))
	}
	dirs := make([]string, 0, len(found))
	for _, h := range found {
		dirs = append(dirs, h.Dir)
		below, err := filepath.Rel(here, h.Dir)
		if err != nil {
			return nil, err
		}
		a.Note("  %-*s  %s", widest, strings.Join(h.Formats, ", "), filepath.Join(".", below))
	}
	return dirs, nil
}
