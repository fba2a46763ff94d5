package format

import (
	"slices"
	"strconv"
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

// patchHeads are the prefixes of lines in a patch that name a file.
var patchHeads = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}

// PatchPaths returns the files that a patch names, as models write it for a tool (apply_patch), in order. ok is false for a text without one.
func PatchPaths(text string) (paths []string, ok bool) {
	i := strings.Index(text, "*** Begin Patch")
	if i < 0 {
		return nil, false
	}
	for line := range strings.SplitSeq(text[i:], "\n") {
		for _, head := range patchHeads {
			name, ok := strings.CutPrefix(line, head)
			if name = strings.TrimSpace(name); ok && name != "" && len(name) <= maxPathBytes && !strings.ContainsRune(name, 0) {
				paths = append(paths, strings.Clone(name))
			}
		}
	}
	return paths, true
}

// FileURI returns the path of a file: URI, "" for any other URI.
func FileURI(uri string) string {
	dir, ok := strings.CutPrefix(uri, "file://")
	if !ok {
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(dir); i++ {
		if dir[i] == '%' && i+2 < len(dir) {
			if n, err := strconv.ParseUint(dir[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(dir[i])
	}
	if dir = b.String(); len(dir) > 2 && dir[0] == '/' && dir[2] == ':' {
		dir = dir[1:] // a Windows drive
	}
	return strings.ToValidUTF8(dir, "\uFFFD")
}
