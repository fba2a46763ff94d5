// Package status says how an archive is: how current each source is, how the nightly runs went, what the disk has left, and what a person
// should look at.
package status

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/nightly"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// Source is a source in the report of status.
type Source struct {
	Name        string            `json:"name"`
	Root        string            `json:"root"`
	Only        []string          `json:"only,omitempty"` // the paths that are followed; all of it without
	State       string            `json:"state"`          // present, missing, unreadable, removed
	Files       int64             `json:"files"`
	Bytes       int64             `json:"bytes"`
	Versions    int64             `json:"versions"`
	LastScanned printer.Timestamp `json:"last_scanned"`
	LastStored  printer.Timestamp `json:"last_stored"`
	Age         *int64            `json:"age_seconds"` // since the last scan
	Problems    int64             `json:"problems"`
	Stale       bool              `json:"stale"` // older than --max-age

	Outlook *Outlook `json:"outlook"` // null with --no-scan

	roots []source.Root
}

// Report is what status prints.
type Report struct {
	Archive   string            `json:"archive"`
	LastPack  printer.Timestamp `json:"last_pack"`
	Sources   []*Source         `json:"sources"`
	Problems  int64             `json:"problems"`
	Unindexed int64             `json:"unindexed_packs"`
	MaxAge    *int64            `json:"max_age_seconds"`
	OK        bool              `json:"ok"`
	Storage   archive.Storage   `json:"storage"`
	Free      *int64            `json:"free_bytes"` // on the disk of the archive; null if unknown

	Growth    Growth           `json:"growth"`
	Nightly   Nights           `json:"nightly"`
	Verify    nightly.Coverage `json:"verify"`
	Backup    *nightly.Backup  `json:"backup"`
	Attention []Attention      `json:"attention"`
	// Unfollowed are places of programs on this machine that no source has; null with --no-scan.
	Unfollowed []Place `json:"unfollowed"`
}

// Verdict returns the error that status ends in, nil for none. With check, anything that needs attention is one. said means that the
// findings were already printed for people.
func (s *Report) Verdict(check, said bool) error {
	if s.OK && check && len(s.Attention) > 0 {
		text := terminal.Plural(len(s.Attention), "thing needs", "things need") + " attention"
		if said {
			return failure.LimitCrossed(text, "")
		}
		return failure.LimitCrossed(text+": "+s.Attention[0].Text, "txarchive status")
	}
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
		return failure.LimitCrossed("nothing has been ingested yet", "txarchive ingest DIR")
	}
	return failure.LimitCrossed(fmt.Sprintf("not scanned for %s: %s", terminal.Duration(time.Duration(*s.MaxAge)*time.Second), strings.Join(stale, ", ")), "txarchive ingest; `txarchive source remove NAME` stops following a source")
}

// Options say what a report covers.
type Options struct {
	MaxAge time.Duration // after which a source is stale; 0: none is
	// Outlook tells what of a source is not archived, and what its program will delete before a time; nil: it is not looked at.
	Outlook func(ctx context.Context, root source.Root, until time.Time) (ingest.Outlook, error)
	// Unfollowed looks for places that no source has; nil: they are not looked for.
	Unfollowed func(ctx context.Context) ([]Place, error)
	// Next tells when the next nightly run is due, and by which scheduler; "" if none is.
	Next func(ctx context.Context) (at time.Time, with string)
}

// Collect finds out how an archive is.
func Collect(ctx context.Context, p *printer.Printer, store *archive.Archive, o Options) (*Report, error) {
	s := &Report{Archive: store.Dir(), OK: true}
	var err error
	if s.Sources, err = Sources(ctx, store, p.Now()); err != nil {
		return nil, err
	}
	if s.Problems, err = countProblems(ctx, store, s.Sources); err != nil {
		return nil, err
	}
	if s.Storage, err = store.Storage(ctx); err != nil {
		return nil, err
	}
	if n := disk.FreeBytes(store.Dir()); n >= 0 {
		s.Free = &n
	}
	unindexed, last, err := Unindexed(ctx, store)
	if err != nil {
		return nil, err
	}
	s.Unindexed, s.LastPack = int64(len(unindexed)), printer.Stamp(last)
	if o.MaxAge > 0 {
		s.markStale(p.Now(), o.MaxAge)
	}
	if err := s.nights(ctx, p, store, o); err != nil {
		return nil, err
	}
	if o.Outlook != nil {
		if err := s.preview(ctx, p.Now(), o); err != nil {
			return nil, err
		}
	}
	if o.Unfollowed != nil {
		if s.Unfollowed, err = o.Unfollowed(ctx); err != nil {
			return nil, err
		}
	}
	s.collectAttention(p.Now())
	return s, nil
}

// markStale marks the sources that were scanned longer ago than maxAge.
func (s *Report) markStale(now time.Time, maxAge time.Duration) {
	s.MaxAge = new(int64(maxAge / time.Second))
	followed := 0
	for _, one := range s.Sources {
		if one.State == "removed" {
			continue
		}
		followed++
		if one.Stale = one.LastScanned.IsZero() || now.Sub(one.LastScanned.Time) > maxAge; one.Stale {
			s.OK = false
		}
	}
	s.OK = s.OK && followed > 0
}
