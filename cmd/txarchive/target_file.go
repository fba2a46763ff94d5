package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// resolveFile returns what a file holds, by its name as cat takes it: its one conversation, or its run if it holds several conversations
// of that. unknown is the error if there is no such file.
func resolveFile(ctx context.Context, store *archive.Archive, name string, unknown error) (target, error) {
	files, err := fileFilters(ctx, store, name)
	if err != nil || files == nil {
		return target{}, cmp.Or(err, unknown)
	}
	file := files[0]
	of, err := conversationsOf(ctx, store, file)
	if err != nil {
		return target{}, err
	}
	file.Newest = true
	for v, err := range store.Index().Versions(ctx, file) {
		if err == nil {
			name = v.Source + "/" + v.Path
		}
	}
	if len(of) == 0 {
		return target{}, failure.NotFound("there is no conversation in "+name, "`txarchive cat` prints the file")
	}
	what := of[0]
	for _, other := range of[1:] {
		if other.run != what.run {
			return target{}, failure.Usage(fmt.Sprintf("%s holds conversations of several runs", name), "name one: "+listRuns(of))
		}
		what.conversation = ""
	}
	return what, nil
}

// conversationsOf returns the conversations that are stored in a file.
func conversationsOf(ctx context.Context, store *archive.Archive, file index.VersionFilter) (of []target, err error) {
	is := func(field, value string) query.Node {
		return query.Field{Name: field, Values: []query.Value{{Text: value}}}
	}
	in := &query.Tree{Root: query.Conjunction(is("source", file.Source), is("path", file.Path))}
	for r, err := range store.Index().Runs(ctx, index.Selection{Query: in}, index.Page{}) {
		if err != nil {
			return nil, err
		}
		for c, err := range store.Index().Conversations(ctx, r.ID) {
			if err != nil {
				return nil, err
			}
			if c.Key.Source == file.Source && c.Key.Path == file.Path {
				of = append(of, target{run: r.ID, conversation: c.ID})
			}
		}
	}
	return of, nil
}

// listRuns returns the first runs of some targets, for an error.
func listRuns(of []target) string {
	var ids []string
	for _, what := range of {
		if len(ids) == 0 || ids[len(ids)-1] != what.run {
			ids = append(ids, what.run)
		}
	}
	more := ""
	if len(ids) > maxCandidates {
		more = " ..."
	}
	return strings.Join(ids[:min(len(ids), maxCandidates)], ", ") + more
}
