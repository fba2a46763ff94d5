package ingest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

// TestCasesChanged changes values in the files of some cases, and ingests some of them before the others; it expects the result of a single ingest.
// Then it changes some again and again, and expects the result of a reindex.
func TestCasesChanged(t *testing.T) {
	t.Parallel()
	r, content := drawCases(t)
	names := slices.Sorted(maps.Keys(content))
	s, w := newTree(t), newWorld(t)
	write := func(name string) {
		b := []byte(content[name])
		for range r.IntN(4) {
			b = formattest.Change(r, b)
		}
		s.write(name, string(b))
	}
	for _, name := range names {
		write(name)
	}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:len(names)/20] {
		w.ingest("home", s.dir, name)
	}
	w.ingest("home", s.dir, ".")
	once := newWorld(t)
	once.ingest("home", s.dir, ".")
	w.compareDumps("in pieces", w.dump(), once.dump())
	for range 3 {
		for range len(names) / 5 {
			write(names[r.IntN(len(names))])
		}
		w.ingest("home", s.dir, ".")
	}
	w.reindexed("changed")
}

// TestCasesUpgraded archives files of some cases, which change, grow and go, with some of the formats first and with all later. It expects what
// an archive has that knew all formats from the start, and the result of a reindex. All roots are there from the start: what is below one that is
// found later depends on when it is found.
func TestCasesUpgraded(t *testing.T) {
	t.Parallel()
	r, content := drawCases(t)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(content)), func(name string) bool {
		c := claimOf(name, content[name])
		return c.Database || c.Skip || strings.HasPrefix(content[name], "PK")
	})
	s, w, once := newTree(t), newWorld(t), newWorld(t)
	known := w.Formats
	w.All, once.All = true, true
	fewer := r.IntN(3) // all, half or a third of the formats are missing
	w.Formats = slices.DeleteFunc(slices.Clone(known), func(format.Format) bool { return fewer == 0 || r.IntN(fewer+1) == 0 })
	archived, roots, upgraded := map[string]string{}, map[string]bool{"": true}, false
	for _, name := range names {
		archived[name] = content[name]
		s.write(name, content[name])
		roots[claimOf(name, content[name]).Root] = true
	}
	write := func(name, content string) {
		was, claim := archived[name], claimOf(name, content)
		grows := claim.Log && claim.Root != "" && claimOf(name, was) == claim && (upgraded || len(w.Formats) == 0)
		switch {
		case !roots[claim.Root], claim.Skip: // with --all, what only a later version leaves out is archived before
			return
		case content != was && strings.HasPrefix(content, was) && !grows:
			return // it grows in one archive, and is a new version in the other, where it is not what it was
		}
		archived[name] = content
		s.write(name, content)
	}
	const steps = 4
	upgrade := 1 + r.IntN(steps-1)
	for step := range steps {
		if step == upgrade {
			w.Formats, upgraded = known, true
		}
		w.ingest("home", s.dir, ".")
		once.ingest("home", s.dir, ".")
		for _, name := range names {
			whole := content[name]
			switch n := r.IntN(4); {
			case n == 0:
				write(name, string(formattest.Change(r, []byte(whole))))
			case n == 1 && claimOf(name, whole).Log:
				write(name, whole[:told(name, whole)])
			case n < 3:
				write(name, whole)
			default:
				s.remove(name)
			}
		}
	}
	w.compareDumps("upgraded", w.dump(), once.dump())
	w.reindexed("upgraded")
}
