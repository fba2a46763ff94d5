package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/show"
	"github.com/txarchive/txarchive/internal/status"
)

type searchOptions struct {
	search.Options
	show.AnswerOptions
	sort string
}

func newSearchCommand(a *app) *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Search the text of all transcripts",
		Long: "Search prompts, answers, reasoning, tool inputs and outputs, and errors. All words must match; \"quoted words\" must be\n" +
			"adjacent, \"quoted words\"~5 at most five words apart. Case and accents do not matter. The newest hits come first.\n\n" +
			"docs/query-language.md describes fields (tool:bash, after:7d, format:awf), OR, NOT (-) and the rest. Write --\n" +
			"before a query that begins with a minus sign." +
			exitCodes("7 stopped early (there may be more hits)", "10 no archive"),
		Example: "  txarchive search permission denied\n" +
			"  txarchive search '\"permission denied\" tool:bash'\n" +
			"  txarchive search --json --limit 0 TypeError > hits.ndjson\n" +
			"  txarchive search parseConfig -C 2   # with two events around each hit\n" +
			"  txarchive search is:error --facets tool,month\n" +
			"  txarchive search --files --null zebra | xargs -0 -r -n1 txarchive cat",
		Args: argCount(1, unlimited),
		RunE: func(cmd *cobra.Command, v []string) error {
			if (o.Files || len(o.Facets) > 0) && !cmd.Flags().Changed("limit") {
				o.Limit = 0 // of all hits
			}
			return runSearch(cmd.Context(), a, o, strings.Join(v, " "))
		},
		ValidArgsFunction: a.completeQuery,
	}
	f := cmd.Flags()
	f.IntVarP(&o.Limit, "limit", "n", 20, "show at most `N` hits, or originals with --files (0 = no limit, the default with --files and --facets)")
	f.StringVar(&o.After, "after", "", "continue after the hit with this `CURSOR`")
	f.StringVar(&o.sort, "sort", string(search.Newest), "sort by `ORDER`: newest, oldest, or relevance (ranks the newest 500 hits)")
	f.IntVarP(&o.Context, "context", "C", 0, "show `N` events before and after each hit")
	f.BoolVar(&o.AllVersions, "all-versions", false, "also search earlier versions, copies and copied history")
	f.Var((*ageValue)(&o.Timeout), "timeout", "stop after this `TIME`, with the hits so far and exit code 7")
	f.BoolVar(&o.Count, "count", false, "print only the number of hits")
	f.BoolVar(&o.Files, "files", false, "print only the names of originals with hits, for cat and restore")
	f.BoolVarP(&o.Null, "null", "0", false, "with --files: end each name with NUL instead of a newline, and print it unchanged, for xargs -0")
	f.StringSliceVar(&o.Facets, "facets", nil, "print only the number of hits by `FIELDS`: "+strings.Join(search.FacetFields(), ", "))
	f.BoolVar(&o.Explain, "explain", false, "show how the query was run")
	completeFlags(cmd, map[string]cobra.CompletionFunc{
		"sort": fixed(string(search.Newest), string(search.Oldest), string(search.Relevance)), "facets": fixedWords(search.FacetFields()...)})
	return cmd
}

func (a *app) searcher(store *archive.Archive) *search.Searcher {
	return &search.Searcher{Index: store.Index(), Texts: a.texts(store), Now: a.Now, Location: a.Location(),
		Sources: func(ctx context.Context) (func() []search.Source, error) { return status.Searched(ctx, store, a.Now) }}
}

func runSearch(ctx context.Context, a *app, o searchOptions, query string) error {
	o.Sort = search.Sort(o.sort)
	switch {
	case o.Sort != search.Newest && o.Sort != search.Oldest && o.Sort != search.Relevance:
		return failure.Usage(fmt.Sprintf("unknown sort order %q", o.sort), "--sort newest, oldest or relevance")
	case o.Count && o.Files || o.Count && len(o.Facets) > 0 || o.Files && len(o.Facets) > 0:
		return failure.Usage("--count, --files and --facets cannot be combined", "use one at a time")
	case o.Null && (!o.Files || a.JSON):
		return failure.Usage("--null needs --files, and cannot be combined with --json", "search --files --null QUERY | xargs -0 -r -n1 txarchive cat")
	case o.Limit < 0 || o.Context < 0:
		return failure.Usage("--limit and --context cannot be negative", "--limit 0 is no limit")
	}
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer a.closeRead(store)
	answer, err := a.searcher(store).Find(ctx, query, o.Options)
	if err != nil {
		return err
	}
	if err := show.Answer(ctx, &a.Printer, answer, o.AnswerOptions); err != nil {
		return err
	}
	coverage, err := answer.Coverage(ctx)
	if err != nil {
		return err
	}
	if a.JSON {
		fmt.Fprintln(a.Err, printer.Encode(coverage))
	} else {
		show.Coverage(&a.Printer, coverage)
		if coverage.Shown == 0 && coverage.Partial == nil {
			s := a.suggester(store)
			s.Names(ctx, query)
			s.Usage(ctx, query)
			s.Show(ctx, query)
			if len(coverage.Proposals) == 0 {
				s.Else()
			}
			if err := status.NoteUnindexed(ctx, &a.Printer, store, coverage.Rows); err != nil {
				return err
			}
		}
		show.Limits(&a.Printer, coverage) // last: it rarely helps
	}
	if coverage.Partial != nil {
		return failure.Partial("partial: "+*coverage.Partial, "narrow the search, or allow more time: --timeout")
	}
	return nil
}
