package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/show"
	"github.com/txarchive/txarchive/internal/sqlshell"
	"github.com/txarchive/txarchive/internal/suggest"
	"github.com/txarchive/txarchive/internal/terminal"
)

// Completion reads the archive and must not disturb whoever types: after an error it offers nothing.

const (
	maxCompletions  = 50   // completions at most
	maxRunsSearched = 1000 // runs that are searched for them, or conversations
)

const noFiles = cobra.ShellCompDirectiveNoFileComp

// completeFromArchive opens the archive for a completion. do must not keep it.
func (a *app) completeFromArchive(cmd *cobra.Command, do func(context.Context, *archive.Archive) []cobra.Completion) []cobra.Completion {
	store, err := a.openRead(cmd.Context())
	if err != nil {
		return nil
	}
	defer store.Close()
	return do(cmd.Context(), store)
}

// fixed completes words of a fixed list.
func fixed(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, noFiles)
}

// fixedWords completes comma-separated words of a fixed list.
func fixedWords(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		head, last := lastOf(typed)
		taken := strings.Split(head, ",")
		var matches []cobra.Completion
		for _, w := range words {
			if strings.HasPrefix(w, last) && !slices.Contains(taken, w) {
				matches = append(matches, head+w)
			}
		}
		return matches, noFiles | cobra.ShellCompDirectiveNoSpace
	}
}

// noFileCompletion turns the completion of files off for commands without arguments.
func noFileCompletion(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		noFileCompletion(c)
	}
	if cmd.ValidArgsFunction == nil && !strings.Contains(cmd.Use, " ") {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// completeFlags sets how the values of flags are completed. It panics for a flag that the command does not have, which tests would
// reveal.
func completeFlags(cmd *cobra.Command, how map[string]cobra.CompletionFunc) {
	for name, complete := range how {
		if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
			panic(err)
		}
	}
}

// completeRuns completes the id of one run, newest first.
func (a *app) completeRuns(cmd *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(v) > 0 {
		return nil, noFiles
	}
	return a.completeSome("")(cmd, v, typed)
}

// completeSome completes any number of ids of runs that a query finds.
func (a *app) completeSome(text string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, taken []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		tree, err := query.Parse(text, a.Now(), a.Location())
		if err != nil {
			return nil, noFiles
		}
		return a.completeFromArchive(cmd, func(ctx context.Context, store *archive.Archive) []cobra.Completion {
			var ids []cobra.Completion
			for r, err := range store.Index().Runs(ctx, index.Selection{Query: tree}, index.Page{Limit: maxRunsSearched}) {
				if err != nil || len(ids) == maxCompletions {
					break
				}
				if strings.HasPrefix(r.ID, typed) && !slices.Contains(taken, r.ID) {
					ids = append(ids, describedID(r.ID, r.Format, terminal.FirstNonEmpty(r.Title, r.Flow, r.NativeID)))
				}
			}
			return ids
		}), noFiles | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeThings completes the id of a run, or of a conversation if it begins with c.
func (a *app) completeThings(cmd *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(v) > 0 || !strings.HasPrefix(typed, "c") {
		return a.completeRuns(cmd, v, typed)
	}
	return a.completeFromArchive(cmd, func(ctx context.Context, store *archive.Archive) []cobra.Completion {
		if c, err := store.Index().Conversation(ctx, typed); err == nil && strings.HasPrefix(c.ID, typed) {
			return []cobra.Completion{describedID(c.ID, c.Format, terminal.FirstNonEmpty(c.Title, c.Step, c.NativeID))}
		}
		var ids []cobra.Completion
		begun := index.Selection{Query: &query.Tree{Root: query.Field{Name: "id", Values: []query.Value{{Text: typed}}}}}
		for c, err := range store.Index().ConversationsOf(ctx, begun, index.Page{Limit: maxRunsSearched, AllVersions: true}) {
			if err != nil || len(ids) == maxCompletions {
				break
			}
			if strings.HasPrefix(c.ID, typed) {
				ids = append(ids, describedID(c.ID, c.Format, terminal.FirstNonEmpty(c.Title, c.Of.Title, c.Step, c.NativeID)))
			}
		}
		return ids
	}), noFiles | cobra.ShellCompDirectiveKeepOrder
}

func describedID(id, format, what string) cobra.Completion {
	return cobra.CompletionWithDesc(id, terminal.Truncate(terminal.OneLine(format+" "+what), 60))
}

// completeTagging completes a run, then existing tags; to remove tags, only those of the run.
func (a *app) completeTagging(cmd *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(v) == 0 {
		return a.completeRuns(cmd, v, typed)
	}
	return a.completeFromArchive(cmd, func(ctx context.Context, store *archive.Archive) []cobra.Completion {
		rows, err := show.Tags(ctx, store.Index())
		if err != nil {
			return nil
		}
		if run, err := lookup.Run(ctx, store.Index(), v[0]); cmd.Name() == "remove" && err == nil {
			rows = slices.DeleteFunc(rows, func(r show.Tag) bool { return r.Run != run })
		}
		return distinct(rows, func(r show.Tag) string { return r.Name }, typed, v[1:])
	}), noFiles
}

// distinct returns the texts of rows that begin with what was typed, each once, without those that are taken.
func distinct[T any](rows []T, of func(T) string, typed string, taken []string) []cobra.Completion {
	var matches []cobra.Completion
	for _, r := range rows {
		s := of(r)
		if s != "" && s == terminal.OneLine(s) && strings.HasPrefix(s, typed) && !slices.Contains(taken, s) {
			matches = append(matches, s)
		}
	}
	slices.Sort(matches)
	return slices.Compact(matches)
}

// completeFormats completes the formats that this version knows.
func completeFormats(cmd *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return fixedWords(formatNames()...)(cmd, v, typed)
}

// lastOf splits a comma-separated list before its last value.
func lastOf(typed string) (head, last string) {
	i := strings.LastIndexByte(typed, ',') + 1
	return typed[:i], typed[i:]
}

// completeSources completes the name of one source.
func (a *app) completeSources(cmd *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(v) > 0 {
		return nil, noFiles
	}
	return a.completeFromArchive(cmd, func(ctx context.Context, store *archive.Archive) []cobra.Completion {
		return a.fieldValues(ctx, store, "source", typed)
	}), noFiles
}

// completeValues completes comma-separated values of a field that occur in the archive.
func (a *app) completeValues(field string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		head, last := lastOf(typed)
		return a.completeFromArchive(cmd, func(ctx context.Context, store *archive.Archive) []cobra.Completion {
			return prefixed(head, a.fieldValues(ctx, store, field, last))
		}), noFiles
	}
}

