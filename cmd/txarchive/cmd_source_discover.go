package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/status"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newSourceDiscoverCommand(a *app) *cobra.Command {
	var home string
	var follow bool
	cmd := &cobra.Command{
		Use:   "discover",
		Short: "Find directories where agents keep their files",
		Long: "Find the default directories of all programs that txarchive knows, and those that environment variables name. Nothing\n" +
			"is archived, and nothing is added as a source unless --add is given.\n\n" +
			"A file is at risk if its present content is not archived, and its program will delete it within a week." +
			exitCodes("10 no archive", "11 another txarchive is writing"),
		Example: "  txarchive source discover\n  txarchive source discover --add && txarchive ingest\n" +
			"  txarchive source discover --home /mnt/backup/home/ada\n  txarchive source discover --json | jq 'select(.at_risk_files > 0)'",
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runSourceDiscover(cmd.Context(), a, home, follow) },
	}
	a.pathVar(cmd.Flags(), &home, "home", "look below the home `DIR` instead of your own, and ignore environment variables")
	cmd.Flags().BoolVar(&follow, "add", false, "add everything that is found as sources")
	return cmd
}

func runSourceDiscover(ctx context.Context, a *app, home string, follow bool) error {
	found, err := a.discover(ctx, home)
	if err != nil {
		return err
	}
	if a.JSON {
		for _, f := range found {
			if err := a.PrintJSON(status.PlaceOf(f)); err != nil {
				return err
			}
		}
	} else {
		a.printPlaces(found, follow)
	}
	if !follow {
		return nil
	}
	return a.noteFollowed(a.updateSources(ctx, a.openOrCreate, func(store *archive.Archive, known []source.Named) error {
		return a.follow(ctx, store, known, found, sourceOptions{})
	}))
}

// discover looks for the directories of programs. An archive that does not exist yet has no sources.
func (a *app) discover(ctx context.Context, home string) ([]*ingest.Found, error) {
	store, done, err := a.ingestInto(ctx, ingestOptions{dryRun: true})
	if err != nil {
		return nil, err
	}
	found, err := a.ingester(store).Discover(ctx, a.homeOf(home))
	return found, errors.Join(err, done())
}

// homeOf returns the own home directory with the environment for "", else another one without an environment.
func (a *app) homeOf(dir string) ingest.Home {
	if dir != "" {
		return ingest.Home{Dir: dir, Env: func(string) string { return "" }, Foreign: true}
	}
	home := a.Getenv("HOME")
	if home == "" {
		home, _ = os.UserHomeDir() // Windows has another variable
	}
	return ingest.Home{Dir: home, Env: a.Getenv}
}

// printPlaces prints what was found; followed says that all of it will be followed.
func (a *app) printPlaces(found []*ingest.Found, followed bool) {
	g := &terminal.Table{Columns: []terminal.Column{{Head: "agent"}, {Head: "files", Right: true, DropRank: 3}, {Head: "size", Right: true, DropRank: 4}, {Head: "new", Right: true, DropRank: 1},
		{Head: "at risk", Right: true}, {Head: "source", DropRank: 2}, {Head: "directory", Shorten: terminal.TruncateMiddle}}}
	var notes []string
	loose := false
	for _, f := range found {
		source := f.Source
		if source == "" {
			source, loose = "-", true
		}
		g.Add(f.Name, terminal.Count(f.Files), terminal.Bytes(f.Bytes), terminal.Count(f.NewFiles), terminal.Count(f.RiskFiles), source, a.DisplayPath(f.Dir))
		if f.Deletes != "" && f.Days > 0 {
			note := fmt.Sprintf("%s: %s; on this machine after %s", f.Name, f.Deletes, terminal.Plural(f.Days, "day", "days"))
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	if len(found) == 0 {
		a.Note("No files of the programs that txarchive knows. Other directories: txarchive ingest DIR")
		return
	}
	fmt.Fprintln(a.Out, a.Fit(g))
	for _, n := range notes {
		a.Note("%s", n)
	}
	if loose && !followed {
		a.Note("Follow them with: txarchive source add NAME, or all with: txarchive source discover --add")
	}
}
