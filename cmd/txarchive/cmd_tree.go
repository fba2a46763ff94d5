package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/show"
)

func newTreeCommand(a *app) *cobra.Command {
	var o search.TreeOptions
	var down bool
	cmd := &cobra.Command{
		Use:   "tree ID|GROUP",
		Short: "Show the tree of a run and its sub-runs",
		Long: "Show the tree that a run, or each run of a group, belongs to: which run started which, with status, tokens and cost.\n" +
			"Sub-runs that were announced but never found are marked. A run that is in the tree twice is shown in full only once." +
			exitCodes("4 no such run", "10 no archive"),
		Example: "  txarchive tree r7sk2\n" +
			"  txarchive tree r7sk2 --down   # without the runs above it\n" +
			"  txarchive tree r7sk2 --kinds parent,fork,reference,message",
		Args:              argCount(1, 1),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, v []string) error {
			o.Up = !down
			return runTree(cmd.Context(), a, o, v[0])
		},
	}
	f := cmd.Flags()
	f.BoolVar(&down, "down", false, "start at this run, not at its topmost ancestor")
	f.StringSliceVar(&o.Kinds, "kinds", nil, "follow links of these `KINDS`: "+strings.Join(linkKinds, ", ")+" (default parent, fork, call)")
	completeFlags(cmd, map[string]cobra.CompletionFunc{"kinds": fixedWords(linkKinds...)})
	return cmd
}

// linkKinds are the kinds of links that formats report, as docs/sql.md lists them.
var linkKinds = []string{"parent", "fork", "call", "resume", "message", "reference", "depends"}

func runTree(ctx context.Context, a *app, o search.TreeOptions, id string) error {
	for _, kind := range o.Kinds {
		if !slices.Contains(linkKinds, kind) {
			return failure.Usage(fmt.Sprintf("unknown kind of link %q", kind), "--kinds "+strings.Join(linkKinds, ","))
		}
	}
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	roots, err := rootsOf(ctx, store, id)
	if err != nil {
		return err
	}
	tags, err := show.TagsByRun(ctx, store.Index())
	if err != nil {
		return err
	}
	shown := map[string]bool{}
	for _, run := range roots {
		tree, err := a.searcher(store).Tree(ctx, run, o)
		if err != nil {
			return err
		}
		if shown[tree.Run.ID] {
			continue // it was printed below another run of the group
		}
		shown[tree.Run.ID] = true
		if err := show.Tree(&a.Printer, tree, run, tags); err != nil {
			return err
		}
	}
	return nil
}

// rootsOf returns the runs that an id names: one, or those of a group.
func rootsOf(ctx context.Context, store *archive.Archive, id string) ([]string, error) {
	run, err := lookup.Run(ctx, store.Index(), id)
	if err != nil {
		runs, bad := store.Index().RunIDs(ctx, index.Selection{Group: id}, index.Page{})
		if bad != nil {
			return nil, bad
		}
		if len(runs) > 0 {
			slices.Reverse(runs) // the oldest first
			return runs, nil
		}
		return nil, err
	}
	return []string{run}, nil
}
