package main

import (
	"context"

	"github.com/spf13/cobra"
)

func newInitCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Create an empty archive",
		Long: "Create an archive in a missing or empty directory. This is optional: `ingest` also creates the archive." +
			exitCodes("8 the directory has other files in it", "11 another txarchive is writing"),
		Example: "  txarchive init\n  txarchive init --archive /backup/transcripts",
		Args:    argCount(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runInit(cmd.Context(), a) },
	}
}

func runInit(ctx context.Context, a *app) error {
	store, err := a.openOrCreate(ctx) // with its empty index
	if err != nil {
		return err
	}
	if err := store.Close(); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"archive": store.Dir()})
	}
	a.Line("The archive is %s", a.DisplayPath(store.Dir()))
	a.Note("Next: txarchive ingest DIR")
	return nil
}
