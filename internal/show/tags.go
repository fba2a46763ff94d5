package show

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
)

// Tag is a tag that was put on a run.
type Tag struct {
	Run   string            `json:"run_id"`
	Name  string            `json:"tag"`
	Added printer.Timestamp `json:"added"`
}

// Tags returns all tags, by run and name.
func Tags(ctx context.Context, facts index.FactReader) ([]Tag, error) {
	var all []Tag
	for f, err := range facts.Facts(ctx, index.FactTag) {
		if err != nil {
			return nil, err
		}
		run, tag, ok := strings.Cut(f.Key, "/")
		if !ok {
			continue
		}
		row := Tag{Run: run, Name: tag}
		var value struct {
			Added time.Time `json:"added"`
		}
		if err := json.Unmarshal(f.Value, &value); err == nil {
			row.Added = printer.Stamp(value.Added)
		}
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b Tag) int { return strings.Compare(a.Run+"/"+a.Name, b.Run+"/"+b.Name) })
	return all, nil
}

// TagsByRun returns the tags that were put on each run that has any.
func TagsByRun(ctx context.Context, facts index.FactReader) (map[string][]string, error) {
	rows, err := Tags(ctx, facts)
	of := map[string][]string{}
	for _, r := range rows {
		of[r.Run] = append(of[r.Run], r.Name)
	}
	return of, err
}

// AllTags returns the tags of a run: those that were put on it, with those that its producer states.
func AllTags(r *index.Run, put map[string][]string) []string {
	all := slices.Concat(put[r.ID], r.StatedTags())
	slices.Sort(all)
	return slices.Compact(all)
}

// WithTags adds tags to the JSON of a run.
func WithTags(run map[string]any, tags []string) map[string]any {
	if tags == nil {
		tags = []string{}
	}
	run["tags"] = tags
	return run
}
