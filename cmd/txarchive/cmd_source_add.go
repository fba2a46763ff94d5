package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/status"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/typo"
)

type sourceOptions struct {
	name, home, host string
	exclude          []string
}

func newSourceAddCommand(a *app) *cobra.Command {
	var o sourceOptions
	cmd := &cobra.Command{
		Use:   "add DIR|FILE|PROGRAM",
		Short: "Add a directory, a file or a program as a source",
		Long: "Add a source, without archiving anything yet. With a FILE, nothing else in its directory is scanned. PROGRAM stands\n" +
			"for all its default directories that exist, and those that its environment variables name. It is one of\n" +
			breakLines(strings.Join(all.Programs(), ", ")) + ".\n\n" +
			"For a directory with the name of a program, write ./NAME.\n\n" +
			"--host names the machine that the files were copied from; their runs are shown with it. Runs that are on two machines\n" +
			"are counted once." +
			exitCodes("4 no such directory, or the program has no files", "8 refused", "11 another txarchive is writing"),
		Example: "  txarchive source add claude-code\n  txarchive source add --name work --exclude 'clients/' /mnt/work/swarm\n" +
			"  txarchive source add codex --home /mnt/laptop/home/ada --host laptop",
		Args:      argCount(1, 1),
		ValidArgs: all.Programs(),
		RunE:      func(cmd *cobra.Command, v []string) error { return runSourceAdd(cmd.Context(), a, v[0], o) },
	}
	cmd.Flags().StringVar(&o.name, "name", "", "call the source `NAME` (default the name of the directory, or of the program)")
	a.pathVar(cmd.Flags(), &o.home, "home", "look for the directories of PROGRAM in the home `DIR` (default your own)")
	cmd.Flags().StringVar(&o.host, "host", "", "record `MACHINE` as the origin of the files (default this one)")
	cmd.Flags().StringArrayVar(&o.exclude, "exclude", nil, "exclude files and directories that match `PATTERN`, such as '*.tmp' (repeatable; see source exclude)")
	return cmd
}

func runSourceAdd(ctx context.Context, a *app, what string, o sourceOptions) error {
	if strings.ContainsFunc(o.host, func(r rune) bool { return r == '/' || r == '\\' || r == '\n' || terminal.IsHidden(r) }) {
		return failure.Usage(fmt.Sprintf("invalid machine name %q", o.host), "a name cannot contain slashes or control characters")
	}
	if err := checkPatterns(o.exclude); err != nil {
		return err
	}
	if !slices.Contains(all.Programs(), what) {
		if o.home != "" {
			return failure.Usage("--home needs a program, and "+what+" is not one that txarchive knows", "name the directory itself, or one of "+strings.Join(all.Programs(), ", "))
		}
		return a.noteFollowed(a.updateSources(ctx, a.openOrCreate, func(store *archive.Archive, known []source.Named) error {
			return a.add(ctx, store, known, []wantedSource{{dir: what, name: o.name}}, o)
		}))
	}
	found, err := a.discover(ctx, o.home)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(f *ingest.Found) bool { return f.Name != what })
	switch {
	case len(found) == 0:
		return failure.NotFound("no files of "+what+" in its default directories", "name its directory: txarchive source add DIR; see docs/formats for where it looks")
	case len(found) > 1 && o.name != "":
		return failure.Usage(fmt.Sprintf("%s has %d directories, and --name can name only one", what, len(found)), "omit --name, or add the directories one by one")
	}
	return a.noteFollowed(a.updateSources(ctx, a.openOrCreate, func(store *archive.Archive, known []source.Named) error {
		return a.follow(ctx, store, known, found, o)
	}))
}

// noteFollowed notes what to do after sources were added.
func (a *app) noteFollowed(err error) error {
	if err == nil {
		a.Note("Next: txarchive ingest")
	}
	return err
}

// follow makes sources of the places that were found and are not sources yet.
func (a *app) follow(ctx context.Context, store *archive.Archive, known []source.Named, found []*ingest.Found, o sourceOptions) error {
	var dirs []wantedSource
	for _, f := range found {
		if f.Source != "" {
			if len(o.exclude) > 0 {
				return refuseFollowed(f.Dir, f.Source)
			}
			a.Note("%s is already in the source %q", a.DisplayPath(f.Dir), f.Source)
			continue
		}
		dirs = append(dirs, wantedSource{dir: f.Dir, name: o.name, like: f.Name})
	}
	return a.add(ctx, store, known, dirs, o)
}

// wantedSource is a directory that is to become a source, with the name that it must have, or one that its name may be derived from.
type wantedSource struct {
	dir, name, like string
}

// put adds a source to others, in the place of one of its name.
func put(all []source.Named, n source.Named) []source.Named {
	if i := slices.IndexFunc(all, named(n.Name)); i >= 0 {
		all[i] = n
		return all
	}
	return append(all, n)
}

// likeness returns the name that the name of a new source may be derived from. A program's directories that differ in name are told apart by
// it: claude-code, claude-code-plans.
func (w wantedSource) likeness(known []source.Named, name, host, at string) string {
	like := cmp.Or(w.like, name)
	if host != "" && !strings.HasSuffix(like, "-"+host) {
		like += "-" + host
	}
	if i := slices.IndexFunc(known, named(like)); i >= 0 && w.like != "" {
		what := filepath.Base(at)
		if filepath.Base(status.Followed(known[i].Root, known[i].Only)) != what {
			like += "-" + strings.TrimSuffix(strings.TrimLeft(what, "."), ".jsonl")
		}
	}
	return like
}

