package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/terminal"
)

// hintFiles says how to name originals.
const hintFiles = "names are SOURCE/PATH: txarchive sql 'SELECT source, path FROM v_files'"

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
	v, err := findVersion(ctx, store, name, number)
	if err != nil {
		return err
	}
	out := a.rawOutput()
	_, err = io.Copy(out, store.Content(ctx, v))
	return errors.Join(err, out.Close())
}

// findVersion returns the one version that a name stands for.
func findVersion(ctx context.Context, store *archive.Archive, name string, number int) (index.FileVersion, error) {
	filters, err := resolveFilters(ctx, store, name)
	if err != nil {
		return index.FileVersion{}, err
	}
	var found []index.FileVersion
	files := map[string]bool{}
	for _, f := range filters {
		f.Number, f.Newest = number, number == 0
		for v, err := range store.Index().Versions(ctx, f) {
			if err != nil {
				return index.FileVersion{}, err
			}
			if file := v.Source + "/" + v.Path; !files[file] {
				files[file] = true
				found = append(found, v)
			}
		}
	}
	switch {
	case len(found) == 0 && number != 0:
		return index.FileVersion{}, failure.NotFound(fmt.Sprintf("%s has no version %d", name, number), "`txarchive show ID --versions` lists them")
	case len(found) == 0:
		return index.FileVersion{}, failure.NotFound(fmt.Sprintf("no file %s in the archive", name), hintFiles)
	case len(found) > 1:
		var few []string
		for _, v := range found[:min(len(found), 5)] {
			few = append(few, v.Source+"/"+v.Path)
		}
		slices.Sort(few)
		more := ""
		if n := len(found) - len(few); n > 0 {
			more = fmt.Sprintf(" or one of %d more: txarchive show %s --versions", n, name)
		}
		return index.FileVersion{}, failure.Usage(fmt.Sprintf("%s is stored in %d files", name, len(found)), "name one: "+strings.Join(few, ", ")+more)
	}
	return found[0], nil
}

// resolveFilters returns filters for what a name may stand for: SOURCE/PATH, a path on this machine, or an id.
func resolveFilters(ctx context.Context, store *archive.Archive, name string) ([]index.VersionFilter, error) {
	if files, err := fileFilters(ctx, store, name); err != nil || files != nil {
		return files, err
	}
	what, err := resolve(ctx, store, name)
	if failure.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return versionFilters(ctx, store, what)
}

// fileFilters returns the filter for the file of a name, SOURCE/PATH or a path on this machine; nil if there is none.
func fileFilters(ctx context.Context, store *archive.Archive, name string) ([]index.VersionFilter, error) {
	sources, err := ingest.Sources(ctx, store.Index())
	if err != nil {
		return nil, err
	}
	var all []index.VersionFilter
	source, path, _ := strings.Cut(filepath.ToSlash(name), "/")
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		if s.Name == source && path != "" {
			all = append(all, index.VersionFilter{Source: source, Path: path})
		}
		if rel, err := filepath.Rel(s.Root, abs); err == nil && filepath.IsLocal(rel) && rel != "." {
			all = append(all, index.VersionFilter{Source: s.Name, Path: filepath.ToSlash(rel)})
		}
	}
	for _, f := range all {
		for _, err := range store.Index().Versions(ctx, f) {
			if err != nil {
				return nil, err
			}
			return []index.VersionFilter{f}, nil
		}
	}
	return nil, nil
}

// versionFilters returns filters for the originals that hold a run, a conversation or an event.
func versionFilters(ctx context.Context, store *archive.Archive, what target) ([]index.VersionFilter, error) {
	switch {
	case what.event != "":
		rows, err := store.Index().Event(ctx, what.event)
		if err != nil {
			return nil, err
		}
		return []index.VersionFilter{{Source: rows[0].Place.Source, Path: rows[0].Place.Path}}, nil
	case what.conversation != "":
		c, err := store.Index().Conversation(ctx, what.conversation)
		if err != nil {
			return nil, err
		}
		return []index.VersionFilter{{Source: c.Key.Source, Path: c.Key.Path}}, nil
	}
	return []index.VersionFilter{{Run: what.run}}, nil
}

// rawOutput returns the writer for the bytes of originals. They go out unchanged, except to a terminal, which would act on them.
func (a *app) rawOutput() io.WriteCloser {
	if _, ok := terminal.Detect(a.Out); ok {
		return &terminal.CleanWriter{W: a.Out}
	}
	return nopCloser{a.Out}
}

// nopCloser is a writer whose Close does nothing.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
