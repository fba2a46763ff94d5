package lookup

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// File returns what a file holds, by its name as cat takes it: its one conversation, or its run if it holds several conversations
// of that. unknown is the error if there is no such file.
func File(ctx context.Context, ix Index, name string, unknown error) (Target, error) {
	files, err := files(ctx, ix, name)
	if err != nil || files == nil {
		return Target{}, cmp.Or(err, unknown)
	}
	file := files[0]
	of, err := conversationsOf(ctx, ix, file)
	if err != nil {
		return Target{}, err
	}
	file.Newest = true
	for v, err := range ix.Versions(ctx, file) {
		if err == nil {
			name = v.Source + "/" + v.Path
		}
	}
	if len(of) == 0 {
		return Target{}, failure.NotFound("there is no conversation in "+name, "`txarchive cat` prints the file")
	}
	what := of[0]
	for _, other := range of[1:] {
		if other.Run != what.Run {
			return Target{}, failure.Usage(fmt.Sprintf("%s holds conversations of several runs", name), "name one: "+listRuns(of))
		}
		what.Conversation = ""
	}
	return what, nil
}

// conversationsOf returns the conversations that are stored in a file.
func conversationsOf(ctx context.Context, ix Index, file index.VersionFilter) (of []Target, err error) {
	// Without the source, of which all originals would be listed: few sources have a file of the same path.
	in := &query.Tree{Root: query.Field{Name: "path", Values: []query.Value{{Text: file.Path}}}}
	for c, err := range ix.ConversationsOf(ctx, index.Selection{Query: in}, index.Page{AllVersions: true}) {
		if err != nil {
			return nil, err
		}
		if c.Key.Source == file.Source && c.Key.Path == file.Path {
			of = append(of, Target{Run: c.Run, Conversation: c.ID})
		}
	}
	return of, nil
}

// listRuns returns the first runs of some targets, for an error.
func listRuns(of []Target) string {
	var ids []string
	for _, what := range of {
		if len(ids) == 0 || ids[len(ids)-1] != what.Run {
			ids = append(ids, what.Run)
		}
	}
	return few(ids)
}

// few joins the first names.
func few(names []string) string {
	more := ""
	if len(names) > maxCandidates {
		more = " ..."
	}
	return strings.Join(names[:min(len(names), maxCandidates)], ", ") + more
}
