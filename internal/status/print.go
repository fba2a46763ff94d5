package status

import (
	"context"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// Print prints the report for people.
func (s *Report) Print(p *printer.Printer) {
	switch {
	case len(s.Sources) > 0:
		fmt.Fprintf(p.Out, "%s\n\n", p.Fit(s.grid(p)))
	case s.Unindexed == 0: // else the first ingest is still running
		p.Note("There are no sources yet. Next: txarchive ingest DIR, or txarchive source add DIR")
	}
	p.Line("%s", s.storageLine(p))
	s.printNights(p)
	if s.Unindexed > 0 {
		fmt.Fprintln(p.Out, p.Style().Yellow(notIndexed(s.Unindexed)))
	}
	if s.Problems > 0 {
		fmt.Fprintln(p.Out, p.Style().Yellow(terminal.Plural(s.Problems, "problem", "problems")+": txarchive doctor shows details"))
	}
	for _, t := range s.Attention {
		fmt.Fprintln(p.Out, p.Style().Yellow(p.Wrap("", terminal.OneLine(t.Text), "  ")))
	}
	if new := mergeRepeated(s.Nightly.New); len(new) > 0 {
		for _, one := range new[:min(len(new), maxNewProblems)] {
			p.Line("  new: %s", one)
		}
		if len(new) > maxNewProblems {
			p.Line("  ... and %s; --json lists all", terminal.Plural(len(new)-maxNewProblems, "more", "more"))
		}
	}
	NoteUnfollowed(p, s.Unfollowed)
}

func notIndexed(packs int64) string {
	return terminal.Plural(packs, "pack is", "packs are") + " not indexed yet: an ingest is running, or the next one indexes them or reports why it cannot"
}

// NoteUnindexed notes what a search of so many rows could not find: during a first load, everything.
func NoteUnindexed(ctx context.Context, p *printer.Printer, store *archive.Archive, rows *int64) error {
	packs, _, err := Unindexed(ctx, store)
	switch {
	case err != nil:
	case len(packs) > 0:
		p.Note("%s", notIndexed(int64(len(packs))))
	case rows != nil && *rows == 0:
		p.Note("There is nothing to search yet. Next: txarchive ingest DIR")
	}
	return err
}

// mergeRepeated joins equal problems of several steps, which are written as "<step>: <text>".
func mergeRepeated(all []string) (joined []string) {
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

// maxNewProblems is how many new problems of the last nightly run are shown.
const maxNewProblems = 5

// storageLine returns what the archive takes on disk.
func (s *Report) storageLine(p *printer.Printer) string {
	d := &s.Storage
	parts := []string{fmt.Sprintf("%s (%s)", terminal.Plural(d.Packs, "pack", "packs"), terminal.Bytes(d.PackBytes)), "index " + terminal.Bytes(d.IndexBytes)}
	if d.OldIndexBytes > 0 {
		parts = append(parts, "older index "+terminal.Bytes(d.OldIndexBytes))
	}
	if !s.LastPack.IsZero() {
		parts = append(parts, "last written "+terminal.Ago(p.Now().Sub(s.LastPack.Time)))
	}
	if m := s.Growth.Month; m != nil && *m > 0 {
		parts = append(parts, "grows "+terminal.Bytes(*m)+" a month")
	}
	return strings.Join(parts, ", ")
}

// printNights prints how the nightly runs go, how much was verified lately, and when the last backup was.
func (s *Report) printNights(p *printer.Printer) {
	n := &s.Nightly
	var parts []string
	if n.OK != nil {
		how := "succeeded"
		if !*n.OK {
			how = "had problems"
		}
		parts = append(parts, "ran "+terminal.Ago(p.Now().Sub(n.Finished.Time))+", "+how)
	}
	if !n.Running.IsZero() && !n.Killed {
		parts = append(parts, "running since "+p.FormatClock(n.Running.Time))
	}
	if !n.Next.IsZero() {
		parts = append(parts, "next "+p.FormatClock(n.Next.Time)+" by "+*n.With)
	}
	if len(parts) > 0 {
		fmt.Fprintln(p.Out, "nightly: "+strings.Join(parts, ", "))
	}
	if n.OK == nil && n.Running.IsZero() {
		return
	}
	if v := &s.Verify; v.Bytes > 0 {
		p.Line("verified: %d %% of the packs within %s", 100*v.Covered/v.Bytes, terminal.Plural(v.Days, "day", "days"))
	}
	if b := s.Backup; b != nil && b.Last != nil {
		p.Line("backup: %s, %s", p.DisplayPath(b.Dir), terminal.Ago(p.Now().Sub(*b.Last)))
	}
}

func (s *Report) grid(p *printer.Printer) *terminal.Table {
	g := &terminal.Table{Columns: []terminal.Column{{Head: "source", Shorten: terminal.TruncateMiddle}, {Head: "state"}, {Head: "files", Right: true, DropRank: 2}, {Head: "size", Right: true, DropRank: 3},
		{Head: "scanned"}, {Head: "new", DropRank: 4}, {Head: "waiting", Right: true}, {Head: "problems", Right: true}, {Head: "directory", Shorten: terminal.TruncateStart, DropRank: 1}}}
	for _, one := range s.Sources {
		state := one.State
		if one.Stale {
			state += ", stale"
		}
		scanned, stored := "never", "never"
		if one.Files > 0 {
			scanned = "unknown" // by a clock that was wrong
		}
		if !one.LastScanned.IsZero() {
			scanned = terminal.Ago(p.Now().Sub(one.LastScanned.Time))
		}
		if !one.LastStored.IsZero() {
			stored = terminal.Ago(p.Now().Sub(one.LastStored.Time))
		}
		g.Add(one.Name, state, terminal.Count(one.Files), terminal.Bytes(one.Bytes), scanned, stored, one.waiting(), terminal.Count(one.Problems), p.DisplayPath(Followed(one.Root, one.Only)))
	}
	if s.Problems == 0 {
		g = g.Without(7)
	}
	if s.waiting() == 0 {
		g = g.Without(6)
	}
	return g
}

// waiting returns how many files are not archived in their present state.
func (s *Report) waiting() (n int64) {
	for _, one := range s.Sources {
		if one.Outlook != nil {
			n += one.Outlook.New + one.Outlook.Changed
		}
	}
	return n
}

func (s *Source) waiting() string {
	if s.Outlook == nil {
		return "?"
	}
	return terminal.Count(s.Outlook.New + s.Outlook.Changed)
}
