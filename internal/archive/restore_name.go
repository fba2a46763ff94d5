package archive

import (
	"hash/maphash"
	"path"
	"strings"
)

// safeName is where an original goes below the target: <source>/<path>, but for the parts that would lead elsewhere
// or that no file can have, which are escaped as in entry names: "%-" for an empty part, "%2E" for ".", "%2E%2E" for
// "..", "%00" for a zero byte. A source is one part.
func safeName(source, name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = safePart(part)
	}
	return safePart(strings.ReplaceAll(source, "/", "%2F")) + "/" + strings.Join(parts, "/")
}

func safePart(part string) string {
	switch part {
	case "":
		return "%-"
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return strings.ReplaceAll(part, "\x00", "%00")
}

// underAny says whether one of the paths means a file: the file itself or a directory above it, with or without the
// name of the source. No paths mean every file. In met it notes which of the paths do.
func underAny(paths []string, met []bool, source, name string) bool {
	meant := len(paths) == 0
	for i, p := range paths {
		clean := path.Clean(p)
		if p == name /* also one that is not clean */ || clean == "." || under(clean, name) || under(clean, source+"/"+name) {
			meant, met[i] = true, true
		}
	}
	return meant
}

func under(dir, name string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && (rest == "" || rest[0] == '/')
}

// names are those that a restore has given, so that it never overwrites what it has just written itself.
type names struct {
	seed  maphash.Seed
	taken map[uint64]struct{}
}

func newNames() *names { return &names{seed: maphash.MakeSeed(), taken: map[uint64]struct{}{}} }

// claim takes a name, unless it is taken.
func (n *names) claim(name string) bool {
	h := maphash.String(n.seed, name)
	if _, taken := n.taken[h]; taken {
		return false
	}
	n.taken[h] = struct{}{}
	return true
}
