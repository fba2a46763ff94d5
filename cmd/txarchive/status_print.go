package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
)

func (a *app) printStatus(s *statusReport) {
	switch {
	case len(s.Sources) > 0:
		fmt.Fprintf(a.out, "%s\n\n", a.fitted(a.statusGrid(s)))
	case s.Unindexed == 0: // else the first ingest is at work
		a.note("There are no sources yet. Next: txarchive ingest DIR, or txarchive source add DIR")
	}
	fmt.Fprintln(a.out, a.wrapped("", a.storageLine(s), "  "))
	a.printNights(s)
	if s.Unindexed > 0 {
		fmt.Fprintln(a.out, a.ink().yellow(notIndexed(s.Unindexed)))
	}
	if s.Problems > 0 {
		fmt.Fprintln(a.out, a.ink().yellow(plural(s.Problems, "problem", "problems")+": txarchive doctor says of what kind"))
	}
	for _, t := range s.Attention {
		fmt.Fprintln(a.out, a.ink().yellow(a.wrapped("", line(t.Text), "  ")))
	}
	if new := together(s.Nightly.New); len(new) > 0 {
		for _, p := range new[:min(len(new), newShown)] {
			fmt.Fprintln(a.out, a.wrapped("  new: ", line(p), "    "))
		}
		if len(new) > newShown {
			fmt.Fprintf(a.out, "  ... and %s; --json has all\n", plural(len(new)-newShown, "more", "more"))
		}
	}
}

func notIndexed(packs int64) string {
	return plural(packs, "pack is", "packs are") + " not indexed yet: an ingest is at work, or the next one takes them in, or says why it cannot"
}

// tellUnindexed says what a search of so many rows cannot have found: within a first load, that is everything.
func (a *app) tellUnindexed(ctx context.Context, store *archive.Archive, rows *int64) error {
	packs, _, err := unindexedPacks(ctx, store)
	switch {
	case err != nil:
	case len(packs) > 0:
		a.note("%s", notIndexed(int64(len(packs))))
	case rows != nil && *rows == 0:
		a.note("There is nothing to search yet. Next: txarchive ingest DIR")
	}
	return err
}

// together joins problems of several steps that are the same, which are written as "<step>: <text>".
func together(all []string) (joined []string) {
	at := map[string]int{}
	for _, p := range all {
		step, text, _ := strings.Cut(p, ": ")
		if i, ok := at[text]; ok {
			joined[i] = strings.TrimSuffix(joined[i], ": "+text) + ", " + p
			continue
		}
		at[text], joined = len(joined), append(joined, step+": "+text)
	}
	return joined
}

// newShown is how many new problems of the last nightly run are shown.
const newShown = 5

// storageLine is what the archive takes on disk.
func (a *app) storageLine(s *statusReport) string {
	d := &s.Storage
	parts := []string{fmt.Sprintf("%s (%s)", plural(d.Packs, "pack", "packs"), size(d.PackBytes)), "index " + size(d.IndexBytes)}
	if d.OldIndexBytes > 0 {
		parts = append(parts, "older index "+size(d.OldIndexBytes))
	}
	if !s.LastPack.IsZero() {
		parts = append(parts, "last written "+ago(a.now().Sub(s.LastPack.Time)))
	}
	if m := s.Growth.Month; m != nil && *m > 0 {
		parts = append(parts, "grows "+size(*m)+" a month")
	}
	return strings.Join(parts, ", ")
}

// printNights says how the nightly runs go, how much was read again lately, and when it was backed up.
func (a *app) printNights(s *statusReport) {
	n := &s.Nightly
	var parts []string
	if n.OK != nil {
		how := "went well"
		if !*n.OK {
			how = "had problems"
		}
		parts = append(parts, "ran "+ago(a.now().Sub(n.Finished.Time))+", "+how)
	}
	if !n.Running.IsZero() && !n.Killed {
		parts = append(parts, "at work since "+a.clock(n.Running.Time))
	}
	if !n.Next.IsZero() {
		parts = append(parts, "next "+a.clock(n.Next.Time)+" by "+*n.With)
	}
	if len(parts) > 0 {
		fmt.Fprintln(a.out, "nightly: "+strings.Join(parts, ", "))
	}
	if n.OK == nil && n.Running.IsZero() {
		return
	}
	if v := &s.Verify; v.Bytes > 0 {
		fmt.Fprintf(a.out, "verified: %d %% of the packs within %s\n", 100*v.Covered/v.Bytes, plural(v.Days, "day", "days"))
	}
	if b := s.Backup; b != nil && b.Last != nil {
		fmt.Fprintf(a.out, "backup: %s, %s\n", line(a.shown(b.Dir)), ago(a.now().Sub(*b.Last)))
	}
}

func (a *app) statusGrid(s *statusReport) *grid {
	g := &grid{columns: []column{{head: "source", flex: cutMiddle}, {head: "state"}, {head: "files", right: true, spare: 2}, {head: "size", right: true, spare: 3},
		{head: "scanned"}, {head: "new", spare: 4}, {head: "waiting", right: true}, {head: "problems", right: true}, {head: "directory", flex: tail, spare: 1}}}
	for _, one := range s.Sources {
		state := one.State
		if one.Stale {
			state += ", stale"
		}
		scanned, stored := "never", "never"
		if !one.LastScanned.IsZero() {
			scanned = ago(a.now().Sub(one.LastScanned.Time))
		}
		if !one.LastStored.IsZero() {
			stored = ago(a.now().Sub(one.LastStored.Time))
		}
		g.add(one.Name, state, number(one.Files), size(one.Bytes), scanned, stored, one.waiting(), number(one.Problems), a.shown(followed(one.Root, one.Only)))
	}
	if s.Problems == 0 {
		g = g.without(7)
	}
	if s.waiting() == 0 {
		g = g.without(6)
	}
	return g
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

// waiting is how many files are not archived as they are.
func (s *statusReport) waiting() (n int64) {
	for _, one := range s.Sources {
		if one.Outlook != nil {
			n += one.Outlook.New + one.Outlook.Changed
		}
	}
	return n
}

func (s *sourceStatus) waiting() string {
	if s.Outlook == nil {
		return "?"
	}
	return number(s.Outlook.New + s.Outlook.Changed)
}
