package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/ingest"
)

// rootsHere are what an archive without sources begins with: what formats know below the current directory. It says
// what it has found. In the home directory, or above it, that would be a search through everything: none there.
func (a *app) rootsHere(ctx context.Context, store *archive.Archive, g *ingest.Ingester) ([]ingest.Root, error) {
	known, err := ingest.Sources(ctx, store.Index())
	if err != nil || len(known) > 0 { // sources that were all removed are nobody's wish to begin anew
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if home, err := filepath.EvalSymlinks(a.getenv("HOME")); err == nil {
		if below, err := filepath.Rel(here, home); err == nil && filepath.IsLocal(below) {
			return nil, nil
		}
	}
	found, err := g.Below(ctx, here, store.Dir())
	if err != nil || len(found) == 0 {
		return nil, err
	}
	dirs := make([]string, 0, len(found))
	a.note("There are no sources yet. Below %s there are:", a.shown(here))
	for _, h := range found {
		dirs = append(dirs, h.Dir)
		below, err := filepath.Rel(here, h.Dir)
		if err != nil {
			return nil, err
		}
		a.note("  %-12s  %s", strings.Join(h.Formats, ", "), filepath.Join(".", below))
	}
	return ingest.Roots(ctx, store.Index(), dirs)
}
