package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/nightly"
)

// sourceOutlook is what is not archived of a source, and what its program will delete.
type sourceOutlook struct {
	New       int64   `json:"new_files"`
	Changed   int64   `json:"changed_files"`
	Bytes     int64   `json:"pending_bytes"`
	Oldest    instant `json:"oldest_pending"` // last change of the oldest of them
	Unknown   int64   `json:"unknown_files"`  // belong to nothing that is known, as far as their paths tell
	Doomed    int64   `json:"doomed_files"`   // that will be deleted before the next run
	DoomedB   int64   `json:"doomed_bytes"`
	AtRisk    int64   `json:"at_risk_files"` // of them, those that are not archived as they are
	FirstLoss instant `json:"first_loss"`    // from when on the first of them may be deleted
}

// growth is how the packs grow.
type growth struct {
	Month *int64  `json:"pack_bytes_per_month"` // of 30 days; null while there are too few nights to tell
	Since instant `json:"since"`
}

// nightlyStatus is how the nightly runs go.
type nightlyStatus struct {
	Started  instant  `json:"started"` // the last one that came to its end
	Finished instant  `json:"finished"`
	OK       *bool    `json:"ok"`
	Failed   []string `json:"failed_steps"` // that failed or had problems
	Problems []string `json:"problems"`
	New      []string `json:"new_problems"`  // that the one before did not have
	Running  instant  `json:"running_since"` // one that has not come to its end
	Killed   bool     `json:"killed"`        // and is not at work any more
	Next     instant  `json:"next"`          // at the earliest; null when nothing is scheduled
	With     *string  `json:"scheduled_with"`
}

// attention is something that somebody should look at.
type attention struct {
	Kind   string  `json:"kind"` // missing, nightly, overdue, killed, damaged, backup, loss, disk, state
	Source *string `json:"source"`
	Text   string  `json:"text"`
}

// statusOfNights tells how the nightly runs went. A state that cannot be read is worth attention, and nothing more.
func (a *app) statusOfNights(ctx context.Context, store *archive.Archive, s *statusReport) error {
	n := &s.Nightly
	n.Failed, n.Problems, n.New, s.Attention = []string{}, []string{}, []string{}, []attention{}
	state, err := nightly.Load(store.Dir())
	if err != nil {
		s.Attention = append(s.Attention, attention{Kind: "state", Text: err.Error()})
		state = &nightly.State{}
	}
	if last := state.Last; last != nil {
		n.Started, n.Finished, n.OK = instant{last.Started}, instant{last.Finished}, &last.OK
		n.New = append(n.New, state.New...)
		for i := range last.Steps {
			step := &last.Steps[i]
			if !step.Bad() {
				continue
			}
			n.Failed = append(n.Failed, step.Step)
			if step.Error != nil {
				n.Problems = append(n.Problems, step.Step+": "+*step.Error)
			}
			for _, p := range step.Problems {
				n.Problems = append(n.Problems, step.Step+": "+p)
			}
		}
	}
	if r := state.Running; r != nil {
		n.Running, n.Killed = instant{r.Started}, state.Killed()
	}
	packs, err := packsOf(ctx, store)
	if err != nil {
		return err
	}
	days := state.VerifyDays
	if days == 0 {
		days = defaultVerifyDays
	}
	s.Verify, s.Backup = state.Coverage(packs, a.now(), days), state.Backup
	s.Growth = growing(state, packs, a.now())
	if r, err := a.scheduleState(ctx, &scheduleOptions{}); err == nil && r.Scheduled {
		n.Next, n.With = r.Next, r.With
	}
	return nil
}

const month = 30 * 24 * time.Hour

// growing is how much the packs have grown since the oldest night of the last month that is remembered, as if for a
// month.
func growing(state *nightly.State, packs []nightly.Pack, now time.Time) growth {
	bytes := int64(0)
	for _, p := range packs {
		bytes += p.Size
	}
	for _, night := range state.History {
		age := now.Sub(night.Started)
		if night.PackBytes > 0 && age <= month+24*time.Hour && age > 48*time.Hour {
			n := int64(float64(bytes-night.PackBytes) * (float64(month) / float64(age)))
			return growth{&n, instant{night.Started}}
		}
	}
	return growth{}
}

