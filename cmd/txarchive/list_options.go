package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/show"
)

// given returns the options with what only cobra knows: words, and which flags were given.
func (o listOptions) given(cmd *cobra.Command, words []string) listOptions {
	o.unlimited = cmd.Flags().Changed("limit") && o.Limit == 0
	o.query = strings.TrimSpace(o.query + " " + strings.Join(words, " "))
	return o
}

// settle checks the options and sets those that were left open.
func (o *listOptions) settle(a *app, all []show.Column) error {
	o.Output = a.FormatOr(o.Output, "ndjson")
	if err := printer.CheckLimit(o.Limit); err != nil {
		return err
	}
	if !slices.Contains(show.Orders(), o.Sort) {
		return failure.Usage(fmt.Sprintf("unknown sort order %q", o.Sort), "--sort started, ended, duration, events, tokens or cost")
	}
	if o.Limit == 0 && o.Output == "table" && !o.unlimited {
		o.Limit = defaultRows
	}
	for _, name := range o.Columns {
		if !show.Known(all, name) {
			return failure.Usage(fmt.Sprintf("unknown column %q", name), "--columns takes "+strings.Join(show.ColumnNames(all), ", "))
		}
	}
	return a.checkOutput(o.Output)
}

// page returns what is asked of the index: one row more than is shown, to see whether there are more.
func (o *listOptions) page() index.Page {
	page := index.Page{AllVersions: o.allVersions, Sort: o.Sort, Reverse: o.Reverse}
	if o.Limit > 0 {
		page.Limit = o.Limit + 1
	}
	return page
}

// selection returns the query of the options, with what the flags add.
func (o *listOptions) selection(a *app) (index.Selection, error) {
	var parts []query.Node
	if o.query != "" {
		now := a.Now()
		tree, err := query.Parse(o.query, now, a.Location())
		if err != nil {
			return index.Selection{}, err
		}
		o.typed = query.FindTypedTimes(o.query, now, a.Location())
		parts = append(parts, tree.Root)
	}
	for _, f := range []struct{ flag, value string }{{"format", o.formatName}, {"source", o.source}, {"project", o.project}} {
		if f.value == "" {
			continue
		}
		n, err := fieldNode(a, f.flag, f.value)
		if err != nil {
			return index.Selection{}, failure.Usage(fmt.Sprintf("%q is not a value for %s", f.value, f.flag), "separate values with commas; a star matches anything: "+f.flag+":a,b*")
		}
		parts = append(parts, n)
	}
	if o.status != "" {
		n, err := fieldNode(a, "status", o.status)
		if err != nil {
			return index.Selection{}, failure.Usage(fmt.Sprintf("%q is not a status", o.status), "--status failed,cancelled")
		}
		if same, err := fieldNode(a, "outcome", o.status); err == nil {
			n = query.Or{Of: []query.Node{n, same}}
		}
		parts = append(parts, n)
	}
	return index.Selection{Query: &query.Tree{Root: query.Conjunction(parts...)}}, nil
}

// fieldNode parses field:value. A value with spaces is quoted.
func fieldNode(a *app, field, value string) (query.Node, error) {
	if strings.ContainsAny(value, " \t()\"") {
		value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
	}
	tree, err := query.Parse(field+":"+value, a.Now(), a.Location())
	if err != nil {
		return nil, err
	}
	return tree.Root, nil
}
