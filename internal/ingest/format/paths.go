package format

import (
	"slices"
	"strings"
)

// longestPath is what Linux takes, in bytes: what is longer is content.
const longestPath = 4096

// Paths gives the files that the input of a call names, in its order: by the strings of members called as in names, and by those in
// the arrays of members called as in lists.
func Paths(input Value, names, lists []string) (paths []string) {
	add := func(v Value) {
		if s := v.Str(); s != "" && len(s) <= longestPath && !strings.ContainsAny(s, "\n\x00") {
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
