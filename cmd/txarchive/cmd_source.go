package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/status"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newSourceCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "source",
		Short: "Manage sources, the directories to archive",
		Long: "Manage sources. A source is a directory, or some files in one, that `ingest` without arguments scans. `ingest DIR` and\n" +
			"`ingest FILE` add sources by themselves." +
			exitCodes("4 no such source or directory", "8 refused", "10 no archive", "11 another txarchive is writing"),
		Example: "  txarchive source discover\n  txarchive source add claude-code\n  txarchive source add ~/.local/share/awf\n  txarchive source list\n  txarchive source exclude awf '*.tmp'\n  txarchive source remove awf",
	}
	cmd.AddCommand(newSourceAddCommand(a), newSourceDiscoverCommand(a), newSourceExcludeCommand(a),
		&cobra.Command{Use: "list", Short: "List the sources", Example: "  txarchive source list", Args: argCount(0, 0),
			RunE: func(cmd *cobra.Command, _ []string) error { return runSourceList(cmd.Context(), a) }},
		&cobra.Command{Use: "remove NAME", Short: "Remove a source (what was archived is kept)", Example: "  txarchive source remove awf",
			Long: "Remove a source. What was archived is kept. NAME may also be a program, or one of its directories, that no source\n" +
				"follows: ingest, status and doctor no longer mention it.",
			Args: argCount(1, 1), ValidArgsFunction: a.completeSources,
			RunE: func(cmd *cobra.Command, v []string) error { return runSourceRemove(cmd.Context(), a, v[0]) }},
		&cobra.Command{Use: "rename OLD NEW", Short: "Rename a source before anything is stored under it", Example: "  txarchive source rename awf swarm",
			Args: argCount(2, 2), ValidArgsFunction: a.completeSources,
			RunE: func(cmd *cobra.Command, v []string) error { return runSourceRename(cmd.Context(), a, v[0], v[1]) }})
	return cmd
}

// sourceFact returns the fact of a source; nil removes the source.
func (a *app) sourceFact(name string, s *source.Source) blob.Fact {
	f, _ := a.newFact(source.Fact, name, s) // cannot fail: strings and times only
	return f
}

func runSourceRemove(ctx context.Context, a *app, name string) error {
	return a.updateSources(ctx, a.openWrite, func(store *archive.Archive, known []source.Named) error {
		i := slices.IndexFunc(known, named(name))
		if i < 0 {
			return a.leaveAlone(ctx, store, known, name)
		}
		if known[i].Removed != nil {
			return failure.NotFound(fmt.Sprintf("no source %q", name), "txarchive source list")
		}
		stored, err := hasVersions(ctx, store, name)
		if err != nil {
			return err
		}
		left, message := (*source.Source)(nil), "Source %q is no longer followed. Nothing was stored from it." // and it is as if it had never been
		// A place that is forgotten would be noted as one that nobody has thought of.
		if stored || a.ingester(store).IsPlace(known[i].Root, a.homeOf("")) {
			s, now := known[i].Source, nowMicro(a)
			s.Removed, left = &now, &s
		}
		if stored {
			message = "Source %q is no longer followed. What was stored from it is kept."
		}
		facts, err := a.solved(ctx, store, name)
		if err != nil {
			return err
		}
		if err := a.ingester(store).WriteFacts(ctx, append(facts, a.sourceFact(name, left))); err != nil {
			return err
		}
		a.Note(message, name)
		return nil
	})
}

// leaveAlone makes removed sources of what no source has, all of a program or one directory: nobody is told of it again.
func (a *app) leaveAlone(ctx context.Context, store *archive.Archive, known []source.Named, what string) error {
	loose, err := status.Unfollowed(ctx, a.ingester(store), a.homeOf(""))
	if err != nil {
		return err
	}
	dir, err := disk.RealPath(what)
	if err != nil {
		return err
	}
	typed := terminal.ShellQuote(what)
	var facts []blob.Fact
	for _, place := range loose {
		switch {
		case place.Name == what:
			typed = what
		case place.Dir != dir:
			continue
		}
		n, err := a.source(ctx, store, known, wantedSource{dir: place.Dir, like: place.Name}, sourceOptions{})
		if err != nil {
			return err
		}
		known = put(known, *n)
		n.Removed = &n.Added
		facts = append(facts, a.sourceFact(n.Name, &n.Source))
	}
	if len(facts) == 0 {
		return failure.NotFound(fmt.Sprintf("no source %q", what), "txarchive source list")
	}
	if err := a.ingester(store).WriteFacts(ctx, facts); err != nil {
		return err
	}
	a.Note("%s is left alone. To follow it after all: txarchive source add %s", what, typed)
	return nil
}

// solved returns facts that take back what could not be archived of a source: no scan of that name will try again.
func (a *app) solved(ctx context.Context, store *archive.Archive, name string) (facts []blob.Fact, err error) {
	for f, err := range store.Index().Facts(ctx, ingest.FactProblem) {
		if err != nil {
			return nil, err
		}
		if of, _, _ := strings.Cut(f.Key, "/"); of == name {
			facts = append(facts, blob.Retraction(ingest.FactProblem, f.Key, a.Now()))
		}
	}
	return facts, nil
}

func runSourceRename(ctx context.Context, a *app, old, name string) error {
	return a.updateSources(ctx, a.openWrite, func(store *archive.Archive, known []source.Named) error {
		i := slices.IndexFunc(known, named(old))
		if i < 0 {
			return failure.NotFound(fmt.Sprintf("no source %q", old), "txarchive source list")
		}
		if err := checkNewName(known, name); err != nil {
			return err
		}
		stored, err := hasVersions(ctx, store, old)
		if err != nil {
			return err
		}
		if stored {
			return failure.Refused(fmt.Sprintf("files are already stored under the name %q, and packs never change", old), "add the directory under the new name to another archive")
		}
		s := known[i].Source
		facts, err := a.solved(ctx, store, old)
		if err != nil {
			return err
		}
		err = a.ingester(store).WriteFacts(ctx, append(facts, a.sourceFact(old, nil), a.sourceFact(name, &s)))
		if err == nil {
			a.Note("Source %q is now %q.", old, name)
		}
		return err
	})
}

// updateSources is update with the sources that the archive knows.
func (a *app) updateSources(ctx context.Context, open func(context.Context) (*archive.Archive, error), work func(*archive.Archive, []source.Named) error) error {
	return a.update(ctx, open, func(store *archive.Archive, _ *ingest.Ingester) error {
		known, err := source.All(ctx, store.Index())
		if err != nil {
			return err
		}
		return work(store, known)
	})
}

// hasVersions reports whether anything is stored under the name of a source.
func hasVersions(ctx context.Context, store *archive.Archive, source string) (bool, error) {
	for _, err := range store.Index().Versions(ctx, index.VersionFilter{Source: source}) {
		return err == nil, err
	}
	return false, nil
}

func named(name string) func(source.Named) bool {
	return func(s source.Named) bool { return s.Name == name }
}

func checkNewName(known []source.Named, name string) error {
	switch {
	case name == "" || name == "." || name == ".." || slices.ContainsFunc([]rune(name), func(r rune) bool { return r == '/' || r == '\\' || terminal.IsHidden(r) || r == '\n' || r == '\t' }):
		return failure.Usage(fmt.Sprintf("invalid source name %q", name), "a name cannot contain slashes or control characters")
	case slices.ContainsFunc(known, named(name)):
		return failure.Refused(fmt.Sprintf("a source %q already exists", name), "choose another name")
	}
	return nil
}
