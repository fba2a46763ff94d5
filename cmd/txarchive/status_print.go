package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
)

func (a *app) printStatus(s *statusReport) {
	if len(s.Sources) == 0 {
		a.note("There are no sources yet. Next: txarchive ingest DIR, or txarchive source add DIR")
	} else {
		fmt.Fprintf(a.out, "%s\n\n", a.statusGrid(s).render(a.width(), a.ink()))
	}
	d := &s.Storage
	parts := []string{fmt.Sprintf("%s of %s", plural(d.Packs, "pack", "packs"), size(d.PackBytes)), "index " + size(d.IndexBytes)}
	if d.OldIndexBytes > 0 {
		parts = append(parts, "older index "+size(d.OldIndexBytes))
	}
	if s.LastPack != nil {
		if at, err := time.Parse(time.RFC3339Nano, *s.LastPack); err == nil {
			parts = append(parts, "last written "+ago(a.now().Sub(at)))
		}
	}
	fmt.Fprintln(a.out, cut(strings.Join(parts, ", "), a.width()))
	if s.Unindexed > 0 {
		fmt.Fprintln(a.out, a.ink().yellow(plural(s.Unindexed, "pack is", "packs are")+" not indexed yet: the next ingest takes them in"))
	}
	if s.Problems > 0 {
		fmt.Fprintln(a.out, a.ink().yellow(plural(s.Problems, "problem", "problems")+": txarchive doctor says of what kind"))
	}
}

func (a *app) statusGrid(s *statusReport) *grid {
	g := &grid{columns: []column{{head: "source", flex: true}, {head: "state"}, {head: "files", right: true}, {head: "size", right: true},
		{head: "scanned"}, {head: "new"}, {head: "problems", right: true}, {head: "directory", flex: true}}}
	for _, one := range s.Sources {
		state := one.State
		if one.Stale {
			state += ", stale"
		}
		scanned, stored := "never", "never"
		if !one.scanned.IsZero() {
			scanned = ago(a.now().Sub(one.scanned))
		}
		if !one.stored.IsZero() {
			stored = ago(a.now().Sub(one.stored))
		}
		cells := []string{one.Name, state, number(one.Files), size(one.Bytes), scanned, stored, number(one.Problems), a.shown(one.Root)}
		if s.Problems == 0 {
			cells = slices.Delete(cells, 6, 7)
		}
		g.add(cells...)
	}
	if s.Problems == 0 {
		g.columns = slices.Delete(g.columns, 6, 7)
	}
	last := len(g.columns) - 1
	room := g.widths(a.width())[last]
	for _, cells := range g.rows {
		cells[last] = tail(cells[last], room)
	}
	return g
}

// tail shortens a path to a width at its beginning: its end says more.
func tail(path string, width int) string {
	if width <= 0 || text.StringWidthWithoutEscSequences(path) <= width {
		return path
	}
	runes := []rune(path)
	for len(runes) > 0 && text.StringWidthWithoutEscSequences(string(runes)) > width-1 {
		runes = runes[1:]
	}
	return "…" + string(runes)
}

// ago is how long something is past, in one unit.
func ago(d time.Duration) string {
	if d < time.Minute {
		return "just now"
	}
	return span(d) + " ago"
}

// span is a length of time in one unit.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int64(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int64(d/time.Minute))
	case d < 72*time.Hour:
		return fmt.Sprintf("%dh", int64(d/time.Hour))
	}
	return fmt.Sprintf("%dd", int64(d/(24*time.Hour)))
}
