package format

import (
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// maxPathBytes is PATH_MAX of Linux: a longer string is content and no path.
const maxPathBytes = 4096

// Paths returns the file paths in the input of a tool call, in order: the string members whose keys are in names, and the strings in
// array members whose keys are in lists.
func Paths(input jsontext.Value, names, lists []string) (paths []string) {
	add := func(v jsontext.Value) {
		if s := v.Str(); s != "" && len(s) <= maxPathBytes && !strings.ContainsAny(s, "\n\x00") {
			paths = append(paths, s)
		}
	}
	for key, v := range input.Fields() {
		switch {
		case slices.Contains(names, key):
			add(v)
		case slices.Contains(lists, key):
			for item := range v.Items() {
				add(item)
			}
		}
	}
	return paths
}
