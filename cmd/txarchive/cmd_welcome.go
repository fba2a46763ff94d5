package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/terminal"
)

// runWelcome is txarchive without a command: it says what the archive holds and what to do next.
func runWelcome(ctx context.Context, a *app) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	store, err := a.openRead(ctx)
	if errors.Is(err, archive.ErrNoArchive) {
		if a.JSON {
			return a.PrintJSON(map[string]any{"archive": dir, "exists": false, "totals": nil})
		}
		a.welcome(fmt.Sprintf("There is no archive yet; the first ingest creates one in %s.", a.DisplayPath(dir)), [][2]string{
			a.firstIngest(),
			{"txarchive ingest DIR", "archive all transcripts below DIR"},
			{"txarchive source discover", "list what agents keep, and when they delete it"},
			{"txarchive --archive DIR ...", "use another archive (or set TXARCHIVE_DIR)"},
		})
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
	if a.JSON {
		return a.PrintJSON(map[string]any{"archive": dir, "exists": true, "totals": s.Totals})
	}
	sources, err := source.All(ctx, store.Index())
	if err != nil {
		return err
	}
	a.greet(dir, s.Totals, len(sources))
	return nil
}

// firstIngest says what an ingest takes while there are no sources.
func (a *app) firstIngest() [2]string {
	what := "archive what agents keep"
	if here, err := os.Getwd(); err == nil && !a.hasHome(here) {
		what += ", and runs below this directory"
	}
	return [2]string{"txarchive ingest", what}
}

// greet prints what an archive holds, and what to do next.
func (a *app) greet(dir string, t index.Sums, sources int) {
	switch {
	case t.Files == 0 && sources == 0:
		a.welcome(fmt.Sprintf("The archive %s is empty, and has no sources.", a.DisplayPath(dir)), [][2]string{
			a.firstIngest(),
			{"txarchive ingest DIR", "archive all transcripts below DIR"},
		})
	case t.Files == 0:
		a.welcome(fmt.Sprintf("The archive %s is empty.", a.DisplayPath(dir)), [][2]string{
			{"txarchive ingest", "archive what is new in " + terminal.Plural(sources, "source", "sources")},
			{"txarchive source list", "list the sources"},
		})
	default:
		next := [][2]string{
			{"txarchive search WORDS", "find something"},
			{"txarchive list", "list the latest runs"},
			{"txarchive cost", "show what was spent"},
			{"txarchive ingest", "archive what is new"},
			{"txarchive schedule install", "do that every night"},
		}
		if t.Problems > 0 {
			next = append(next, [2]string{"txarchive doctor", "show what could not be read: " + terminal.Plural(t.Problems, "problem", "problems")})
		}
		a.welcome(fmt.Sprintf("%s holds %s in %s: %s, %s.", a.DisplayPath(dir), terminal.Bytes(t.Bytes), terminal.Plural(t.Files, "file", "files"),
			terminal.Plural(t.Runs, "run", "runs"), terminal.Plural(t.Events, "event", "events")), next)
	}
}

// welcome prints a state and what can be done next.
func (a *app) welcome(state string, next [][2]string) {
	a.Line("%s", state)
	fmt.Fprintln(a.Out)
	width := 27
	for i := range next {
		next[i][0] = a.completeCommands(next[i][0])
		width = max(width, terminal.Width(next[i][0]))
	}
	for _, n := range next {
		lead, margin := "  "+a.Style().Bold(terminal.Pad(n[0], width))+"  ", strings.Repeat(" ", width+4)
		if screen := a.Width(); screen > 0 && screen < 3*width/2 { // too narrow for two columns
			lead, margin = "  "+a.Style().Bold(n[0])+"\n    ", "    "
		}
		fmt.Fprintln(a.Out, a.Wrap(lead, n[1], margin))
	}
	fmt.Fprintln(a.Out, "\nAll commands: txarchive --help")
}
