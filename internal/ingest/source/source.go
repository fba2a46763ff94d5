// Package source knows the sources of an archive: directories, or some files in them, with what is excluded. It reads their facts and says
// what is to be scanned for them, or for paths that a user names. It scans nothing.
package source

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
)

// Fact is the kind of the fact of a source. Its key is the name of the source, its value a Source.
const Fact = "source"

// Source is the value of a source's fact.
type Source struct {
	Root string `json:"root"` // real path
	// Only lists the files to follow, as paths below the root, where single files were added and not their directory. Empty means all.
	Only []string `json:"only,omitempty"`
	// Exclude has the patterns of what is not archived: see Patterns. What was stored of it before stays.
	Exclude []string `json:"exclude,omitempty"`
	// Host is the machine that the files come from. Away says that it is not the archive's: runs that name no host are given this
	// one.
	Host    string    `json:"host,omitempty"`
	Away    bool      `json:"away,omitempty"`
	Added   time.Time `json:"added"`
	Command string    `json:"added_by,omitempty"`
	// Removed is when the source was removed: it is no longer scanned by default. Its name stays reserved, since what was stored under it
	// stays.
	Removed *time.Time `json:"removed,omitempty"`
}

// Follows reports whether a path below the root is followed; "." is the root itself.
func (s *Source) Follows(below string) bool {
	return len(s.Only) == 0 || slices.ContainsFunc(s.Only, func(o string) bool { return o == below || Within(below, o) })
}

// Follow adds a path below the root to what is followed, and reports whether it was not followed before.
func (s *Source) Follow(below string) bool {
	if s.Follows(below) {
		return false
	}
	rest := slices.DeleteFunc(slices.Clone(s.Only), func(o string) bool { return Within(o, below) })
	if s.Only = nil; below != "." {
		s.Only = append(rest, below)
	}
	return true
}

// Named is a source of an archive with its name.
type Named struct {
	Name string
	Source
}

// Roots returns what is scanned of a source.
func (n *Named) Roots() []Root {
	if len(n.Only) == 0 {
		return []Root{{Source: n.Name, Dir: n.Root, Below: ".", Exclude: n.Exclude}}
	}
	var roots []Root
	for _, below := range n.Only {
		if Patterns(n.Exclude).Match(below, false) == "" {
			roots = append(roots, Root{Source: n.Name, Dir: n.Root, Below: below, Listed: true, Exclude: n.Exclude})
		}
	}
	return roots
}

// All returns the sources of an archive, removed ones included, sorted by name.
func All(ctx context.Context, facts index.FactReader) ([]Named, error) {
	var all []Named
	for f, err := range facts.Facts(ctx, Fact) {
		if err != nil {
			return nil, fmt.Errorf("list sources: %w", err)
		}
		s := Named{Name: f.Key}
		if err := json.Unmarshal(f.Value, &s.Source); err != nil {
			return nil, fmt.Errorf("read source %q: %w", f.Key, err)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Named) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Followed returns the roots of all sources that are scanned by default: those not removed.
func Followed(ctx context.Context, facts index.FactReader) ([]Root, error) {
	known, err := All(ctx, facts)
	if err != nil {
		return nil, err
	}
	var roots []Root
	for _, s := range known {
		if s.Removed == nil {
			roots = append(roots, s.Roots()...)
		}
	}
	return roots, nil
}

// FreeName returns base, with a number if needed, as a name that no source has, not even a removed one.
func FreeName(known []Named, base string) string {
	if strings.ContainsAny(base, `/\:`) || base == "." || base == ".." || base == "" {
		base = "root" // the root of a file system or drive
	}
	name := base
	for n := 2; slices.ContainsFunc(known, func(s Named) bool { return s.Name == name }); n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	return name
}

// Within reports whether a path below the root of a source lies below another; "." is the root itself.
func Within(p, root string) bool {
	return root == "." || strings.HasPrefix(p, root) && len(p) > len(root) && p[len(root)] == '/'
}