// lookOut looks at the sources.
func (a *app) lookOut(ctx context.Context, store *archive.Archive, s *statusReport) error {
	until := s.Nightly.Next.Time
	if until.IsZero() {
		until = a.now().Add(24 * time.Hour)
	}
	g := a.ingester(store)
	for _, one := range s.Sources {
		if one.State != "present" {
			continue
		}
		var o ingest.Outlook
		for _, root := range one.roots {
			part, err := g.Outlook(ctx, root, until)
			if err != nil {
				return err
			}
			if o.Missing = part.Missing && !root.Listed; o.Missing {
				break
			}
			o.Join(part)
		}
		if o.Missing {
			continue
		}
		one.Outlook = &sourceOutlook{New: o.New, Changed: o.Changed, Bytes: o.Bytes, Oldest: instant{o.Oldest}, Unknown: o.Unknown,
			Doomed: o.Doomed, DoomedB: o.DoomedBytes, AtRisk: o.AtRisk, FirstLoss: instant{o.First}}
	}
	return nil
}

// lateness is how long after its time a nightly run may be before that is worth attention: jitter, and its own length.
const lateness = 2 * time.Hour

// minRoom is how much should be free on the disk of any archive.
const minRoom = 64 << 20

// room is how much should be free: an index beside the present one, and what is new in a month.
func (s *statusReport) room() int64 {
	need := max(minRoom, s.Storage.IndexBytes)
	if s.Growth.Month != nil {
		need = max(need, *s.Growth.Month)
	}
	return need
}

// attend lists what somebody should look at.
func (s *statusReport) attend(now time.Time) {
	add := func(kind, source, text string, args ...any) {
		s.Attention = append(s.Attention, attention{kind, orNull(source), fmt.Sprintf(text, args...)})
	}
	for _, one := range s.Sources {
		switch {
		case one.State == "missing":
			add("missing", one.Name, "the source %s is not there: %s", one.Name, one.Root)
		case one.emptied():
			add("missing", one.Name, "nothing stands at the source %s any more, of which %s are archived: is %s mounted?", one.Name, plural(one.Files, "file", "files"), one.Root)
		case one.Outlook != nil && one.Outlook.AtRisk > 0:
			add("loss", one.Name, "%s of %s will be deleted by their program before they are archived: txarchive ingest",
				plural(one.Outlook.AtRisk, "file", "files"), one.Name)
		}
	}
	n := &s.Nightly
	last := n.Finished.Time
	if last.IsZero() && !n.Next.IsZero() { // it should have come since somebody began with the archive
		for _, one := range s.Sources {
			if one.LastScanned.After(last) {
				last = one.LastScanned.Time
			}
		}
	}
	switch age := now.Sub(last); {
	case n.Killed:
		add("killed", "", "the nightly run of %s did not come to its end: it was killed, or the disk was full", ago(now.Sub(n.Running.Time)))
	case !last.IsZero() && age > 24*time.Hour+lateness && n.Running.IsZero():
		add("overdue", "", "no nightly run has come to its end for %s: is it still scheduled?", span(age))
	}
	if n.OK != nil && !*n.OK {
		add("nightly", "", "the last nightly run had problems: %s", strings.Join(n.Failed, ", "))
	}
	if need := s.room(); s.Free != nil && *s.Free < need {
		add("disk", "", "%s are free on the disk of the archive; %s should be, so that the nightly job can do its work", size(*s.Free), size(need))
	}
	if s.Verify.Damaged > 0 {
		add("damaged", "", "%s damaged: txarchive verify says what that costs, txarchive ingest mends what is whole elsewhere", plural(s.Verify.Damaged, "pack is", "packs are"))
	}
	if b := s.Backup; b != nil && !b.OK {
		last := "never went through"
		if b.Last != nil {
			last = "went through last " + ago(now.Sub(*b.Last))
		}
		add("backup", "", "the backup to %s %s", filepath.Clean(b.Dir), last)
	}
}
