package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"path"
	"strings"
	"unicode/utf8"
)

// safeName returns the name of a restored original relative to the target: <source>/<path>. Parts that would lead elsewhere
// or that no file can have are escaped as in entry names: "%-" for an empty part, "%2E" for ".", "%2E%2E" for
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

// maxName is the length of the longest name that common file systems take, in bytes.
const maxName = 255

// suffixed appends a suffix to a path. If its last part becomes too long, a hash of that part takes the place of its end.
func suffixed(name, suffix string) string {
	dir, base := path.Split(name)
	over := len(base) + len(suffix) - maxName
	if over <= 0 {
		return name + suffix
	}
	sum := sha256.Sum256([]byte(base))
	mark := "~" + hex.EncodeToString(sum[:4])
	end := max(len(base)-over-len(mark), 0)
	for end > 0 && !utf8.RuneStart(base[end]) {
		end--
	}
	return dir + base[:end] + mark + suffix
}

// underAny reports whether one of the paths matches a file: the file itself or a directory above it, with or without the
// name of the source. If paths is empty, every file matches. It sets matched for the paths that match.
func underAny(paths []string, matched []bool, source, name string) bool {
	match := len(paths) == 0
	for i, p := range paths {
		clean := path.Clean(p)
		if p == name /* also one that is not clean */ || clean == "." || under(clean, name) || under(clean, source+"/"+name) {
			match, matched[i] = true, true
		}
	}
	return match
}

// place is where files are: those of a source, or of any if that is "", below a path, or all of them if that is "".
type place struct{ source, path string }

// placesOf returns the places of all files that paths match, as underAny does.
func placesOf(paths, sources []string) (all []place) {
	for _, p := range paths {
		clean := path.Clean(p)
		if clean == "." {
			return []place{{}}
		}
		all = append(all, place{path: clean})
		if p != clean {
			all = append(all, place{path: p})
		}
		for _, s := range sources {
			if rest, ok := strings.CutPrefix(clean, s+"/"); ok {
				all = append(all, place{s, rest})
			} else if under(clean, s) {
				all = append(all, place{source: s})
			}
		}
	}
	return all
}

func (p place) has(source, name string) bool {
	return (p.source == "" || p.source == source) && (p.path == "" || under(p.path, name))
}

func under(dir, name string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && (rest == "" || rest[0] == '/')
}

// nameSet holds hashes of the names that a restore has used, so that it never overwrites a file that it wrote itself.
type nameSet struct {
	seed  maphash.Seed
	taken map[uint64]struct{}
}

func newNameSet() *nameSet { return &nameSet{seed: maphash.MakeSeed(), taken: map[uint64]struct{}{}} }

// claim adds a name, and reports false if it is in the set already.
func (n *nameSet) claim(name string) bool {
	h := maphash.String(n.seed, name)
	if _, taken := n.taken[h]; taken {
		return false
	}
	n.taken[h] = struct{}{}
	return true
}
