package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/search"
)

type searchOptions struct {
	search.Options
	sort   string
	count  bool
	files  bool
	null   bool
	facets []string
}

func newSearchCommand(a *app) *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find words in all that was said and done",
		Long: "Find words in prompts, answers, reasoning, tool inputs and outputs, and errors. All words must be there; \"quoted\n" +
			"words\" must stand together. Case and accents do not matter. The newest hits come first. docs/query-language.md\n" +
			"describes fields (tool:bash, after:7d, format:awf), OR, - and the rest. After a query that begins with - write --." +
			exitCodes("7 stopped early, there may be more hits", "10 no archive"),
		Example: "  txarchive search permission denied\n  txarchive search '\"permission denied\" tool:bash'\n" +
			"  txarchive search --json --limit 0 TypeError > hits.ndjson\n  txarchive search parseConfig -C 2        with two events around each hit\n" +
			"  txarchive search is:error --facets tool,month\n  txarchive search --files --null zebra | xargs -0 -r -n1 txarchive cat",
		Args: argCount(1, unlimited),
		RunE: func(cmd *cobra.Command, v []string) error {
			if (o.files || len(o.facets) > 0) && !cmd.Flags().Changed("limit") {
				o.Limit = 0 // of all hits
			}
			return runSearch(cmd.Context(), a, o, strings.Join(v, " "))
		},
		ValidArgsFunction: a.completeQuery,
	}
	f := cmd.Flags()
	f.IntVarP(&o.Limit, "limit", "n", 20, "show `N` hits, or originals with --files; 0 is no limit, as it is with --files and --facets unless told")
	f.StringVar(&o.After, "after", "", "go on after the hit with this `CURSOR`")
	f.StringVar(&o.sort, "sort", string(search.Newest), "`ORDER`: newest, oldest, or relevance: that ranks the newest 500 hits")
	f.IntVarP(&o.Context, "context", "C", 0, "show `N` events before and after each hit")
	f.BoolVar(&o.AllVersions, "all-versions", false, "also search earlier versions, copies and copied history")
	f.Var((*ageValue)(&o.Timeout), "timeout", "stop after this `TIME` with what was found (exit code 7)")
	f.BoolVar(&o.count, "count", false, "only say how many hits there are")
	f.BoolVar(&o.files, "files", false, "only name the originals that have hits, for cat and restore")
	f.BoolVarP(&o.null, "null", "0", false, "with --files: print names as they are, each with a NUL after it, for xargs -0")
	f.StringSliceVar(&o.facets, "facets", nil, "only count the hits by `FIELDS`: "+strings.Join(search.FacetFields(), ", "))
	f.BoolVar(&o.Explain, "explain", false, "say how the query was run")
	completeFlags(cmd, map[string]cobra.CompletionFunc{
		"sort": fixed(string(search.Newest), string(search.Oldest), string(search.Relevance)), "facets": fixedWords(search.FacetFields()...)})
	return cmd
}

func (a *app) searcher(store *archive.Archive) *search.Searcher {
	return &search.Searcher{Index: store.Index(), Texts: a.texts(store), Now: a.now, Location: a.location(),
		Sources: func(ctx context.Context) (func() []search.Source, error) { return a.searchedSources(ctx, store) }}
}

func runSearch(ctx context.Context, a *app, o searchOptions, query string) error {
	o.Sort = search.Sort(o.sort)
	switch {
	case o.Sort != search.Newest && o.Sort != search.Oldest && o.Sort != search.Relevance:
		return usage(fmt.Sprintf("unknown sort order %q", o.sort), "--sort newest, oldest or relevance")
	case o.count && o.files || o.count && len(o.facets) > 0 || o.files && len(o.facets) > 0:
		return usage("--count, --files and --facets cannot be combined", "use one at a time")
	case o.null && (!o.files || a.json):
		return usage("--null needs --files, and cannot be combined with --json", "search --files --null QUERY | xargs -0 -r -n1 txarchive cat")
	case o.Limit < 0 || o.Context < 0:
		return usage("--limit and --context cannot be negative", "--limit 0 is no limit")
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
	if err := a.printAnswer(ctx, answer, o); err != nil {
		return err
	}
	coverage, err := answer.Coverage(ctx)
	if err != nil {
		return err
	}
	if a.json {
		fmt.Fprintln(a.err, encode(coverage))
	} else {
		a.printCoverage(coverage)
		if coverage.Shown == 0 && coverage.Partial == nil {
			a.suggestNames(ctx, store, query)
			a.suggestShow(ctx, store, query)
			if err := a.noteUnindexed(ctx, store, coverage.Rows); err != nil {
				return err
			}
		}
	}
	if coverage.Partial != nil {
		return partial("partial: "+*coverage.Partial, "narrow the search, or allow more time: --timeout")
	}
	return nil
}
