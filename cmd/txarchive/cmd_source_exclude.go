package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newSourceExcludeCommand(a *app) *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use:   "exclude NAME PATTERN...",
		Short: "Exclude files or directories of a source",
		Long: "Exclude files and directories of a source that match a PATTERN. Patterns are like those in .gitignore: one without a\n" +
			"slash is a name at any depth, any other is a path below the directory of the source. `*` and `?` stand for characters\n" +
			"of one name, `**` for directories, `[a-z]` for one character, `{a,b}` for one of several; a slash at the end means\n" +
			"directories only. Everything in an excluded directory is excluded, too.\n\n" +
			"Excluded files are no longer read, not even by `nightly`. What was archived of them before is kept and can be\n" +
			"searched; `txarchive prune --query` and `txarchive forget` remove it." +
			exitCodes("4 no such source or pattern", "8 refused", "10 no archive", "11 another txarchive is writing"),
		Example: "  txarchive source exclude claude-code '/-home-ada-clients-*/'\n  txarchive source exclude swarm '/experiments/**/llm' '*.tmp'\n" +
			"  txarchive source exclude swarm '*.tmp' --undo",
		Args:              argCount(2, unlimited),
		ValidArgsFunction: a.completeSources,
		RunE: func(cmd *cobra.Command, v []string) error {
			return a.updateSources(cmd.Context(), a.openWrite, func(store *archive.Archive, known []source.Named) error {
				return a.exclude(cmd.Context(), store, known, v[0], v[1:], undo)
			})
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "remove the PATTERNs, so that the next ingest archives what they excluded")
	return cmd
}

func (a *app) exclude(ctx context.Context, store *archive.Archive, known []source.Named, name string, patterns []string, undo bool) error {
	i := slices.IndexFunc(known, named(name))
	if i < 0 || known[i].Removed != nil {
		return failure.NotFound(fmt.Sprintf("no source %q", name), "txarchive source list")
	}
	s := known[i].Source
	s.Exclude = slices.Clone(s.Exclude)
	for _, p := range patterns {
		at := slices.Index(s.Exclude, p)
		switch {
		case undo && at < 0:
			return failure.NotFound(fmt.Sprintf("the source %q has no pattern %q", name, p), "its patterns: "+orNone(s.Exclude))
		case undo:
			s.Exclude = slices.Delete(s.Exclude, at, at+1)
		case at < 0:
			s.Exclude = append(s.Exclude, p)
		}
	}
	if err := checkPatterns(s.Exclude); err != nil {
		return err
	}
	if err := a.ingester(store).WriteFacts(ctx, []blob.Fact{a.sourceFact(name, &s)}); err != nil {
		return err
	}
	a.Note("Excluded from the source %q: %s", name, orNone(s.Exclude))
	return nil
}

func checkPatterns(patterns []string) error {
	for _, p := range patterns {
		if err := source.CheckPattern(p); err != nil {
			return failure.Usage(err.Error(), "such as '*.tmp', 'private/' or '/work/**/drafts'")
		}
	}
	return nil
}

func orNone(patterns []string) string {
	if len(patterns) == 0 {
		return "nothing"
	}
	return terminal.OneLine(strings.Join(patterns, ", "))
}

// refuseFollowed returns the error for patterns that are given for a new source when the directory is a source already, which may have
// patterns.
func refuseFollowed(dir, source string) error {
	return failure.Refused(fmt.Sprintf("%s is already in the source %q", dir, source), "txarchive source exclude "+terminal.OneLine(terminal.ShellQuote(source))+" PATTERN excludes more of it")
}

// explainExcluded adds a hint to the error for a path that its source excludes.
func explainExcluded(err error) error {
	if x, ok := errors.AsType[*source.ExcludedError](err); ok {
		return failure.Refused(terminal.OneLine(x.Error()), "txarchive source exclude "+terminal.OneLine(terminal.ShellQuote(x.Source)+" "+terminal.ShellQuote(x.Pattern))+" --undo")
	}
	return err
}
