package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/ingest"
)

func newStatusCommand(a *app) *cobra.Command {
	var maxAge time.Duration
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how fresh the archive is, source by source",
		Long: "Say of each source where it is, when it was last scanned, when something new was last stored of it and what had\n" +
			"problems; and what the archive takes on disk. With --max-age it ends in exit code 6 when a source that is followed\n" +
			"was not scanned for so long, or when nothing was ever ingested: for cron and monitoring." +
			exits("6 older than --max-age", "10 no archive"),
		Example: "  txarchive status\n  txarchive status --max-age 26h --quiet || mail -s 'transcripts are not archived' me\n" +
			"  txarchive status --json | jq '.sources[] | select(.state == \"missing\")'",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), a, maxAge) },
	}
	cmd.Flags().DurationVar(&maxAge, "max-age", 0, "the oldest that the last scan of a source may be")
	return cmd
}

// sourceStatus is a source as status tells it.
type sourceStatus struct {
	Name        string  `json:"name"`
	Root        string  `json:"root"`
	State       string  `json:"state"` // present, missing, removed
	Files       int64   `json:"files"`
	Bytes       int64   `json:"bytes"`
	Versions    int64   `json:"versions"`
	LastScanned *string `json:"last_scanned"`
	LastStored  *string `json:"last_stored"`
	Age         *int64  `json:"age_seconds"` // since the last scan
	Problems    int64   `json:"problems"`
	Stale       bool    `json:"stale"` // older than --max-age

	scanned, stored time.Time
}

// statusReport is what status tells.
type statusReport struct {
	Archive   string          `json:"archive"`
	LastPack  *string         `json:"last_pack"`
	Sources   []*sourceStatus `json:"sources"`
	Problems  int64           `json:"problems"`
	Unindexed int64           `json:"unindexed_packs"`
	MaxAge    *int64          `json:"max_age_seconds"`
	OK        bool            `json:"ok"`
	Storage   archive.Storage `json:"storage"`
}

func runStatus(ctx context.Context, a *app, maxAge time.Duration) error {
	if maxAge < 0 {
		return usage("an age cannot be negative", "--max-age 26h")
	}
	store, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := a.status(ctx, store, maxAge)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(s)
	} else if !a.quiet {
		a.printStatus(s)
	}
	return errors.Join(err, s.verdict(maxAge))
}

// verdict is what status ends in.
func (s *statusReport) verdict(maxAge time.Duration) error {
	if s.OK {
		return nil
	}
	var stale []string
	for _, one := range s.Sources {
		if one.Stale {
			stale = append(stale, one.Name)
		}
	}
	if len(stale) == 0 {
		return crossed("nothing was ever ingested", "txarchive ingest DIR")
	}
	return crossed(fmt.Sprintf("not scanned for %s: %s", span(maxAge), strings.Join(stale, ", ")), "txarchive ingest; `txarchive source remove NAME` follows a source no longer")
}

// status gathers what is known of the sources and of the disk.
func (a *app) status(ctx context.Context, store *archive.Archive, maxAge time.Duration) (*statusReport, error) {
	s := &statusReport{Archive: store.Dir(), Sources: []*sourceStatus{}, OK: true}
	sources, err := a.sourceStates(ctx, store)
	if err != nil {
		return nil, err
	}
	s.Sources = sources
	if s.Problems, err = countProblems(ctx, store, sources); err != nil {
		return nil, err
	}
	if s.Storage, err = store.Storage(ctx); err != nil {
		return nil, err
	}
	unindexed, last, err := unindexedPacks(ctx, store)
	if err != nil {
		return nil, err
	}
	s.Unindexed = int64(len(unindexed))
	if !last.IsZero() {
		s.LastPack = stamp(last)
	}
	if maxAge > 0 {
		s.judge(a.now(), maxAge)
	}
	return s, nil
}

