package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// tagRow is a row of `tag list`.
type tagRow struct {
	Run   string            `json:"run_id"`
	Tag   string            `json:"tag"`
	Added printer.Timestamp `json:"added"`
}

// tags returns all tags, by run and name.
func tags(ctx context.Context, store *archive.Archive) ([]tagRow, error) {
	var all []tagRow
	for f, err := range store.Index().Facts(ctx, index.FactTag) {
		if err != nil {
			return nil, err
		}
		run, tag, ok := strings.Cut(f.Key, "/")
		if !ok {
			continue
		}
		row := tagRow{Run: run, Tag: tag}
		var value struct {
			Added time.Time `json:"added"`
		}
		if err := json.Unmarshal(f.Value, &value); err == nil {
			row.Added = printer.Stamp(value.Added)
		}
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b tagRow) int { return strings.Compare(a.Run+"/"+a.Tag, b.Run+"/"+b.Tag) })
	return all, nil
}

// tagsOf returns the tags that were put on each run that has any.
func tagsOf(ctx context.Context, store *archive.Archive) (map[string][]string, error) {
	rows, err := tags(ctx, store)
	of := map[string][]string{}
	for _, r := range rows {
		of[r.Run] = append(of[r.Run], r.Tag)
	}
	return of, err
}

// allTags returns the tags of a run: those that were put on it, with those that its producer states.
func allTags(r *index.Run, put map[string][]string) []string {
	all := slices.Concat(put[r.ID], r.StatedTags())
	slices.Sort(all)
	return slices.Compact(all)
}

// withTags adds tags to the JSON of a run.
func withTags(run map[string]any, tags []string) map[string]any {
	if tags == nil {
		tags = []string{}
	}
	run["tags"] = tags
	return run
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
