package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/show"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newTagCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tag",
		Short: "Add, remove and list tags of runs",
		Long: "Tag runs with words of your own, to find them (tag:release) and to match them in a retention policy. Tags are stored\n" +
			"in the packs, like the originals, and are the same on every machine. Tags that a producer states, such as Flow\n" +
			"Studio's, are found and matched as well, but are not in the list, and cannot be removed. RUN is an id, as for `show`." +
			exitCodes("4 no such run, or it has no such tag", "10 no archive", "11 another txarchive is writing"),
		Example: "  txarchive tag add r7sk2 release keep\n  txarchive tag remove r7sk2 keep\n  txarchive tag list\n  txarchive list tag:release",
	}
	cmd.AddCommand(
		&cobra.Command{Use: "add RUN TAG...", Short: "Add tags to a run", Args: argCount(2, unlimited),
			Example: "  txarchive tag add r7sk2 release", ValidArgsFunction: a.completeTagging,
			RunE: func(cmd *cobra.Command, v []string) error { return runTag(cmd.Context(), a, v[0], v[1:], true) }},
		&cobra.Command{Use: "remove RUN TAG...", Short: "Remove tags from a run", Args: argCount(2, unlimited),
			Example: "  txarchive tag remove r7sk2 release", ValidArgsFunction: a.completeTagging,
			RunE: func(cmd *cobra.Command, v []string) error { return runTag(cmd.Context(), a, v[0], v[1:], false) }},
		&cobra.Command{Use: "list [RUN]", Short: "List the tags of a run, or of all runs", Args: argCount(0, 1),
			Example: "  txarchive tag list --json | jq -r .tag | sort | uniq -c", ValidArgsFunction: a.completeRuns,
			RunE: func(cmd *cobra.Command, v []string) error {
				return runTagList(cmd.Context(), a, strings.Join(v, ""))
			}})
	return cmd
}

func runTag(ctx context.Context, a *app, id string, names []string, add bool) error {
	for _, tag := range names {
		if err := checkTag(tag); err != nil {
			return err
		}
	}
	return a.update(ctx, a.openWrite, func(store *archive.Archive, ing *ingest.Ingester) error {
		run, err := lookup.Run(ctx, store.Index(), id)
		if err != nil {
			return err
		}
		of, err := show.TagsByRun(ctx, store.Index())
		if err != nil {
			return err
		}
		has, facts, err := a.changeTags(run, of[run], names, add)
		if err != nil {
			return err
		}
		if err := ing.WriteFacts(ctx, facts); err != nil {
			return err
		}
		slices.Sort(has)
		return a.printTags(run, has, len(facts))
	})
}

// changeTags adds or removes tags of a run that has some. It returns those that it has then, and the facts that say so.
func (a *app) changeTags(run string, has, names []string, add bool) (now []string, facts []blob.Fact, err error) {
	keep := func(tag string, value any) error {
		f, err := a.newFact(index.FactTag, index.RunFactKey(run, tag), value)
		facts = append(facts, f)
		return err
	}
	for _, tag := range names {
		i := slices.IndexFunc(has, func(t string) bool { return strings.EqualFold(t, tag) }) // queries ignore case, too
		switch {
		case add && i < 0:
			has = append(has, tag)
			err = keep(tag, map[string]time.Time{"added": nowMicro(a)})
		case !add && i < 0:
			err = failure.NotFound(fmt.Sprintf("%s has no tag %q", run, tag), "`txarchive tag list "+run+"` lists its tags")
		case !add:
			err = keep(has[i], nil)
			has = slices.Delete(slices.Clone(has), i, i+1)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return has, facts, nil
}

func (a *app) printTags(run string, has []string, changed int) error {
	if a.JSON {
		return a.PrintJSON(show.WithTags(map[string]any{"run_id": run, "changed": changed}, has))
	}
	switch {
	case changed == 0:
		a.Note("%s already has these tags.", run)
	case len(has) == 0:
		a.Note("%s has no tags now.", run)
	default:
		word := "tags"
		if len(has) == 1 {
			word = "tag"
		}
		a.Note("%s has the %s %s", run, word, strings.Join(has, ", "))
	}
	return nil
}

func runTagList(ctx context.Context, a *app, id string) error {
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	run := ""
	if id != "" {
		if run, err = lookup.Run(ctx, store.Index(), id); err != nil {
			return err
		}
	}
	rows, err := show.Tags(ctx, store.Index())
	if err != nil {
		return err
	}
	l := a.Listing(terminal.Column{Head: "run"}, terminal.Column{Head: "tag", Shorten: terminal.TruncateMiddle}, terminal.Column{Head: "added", DropRank: 2}, terminal.Column{Head: "what", Shorten: terminal.Truncate, DropRank: 1})
	for _, row := range rows {
		if run != "" && row.Run != run {
			continue
		}
		added := ""
		if !row.Added.IsZero() {
			added = a.FormatClock(row.Added.Time)
		}
		if err := l.Row(row, row.Run, row.Name, added, a.describeRun(ctx, store, row.Run)); err != nil {
			return err
		}
	}
	if run != "" {
		l.End(fmt.Sprintf("%s has no tags. Next: txarchive tag add %[1]s TAG", run))
	} else {
		l.End("There are no tags. Next: txarchive tag add RUN TAG")
	}
	return nil
}

// checkTag rejects a tag that a query could not name.
func checkTag(tag string) error {
	switch {
	case tag == "" || len(tag) > 100 || terminal.OneLine(tag) != tag || strings.ContainsAny(tag, " ,*\"()"):
		return failure.Usage(fmt.Sprintf("invalid tag %q", tag), "a tag is one word of at most 100 bytes, without commas, stars, quotes and brackets")
	case strings.HasPrefix(tag, "-"):
		return failure.Usage(fmt.Sprintf("%q looks like a flag", tag), "a tag cannot start with -")
	}
	return nil
}