func prefixed(head string, all []string) []cobra.Completion {
	for i := range all {
		all[i] = head + all[i]
	}
	return all
}

// completeColumns completes comma-separated names of columns.
func completeColumns(cmd *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	columns := show.RunColumns
	if cmd.Name() == "conversations" {
		columns = show.ConversationColumns
	}
	return fixedWords(show.ColumnNames(columns)...)(cmd, v, typed)
}

// completeQuery completes the last word of a query: the name of a field, or one of its values.
func (a *app) completeQuery(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	start := strings.LastIndexAny(typed, " \t(") + 1
	before, word := typed[:start], typed[start:]
	if sign, rest := strings.HasPrefix(word, "-"), strings.TrimPrefix(word, "-"); sign {
		before, word = before+"-", rest
	}
	name, value, isField := strings.Cut(word, ":")
	if !isField {
		return completeField(before, word), noFiles | cobra.ShellCompDirectiveNoSpace
	}
	i := slices.IndexFunc(query.Fields(), func(f query.Info) bool { return f.Name == name })
	if i < 0 {
		return nil, noFiles
	}
	head, last := lastOf(value)
	before += name + ":" + head
	values := query.Fields()[i].Values
	if query.Fields()[i].Type == query.Time {
		values = query.Times()
	}
	if values != nil {
		return prefixed(before, slices.DeleteFunc(slices.Clone(values), func(s string) bool { return !strings.HasPrefix(s, last) })), noFiles
	}
	return a.completeFromArchive(cmd, func(ctx context.Context, store *archive.Archive) []cobra.Completion {
		values := slices.DeleteFunc(a.fieldValues(ctx, store, name, last), func(s string) bool { return strings.ContainsAny(s, " ,\"()") })
		return prefixed(before, values)
	}), noFiles
}

// completeField completes the name of a field, with what it means.
func completeField(before, typed string) []cobra.Completion {
	var names []cobra.Completion
	for _, f := range query.Fields() {
		mark := ":"
		if f.Type == query.Number {
			mark = ">"
		}
		if strings.HasPrefix(f.Name, typed) {
			names = append(names, cobra.CompletionWithDesc(before+f.Name+mark, f.Help))
		}
	}
	return names
}

// runFields are the query fields whose values are stored in runs.
var runFields = map[string]func(index.Run) string{
	"agent": func(r index.Run) string { return r.Agent },
	"model": func(r index.Run) string { return r.Model }, "flow": func(r index.Run) string { return r.Flow },
	"group": func(r index.Run) string { return r.Group }, "status": func(r index.Run) string { return r.Status },
	"run": func(r index.Run) string { return r.ID },
}