// judge marks the sources that are older than they may be.
func (s *statusReport) judge(now time.Time, maxAge time.Duration) {
	seconds := int64(maxAge / time.Second)
	s.MaxAge = &seconds
	followed := 0
	for _, one := range s.Sources {
		if one.State == "removed" {
			continue
		}
		followed++
		if one.Stale = one.scanned.IsZero() || now.Sub(one.scanned) > maxAge; one.Stale {
			s.OK = false
		}
	}
	s.OK = s.OK && followed > 0
}

// scannedKey begins the notes of when a source was last scanned as a whole, on this machine.
const scannedKey = "scanned/"

// scanned notes that sources were scanned as a whole. It is lost with the index, and then what was stored last counts.
func (a *app) scanned(ctx context.Context, store *archive.Archive, roots []ingest.Root, r *ingest.Report) error {
	notes := map[string]string{}
	for _, root := range roots {
		if root.Below == "." && !slices.Contains(r.Missing, root.Source) {
			notes[scannedKey+root.Source] = a.now().UTC().Format(time.RFC3339Nano)
		}
	}
	return store.Index().Note(ctx, notes)
}

// sourceStates are the sources with what is stored of them.
func (a *app) sourceStates(ctx context.Context, store *archive.Archive) ([]*sourceStatus, error) {
	known, err := ingest.Sources(ctx, store.Index())
	if err != nil {
		return nil, err
	}
	notes, err := store.Index().Noted(ctx, scannedKey)
	if err != nil {
		return nil, err
	}
	all := []*sourceStatus{}
	by := map[string]*sourceStatus{}
	for _, k := range known {
		s := &sourceStatus{Name: k.Name, Root: k.Root, State: sourceState(k)}
		all, by[k.Name] = append(all, s), s
	}
	for stock, err := range store.Index().Stocks(ctx) {
		if err != nil {
			return nil, err
		}
		if s := by[stock.Source]; s != nil {
			s.Files, s.Bytes, s.Versions, s.stored = stock.Files, stock.Bytes, stock.Versions, stock.LastStored
		}
	}
	for _, s := range all {
		s.scanned = s.stored
		if at, err := time.Parse(time.RFC3339Nano, notes[scannedKey+s.Name]); err == nil && at.After(s.scanned) {
			s.scanned = at
		}
		if !s.stored.IsZero() {
			s.LastStored = stamp(s.stored)
		}
		if !s.scanned.IsZero() {
			s.LastScanned = stamp(s.scanned)
			age := int64(max(a.now().Sub(s.scanned), 0) / time.Second)
			s.Age = &age
		}
	}
	return all, nil
}

// countProblems counts problems, in all and of each source.
func countProblems(ctx context.Context, store *archive.Archive, sources []*sourceStatus) (n int64, err error) {
	for p, err := range store.Index().Problems(ctx) {
		if err != nil {
			return n, err
		}
		n++
		for _, s := range sources {
			if s.Name == p.Key.Source {
				s.Problems++
			}
		}
	}
	return n, nil
}

// unindexedPacks are packs that the index does not know, and when the newest of all was written.
func unindexedPacks(ctx context.Context, store *archive.Archive) (unknown []string, last time.Time, err error) {
	indexed := map[string]bool{}
	if store.Index() != nil {
		for name, err := range store.Index().Packs(ctx) {
			if err != nil {
				return nil, last, err
			}
			indexed[name] = true
		}
	}
	for info, err := range store.Packs().List(ctx) {
		if err != nil {
			return nil, last, err
		}
		if !indexed[info.Name] {
			unknown = append(unknown, info.Name)
		}
		if at := packTime(info.Name); at.After(last) {
			last = at
		}
	}
	return unknown, last, nil
}

// packTime is when a pack was begun, as its name tells; zero when it does not.
func packTime(name string) time.Time {
	base := name[strings.LastIndexByte(name, '/')+1:]
	digits, _, _ := strings.Cut(base, "-")
	if at, err := time.Parse("20060102T150405Z", digits); err == nil { // with any fraction of a second
		return at
	}
	return time.Time{}
}

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
