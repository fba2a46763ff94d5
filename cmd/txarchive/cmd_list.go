package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/show"
	"github.com/txarchive/txarchive/internal/suggest"
	"github.com/txarchive/txarchive/internal/terminal"
)

type listOptions struct {
	query                       string
	formatName, source, project string
	status                      string
	allVersions, unlimited      bool
	show.ListOptions
	typed query.TypedTimes // times of the query
}

// defaultRows is how many rows a table has unless --limit says otherwise.
const defaultRows = 50

func newListCommand(a *app) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list [QUERY...]",
		Short: "List runs or conversations",
		Long: "List runs, newest first, or only those that match a query (docs/query-language.md).\n\n" +
			"--format-name, --source, --project and --status are shorthands for fields of the query and take the same values, with\n" +
			"commas and wildcards. A start with ~ is stated by nothing: it is the last change of the run's files. Tables show 50 rows\n" +
			"by default. csv, json, ndjson and markdown show all rows, with costs in micro-USD and times in UTC." +
			exitCodes("4 no such run", "10 no archive"),
		Example: "  txarchive list\n" +
			"  txarchive list after:7d outcome:failed --sort cost\n" +
			"  txarchive list NOT is:child          # without sub-agents, as stats counts\n" +
			"  txarchive list --format-name awf,chibi --columns run,started,title\n" +
			"  txarchive list conversations r7sk2   # conversations of one run\n" +
			"  txarchive list --json tag:release | jq -r .run_id",
		RunE: func(cmd *cobra.Command, v []string) error {
			return runListRuns(cmd.Context(), a, o.given(cmd, v))
		},
		ValidArgsFunction: a.completeQuery,
	}
	runs := &cobra.Command{
		Use: "runs [QUERY...]", Short: "List runs (same as list alone)",
		Example:           "  txarchive list runs flow:build --sort tokens",
		RunE:              func(cmd *cobra.Command, v []string) error { return runListRuns(cmd.Context(), a, o.given(cmd, v)) },
		ValidArgsFunction: a.completeQuery,
	}
	conversations := &cobra.Command{
		Use: "conversations [RUN]", Short: "List the conversations of a run, or of all matching runs",
		Example: "  txarchive list conversations r7sk2\n  txarchive list conversations --query 'project:*shop* after:7d'",
		Args:    argCount(0, 1),
		RunE: func(cmd *cobra.Command, v []string) error {
			return runListConversations(cmd.Context(), a, o.given(cmd, nil), v)
		},
		ValidArgsFunction: a.completeRuns,
	}
	conversations.Flags().BoolVar(&o.allVersions, "all", false, "include documents beside conversations, copies and earlier versions")
	o.flags(a, cmd)
	cmd.AddCommand(runs, conversations)
	return cmd
}

// flags adds the flags that all lists share.
func (o *listOptions) flags(a *app, cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.StringVar(&o.query, "query", "", "only runs that match `QUERY` (same as the arguments of list)")
	f.StringVar(&o.formatName, "format-name", "", "only runs of the transcript formats `NAMES`")
	f.StringVar(&o.source, "source", "", "only runs from the sources `NAMES`")
	f.StringVar(&o.project, "project", "", "only runs of the projects `NAMES`")
	f.StringVar(&o.status, "status", "", "only runs with this `STATUS` (as the producer states it, or an outcome)")
	f.StringVar(&o.Sort, "sort", "started", "sort by `ORDER`, descending: started, ended, duration, events, tokens or cost")
	f.BoolVar(&o.Reverse, "reverse", false, "reverse the order")
	f.IntVarP(&o.Limit, "limit", "n", 0, "show at most `N` rows (0 = no limit; default 50 for tables)")
	f.StringSliceVar(&o.Columns, "columns", nil, "show these `COLUMNS`, in this order (a wrong name lists all)")
	f.StringVar(&o.Output, "format", "", "output `FORMAT`: table, csv, json (an array), ndjson or markdown (default table; ndjson with --json)")
	completeFlags(cmd, map[string]cobra.CompletionFunc{
		"format-name": completeFormats, "query": a.completeQuery, "source": a.completeValues("source"), "columns": completeColumns,
		"sort": fixed(show.Orders()...), "format": fixed(rows.Formats...),
		"status": fixed("succeeded", "failed", "cancelled", "running"), "project": a.completeValues("project"),
	})
}

// runListRuns lists runs.
func runListRuns(ctx context.Context, a *app, o listOptions) error {
	return a.printList(ctx, &o, show.RunColumns, "run", func(store *archive.Archive, of index.Selection) (iter.Seq2[show.Row, error], error) {
		tags, err := show.TagsByRun(ctx, store.Index())
		if err != nil {
			return nil, err
		}
		return func(yield func(show.Row, error) bool) {
			for r, err := range store.Index().Runs(ctx, of, o.page()) {
				if !yield(show.Row{Run: &r, Tags: show.AllTags(&r, tags)}, err) || err != nil {
					return
				}
			}
		}, nil
	})
}