// fieldValues returns values of a field that occur in the archive and begin with what was typed.
func (a *app) fieldValues(ctx context.Context, store *archive.Archive, field, typed string) []string {
	switch field {
	case "format":
		return distinct(formatNames(), func(s string) string { return s }, typed, nil)
	case "source":
		sources, err := source.All(ctx, store.Index())
		if err != nil {
			return nil
		}
		return distinct(sources, func(s source.Named) string { return s.Name }, typed, nil)
	case "tag":
		rows, err := show.Tags(ctx, store.Index())
		if err != nil {
			return nil
		}
		return distinct(rows, func(r show.Tag) string { return r.Name }, typed, nil)
	}
	names, err := store.Index().Names(ctx, field)
	if err != nil {
		return nil
	}
	if of := runFields[field]; of != nil {
		for r, err := range store.Index().Runs(ctx, index.Selection{}, index.Page{Limit: maxRunsSearched}) {
			if err != nil {
				return nil
			}
			names = append(names, of(r))
		}
	}
	return distinct(names, func(s string) string { return s }, typed, nil)
}

// suggester returns what says what a query without hits may have been meant to be.
func (a *app) suggester(store *archive.Archive) *suggest.Suggester {
	return &suggest.Suggester{Printer: &a.Printer, Index: store.Index(), Formats: formatNames(),
		Values: func(ctx context.Context, field string) []string { return a.fieldValues(ctx, store, field, "") }}
}

// formatNames returns the formats that this version knows.
func formatNames() []string {
	var names []string
	for _, f := range all.Formats() {
		names = append(names, f.Name())
	}
	return names
}

// completeSQL completes the last word of a statement: views, their columns, and functions.
func (a *app) completeSQL(cmd *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(v) > 0 {
		return nil, noFiles
	}
	return a.completeFromArchive(cmd, func(ctx context.Context, store *archive.Archive) []cobra.Completion {
		words, err := sqlshell.ReadWords(ctx, store.Index())
		if err != nil {
			return nil
		}
		head, matches := words.Complete(typed)
		return prefixed(head, matches)
	}), noFiles | cobra.ShellCompDirectiveNoSpace
}

// completePath completes SOURCE/PATH of originals, or ids if the command takes them.
func (a *app) completePath(cmd *cobra.Command, v []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(v) > 0 {
		return nil, noFiles
	}
	source, path, ok := strings.Cut(typed, "/")
	if !ok {
		var ids []cobra.Completion
		if cmd.Name() == "cat" {
			ids, _ = a.completeThings(cmd, v, typed)
		}
		names := a.completeFromArchive(cmd, func(ctx context.Context, store *archive.Archive) []cobra.Completion {
			return a.fieldValues(ctx, store, "source", typed)
		})
		for _, name := range names {
			ids = append(ids, name+"/")
		}
		return ids, cobra.ShellCompDirectiveDefault | cobra.ShellCompDirectiveNoSpace // a path on this machine is accepted, too
	}
	return a.completeFromArchive(cmd, func(ctx context.Context, store *archive.Archive) []cobra.Completion {
		return pathsBelow(ctx, store, source, path)
	}), cobra.ShellCompDirectiveNoSpace
}

// pathsBelow returns the files and directories of a source whose paths begin with what was typed. It looks up one path of each directory.
func pathsBelow(ctx context.Context, store *archive.Archive, source, typed string) []cobra.Completion {
	dir := typed[:strings.LastIndexByte(typed, '/')+1]
	var matches []cobra.Completion
	for next := typed; len(matches) < maxCompletions; {
		path := firstPath(ctx, store, source, next)
		if path == "" || !strings.HasPrefix(path, typed) {
			break
		}
		next = path + "\x00"
		if terminal.OneLine(path) != path {
			continue
		}
		name, _, below := strings.Cut(path[len(dir):], "/")
		if below {
			name += "/"
			next = strings.TrimSuffix(dir+name, "/") + "0" // which follows the slash
		}
		matches = append(matches, fmt.Sprintf("%s/%s%s", source, dir, name))
	}
	return matches
}

// firstPath returns the first path of a source from a text on, "" if there is none.
func firstPath(ctx context.Context, store *archive.Archive, source, from string) string {
	for v, err := range store.Index().Versions(ctx, index.VersionFilter{Source: source, Newest: true, From: from}) {
		if err == nil {
			return v.Path
		}
		break
	}
	return ""
}
