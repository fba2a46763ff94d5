package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/search"
)

type searchOptions struct {
	search.Options
	sort string
}

func newSearchCommand(a *app) *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find words in all that was said and done",
		Long: "Find words in prompts, answers, reasoning, tool inputs and outputs, and errors. All words must be there; \"quoted\n" +
			"words\" must stand together. Case and accents do not matter. The newest hits come first. docs/query-language.md\n" +
			"describes fields (tool:bash, after:7d, format:awf), OR, - and the rest. After a query that begins with - write --." +
			exits("7 stopped early, there may be more hits", "10 no archive"),
		Example: "  txarchive search permission denied\n  txarchive search '\"permission denied\" tool:bash'\n" +
			"  txarchive search --json --limit 0 TypeError > hits.ndjson\n  txarchive search parseConfig -C 2        with two events around each hit",
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, v []string) error {
			return runSearch(cmd.Context(), a, o, strings.Join(v, " "))
		},
		ValidArgsFunction: a.completeQuery,
	}
	f := cmd.Flags()
	f.IntVarP(&o.Limit, "limit", "n", 20, "hits to show; 0 is no limit")
	f.StringVar(&o.After, "after", "", "go on after the hit with this cursor")
	f.StringVar(&o.sort, "sort", string(search.Newest), "order: newest, oldest or relevance")
	f.IntVarP(&o.Context, "context", "C", 0, "events to show before and after each hit")
	f.BoolVar(&o.AllVersions, "all-versions", false, "also search earlier versions, copies and copied history")
	f.DurationVar(&o.Timeout, "timeout", 0, "stop after this time with what was found (exit code 7)")
	f.BoolVar(&o.Explain, "explain", false, "say how the query was run")
	return cmd
}

func (a *app) searcher(store *archive.Archive) *search.Searcher {
	return &search.Searcher{Index: store.Index(), Texts: store, Now: a.now, Location: a.location(),
		Sources: func(ctx context.Context) ([]search.Source, error) { return sourceStates(ctx, store) }}
}

// sourceStates says of each source that is followed whether its directory is there.
func sourceStates(ctx context.Context, store *archive.Archive) ([]search.Source, error) {
	all, err := ingest.Sources(ctx, store.Index())
	if err != nil {
		return nil, err
	}
	var states []search.Source
	for _, s := range all {
		state := search.Source{Name: s.Name, Path: s.Root, State: "ok"}
		switch sourceState(s) {
		case "removed":
			continue
		case "missing":
			state.State, state.Reason = "missing", "its directory is not there; what was stored of it is searched"
		}
		states = append(states, state)
	}
	return states, nil
}

func runSearch(ctx context.Context, a *app, o searchOptions, query string) error {
	o.Sort = search.Sort(o.sort)
	switch {
	case o.Sort != search.Newest && o.Sort != search.Oldest && o.Sort != search.Relevance:
		return usage(fmt.Sprintf("there is no order %q", o.sort), "--sort newest, oldest or relevance")
	case o.Limit < 0 || o.Context < 0:
		return usage("a number of hits or events cannot be negative", "--limit 0 is no limit")
	}
	store, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	answer, err := a.searcher(store).Find(ctx, query, o.Options)
	if err != nil {
		return err
	}
	show := hits{a: a, ink: a.ink(), width: a.width()}
	for r, err := range answer.Results() {
		if err != nil {
			return err
		}
		if a.json {
			err = a.printJSON(r)
		} else {
			err = show.hit(&r)
		}
		if err != nil {
			return err
		}
	}
	coverage, err := answer.Coverage(ctx)
	if err != nil {
		return err
	}
	if a.json {
		fmt.Fprintln(a.err, encode(coverage))
	} else {
		a.printCoverage(coverage)
	}
	if coverage.Partial != nil {
		return partial("partial: "+*coverage.Partial, "ask for less, or give it more time: --timeout")
	}
	return nil
}

// printCoverage says what the hits are not.
func (a *app) printCoverage(c *search.Coverage) {
	found := plural(int64(c.Shown), "hit", "hits")
	if c.Shown == 0 {
		found = "Nothing found"
	}
	if c.Rows != nil {
		found += " in " + plural(*c.Rows, "searched row", "searched rows")
	}
	a.note("%s, %s", found, time.Duration(c.Elapsed*int64(time.Microsecond)).Round(time.Millisecond))
	if c.More {
		more := "There may be more: --limit 0 shows all"
		if c.Next != nil {
			more += ", --after '" + *c.Next + "' the next"
		}
		a.note("%s", more)
	}
	if len(c.Ignored) > 0 {
		a.note("Not looked for, being punctuation only: %s", strings.Join(c.Ignored, " "))
	}
	for _, h := range c.Hidden {
		atLeast := ""
		if h.AtLeast {
			atLeast = "at least "
		}
		a.note("Left out by %s: %s%s", h.By, atLeast, plural(h.Hits, "hit", "hits"))
	}
	for _, s := range c.Sources {
		a.note("Source %s is %s: %s", s.Name, s.State, s.Reason)
	}
	if c.Unreadable > 0 {
		a.note("%s could not be read: txarchive verify", plural(c.Unreadable, "text", "texts"))
	}
	for _, p := range c.Proposals {
		a.note("Try: txarchive search %s   (%s)", strings.TrimSpace(shellQuote(p.Query)+" "+p.Option), p.Why)
	}
	if c.Explain != nil {
		a.note("%s", encode(c.Explain))
	}
}

// shellQuote writes a text so that a shell reads it as one word.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