// add writes the facts of new sources.
func (a *app) add(ctx context.Context, store *archive.Archive, known []source.Named, dirs []wantedSource, o sourceOptions) error {
	var facts []blob.Fact
	var added []source.Named
	for _, w := range dirs {
		n, err := a.source(ctx, store, known, w, o)
		if err != nil {
			return err
		}
		if n != nil {
			facts, added, known = append(facts, a.sourceFact(n.Name, &n.Source)), put(added, *n), put(known, *n)
		}
	}
	if len(added) == 0 {
		return nil
	}
	if err := a.ingester(store).WriteFacts(ctx, facts); err != nil {
		return err
	}
	for _, n := range added {
		a.Note("Source %q follows %s.", n.Name, a.DisplayPath(status.Followed(n.Root, n.Only)))
	}
	return nil
}

// nearPrograms returns the programs whose names begin with what was typed, else those that it may be a slip of.
func nearPrograms(typed string) []string {
	near := slices.DeleteFunc(slices.Clone(all.Programs()), func(name string) bool { return !strings.HasPrefix(name, typed) })
	if len(near) > 0 {
		return near
	}
	return slices.DeleteFunc(slices.Clone(all.Programs()), func(name string) bool {
		return typo.Distance([]rune(typed), []rune(name)) > len(typed)/3
	})
}

// followAgain gives a source that was removed, and is added again, the host and patterns that it had, if anything was stored from it.
func followAgain(ctx context.Context, store *archive.Archive, n, was *source.Named) error {
	stored, err := hasVersions(ctx, store, was.Name)
	if stored {
		n.Host, n.Away = was.Host, was.Away
		if len(n.Exclude) == 0 {
			n.Exclude = was.Exclude
		}
	}
	return err
}

// source returns the source for a directory, or for a file in one; nil if it is followed already.
func (a *app) source(ctx context.Context, store *archive.Archive, known []source.Named, w wantedSource, o sourceOptions) (*source.Named, error) {
	roots, err := source.Resolve(ctx, store.Index(), []string{w.dir})
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsRune(w.dir, filepath.Separator) {
		hint := "programs are " + strings.Join(all.Programs(), ", ")
		if near := nearPrograms(strings.ToLower(w.dir)); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, ", ") + "?"
		}
		return nil, failure.NotFound(fmt.Sprintf("%q is neither a directory nor a program that txarchive knows", w.dir), hint)
	}
	if err != nil {
		return nil, explainExcluded(err)
	}
	root := roots[0]
	at := filepath.Join(root.Dir, filepath.FromSlash(root.Below))
	info, err := os.Stat(at)
	if err != nil {
		return nil, failure.NotFound(w.dir+" does not exist", "name a directory or a file")
	}
	i := slices.IndexFunc(known, named(root.Source))
	if i >= 0 && known[i].Removed != nil && root.Below != "." && (info.IsDir() || filepath.Dir(at) != root.Dir) { // that source is not scanned any more: the path becomes a source of its own
		root, i = ownSource(at, info, known), -1
	}
	if i >= 0 && known[i].Root != root.Dir {
		i = -1 // another source of this call has the name
	}
	n := &source.Named{Name: root.Source, Source: source.Source{Root: root.Dir, Exclude: o.exclude, Host: o.host, Away: o.host != "", Added: nowMicro(a), Command: "source add"}}
	if root.Below != "." {
		n.Only = []string{root.Below}
	}
	switch {
	case i < 0:
		n.Name = source.FreeName(known, w.likeness(known, root.Source, o.host, at))
	case known[i].Removed == nil && len(known[i].Only) == 0 && root.Below != ".":
		return nil, failure.Refused(fmt.Sprintf("%s is inside the source %q", w.dir, root.Source), "it is scanned with that source")
	case w.name != "" && w.name != root.Source:
		return nil, failure.Refused(fmt.Sprintf("%s is already the source %q", w.dir, root.Source), "a source keeps its name once something is stored under it")
	case known[i].Removed != nil:
		w.name = ""
		if err := followAgain(ctx, store, n, &known[i]); err != nil {
			return nil, err
		}
	case len(o.exclude) > 0:
		return nil, refuseFollowed(w.dir, root.Source)
	case known[i].Follows(root.Below):
		a.Note("%s is already the source %q", w.dir, root.Source)
		return nil, nil
	default: // more paths of its directory
		n.Source, w.name = known[i].Source, ""
		n.Follow(root.Below)
	}
	if w.name != "" {
		if err := checkNewName(known, w.name); err != nil {
			return nil, err
		}
		n.Name = w.name
	}
	if n.Host == "" {
		n.Host, _ = os.Hostname() // "" if it is unknown
	}
	return n, nil
}

// ownSource returns a directory, or a file in one, as a source of its own.
func ownSource(at string, info fs.FileInfo, known []source.Named) source.Root {
	root := source.Root{Dir: at, Below: "."}
	if !info.IsDir() {
		root = source.Root{Dir: filepath.Dir(at), Below: filepath.Base(at)}
	}
	root.Source = source.FreeName(known, filepath.Base(root.Dir))
	return root
}
