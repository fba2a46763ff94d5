package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/lookup"
)

func newCatCommand(a *app) *cobra.Command {
	var version int
	cmd := &cobra.Command{
		Use:   "cat SOURCE/PATH | ID",
		Short: "Print an archived file",
		Long: "Print the contents of an archived file, byte for byte. Name it as `search` and `show` do (SOURCE/PATH), by its path on\n" +
			"this machine, or by the id of a run, conversation or event that is stored in a single file. On a terminal, control\n" +
			"codes are removed." +
			exitCodes("4 no such file or version", "5 the original is damaged", "10 no archive"),
		Example:           "  txarchive cat awf/storage/audit.jsonl > audit.jsonl\n  txarchive cat c4f09 | jq .\n  txarchive cat --version 1 awf/notes.md",
		Args:              argCount(1, 1),
		ValidArgsFunction: a.completePath,
		RunE:              func(cmd *cobra.Command, v []string) error { return runCat(cmd.Context(), a, v[0], version) },
	}
	cmd.Flags().IntVar(&version, "version", 0, "print version `N` of the file (default the newest)")
	return cmd
}

func runCat(ctx context.Context, a *app, name string, number int) error {
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	v, err := lookup.Version(ctx, store.Index(), name, number)
	if err != nil {
		return err
	}
	out := a.RawOutput()
	_, err = io.Copy(out, store.Content(ctx, v))
	return errors.Join(err, out.Close())
}
