package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/txarchive/txarchive/internal/archive"
)

// runWelcome is txarchive without a command: it says what there is and what to do next.
func runWelcome(ctx context.Context, a *app) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	store, err := a.read(ctx)
	if errors.Is(err, archive.ErrNoArchive) {
		if a.json {
			return a.printJSON(map[string]any{"archive": dir, "exists": false, "totals": nil})
		}
		fmt.Fprintf(a.out, "There is no archive yet. This makes one in %s and takes all transcripts below DIR into it:\n\n", line(a.shown(dir)))
		fmt.Fprintf(a.out, "  txarchive ingest DIR\n\n")
		fmt.Fprintf(a.out, "Another place for it: --archive DIR, or TXARCHIVE_DIR. All commands: txarchive --help\n")
		return nil
	}
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := store.Index().Totals(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"archive": dir, "exists": true, "totals": s.Totals})
	}
	t := s.Totals
	fmt.Fprintf(a.out, "%s holds %s in %s: %s, %s.\n\n", line(a.shown(dir)), size(t.Bytes), plural(t.Files, "file", "files"),
		plural(t.Runs, "run", "runs"), plural(t.Events, "event", "events"))
	fmt.Fprintf(a.out, "  txarchive search WORDS    find something\n  txarchive ingest          take what is new\n  txarchive stats           see what there is\n\n")
	fmt.Fprintf(a.out, "All commands: txarchive --help\n")
	return nil
}