// runListConversations lists the conversations of one run, or of those that the options select.
func runListConversations(ctx context.Context, a *app, o listOptions, v []string) error {
	return a.printList(ctx, &o, show.ConversationColumns, "conversation", func(store *archive.Archive, of index.Selection) (iter.Seq2[show.Row, error], error) {
		if len(v) > 0 {
			if of.Query.Root != nil {
				return nil, failure.Usage("a run and --query cannot be combined", "use only one of them")
			}
			id, err := lookup.Run(ctx, store.Index(), v[0])
			if failure.IsNotFound(err) {
				return nil, failure.NotFound(fmt.Sprintf("no run %q", v[0]),
					"`txarchive list conversations --query "+terminal.ShellQuote(v[0])+"` takes a query; `txarchive list` shows ids of runs")
			}
			if err != nil {
				return nil, err
			}
			of = index.Selection{Run: id, Named: true}
		}
		return show.Conversations(store.Index().ConversationsOf(ctx, of, o.page())), nil
	})
}

// printList prints the rows that rows returns of what the options select, and notes why there may be none.
func (a *app) printList(ctx context.Context, o *listOptions, columns []show.Column, what string,
	rows func(*archive.Archive, index.Selection) (iter.Seq2[show.Row, error], error)) error {
	if err := o.settle(a, columns); err != nil {
		return err
	}
	of, err := o.selection(a)
	if err != nil {
		return err
	}
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer a.closeRead(store)
	all, err := rows(store, of)
	if err != nil {
		return err
	}
	n, err := show.List(&a.Printer, o.ListOptions, columns, all)
	if err != nil {
		return err
	}
	show.NoteIgnored(&a.Printer, search.Ignored(of.Query.Root))
	s := a.suggester(store)
	if n == 0 {
		a.explainEmpty(ctx, store, s, *o, of, what)
	}
	for _, n := range query.Conditions(of.Query.Root) {
		word, ok := n.(query.Word)
		if _, err := query.Parse("during:"+word.Text, a.Now(), a.Location()); ok && err == nil && word.Text != "now" {
			s.Suggest("%s was searched for as a word; runs of that time: during:%s", word.Text, word.Text)
		}
	}
	if n == 0 && of.Query.Root != nil {
		s.Else()
	}
	return nil
}

// explainEmpty notes why a list may be empty.
func (a *app) explainEmpty(ctx context.Context, store *archive.Archive, s *suggest.Suggester, o listOptions, asked index.Selection, what string) {
	if asked.Query.Root == nil {
		ids, _ := store.Index().RunIDs(ctx, index.Selection{Named: true}, index.Page{})
		known := int64(len(ids))
		switch {
		case known == 0:
			a.Note("There are no %ss yet. Next: txarchive ingest DIR", what)
		case what == "run":
			a.Note("No runs to list: %s pruned, rewritten or only referenced by others: txarchive sql 'SELECT * FROM v_runs'", terminal.Plural(known, "run was", "runs were"))
		case o.allVersions:
			a.Note("No conversations.")
		default:
			a.Note("No conversations to list; --all also lists documents, copies and earlier versions.")
		}
		return
	}
	a.Note("No %s matches.", what)
	matches := runsMatch(ctx, store, asked, index.Page{AllVersions: o.allVersions})
	if undated := suggest.Undated(asked.Query); undated != nil && !matches(asked.Query) { // a run may have no conversations
		for r, err := range store.Index().Runs(ctx, index.Selection{Query: undated}, index.Page{Limit: 1, AllVersions: o.allVersions}) {
			at := r.Started
			if !at.Valid {
				at = r.Changed
			}
			if err == nil && at.Valid {
				s.Suggest("At other times there are some: the newest of these runs is of %s", a.FormatTime(at))
			}
		}
	}
	command := "list"
	if what == "conversation" {
		command = "list conversations --query"
	}
	s.Relaxed(ctx, command, o.typed.Print(asked.Query), matches)
	s.Show(ctx, o.query)
}

// runsMatch returns a function that reports whether any run matches a query, in the place of that of a selection.
func runsMatch(ctx context.Context, store *archive.Archive, of index.Selection, page index.Page) func(*query.Tree) bool {
	page.Limit = 1
	return func(t *query.Tree) bool {
		of.Query = t
		ids, err := store.Index().RunIDs(ctx, of, page)
		return err == nil && len(ids) > 0
	}
}
