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
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// sourceOutlook is what of a source is not archived, and what its program will delete.
type sourceOutlook struct {
	New       int64             `json:"new_files"`
	Changed   int64             `json:"changed_files"`
	Bytes     int64             `json:"pending_bytes"`
	Oldest    printer.Timestamp `json:"oldest_pending"` // last change of the oldest pending file
	Unknown   int64             `json:"unknown_files"`  // of no known format, as far as their paths tell
	Doomed    int64             `json:"doomed_files"`   // that will be deleted before the next run
	DoomedB   int64             `json:"doomed_bytes"`
	AtRisk    int64             `json:"at_risk_files"` // doomed files that are not archived in their present state
	FirstLoss printer.Timestamp `json:"first_loss"`    // when the first of them may be deleted
}

// growth is how fast the packs grow.
type growth struct {
	Month *int64            `json:"pack_bytes_per_month"` // 30 days; null while there are too few nights to tell
	Since printer.Timestamp `json:"since"`
}

// nightlyStatus is the state of the nightly job.
type nightlyStatus struct {
	Started  printer.Timestamp `json:"started"` // of the last run that finished
	Finished printer.Timestamp `json:"finished"`
	OK       *bool             `json:"ok"`
	Failed   []string          `json:"failed_steps"` // that failed or had problems
	Problems []string          `json:"problems"`
	New      []string          `json:"new_problems"`  // problems that the run before did not have
	Running  printer.Timestamp `json:"running_since"` // start of a run that has not finished
	Killed   bool              `json:"killed"`        // and whose process is gone
	Next     printer.Timestamp `json:"next"`          // not before; null if nothing is scheduled
	With     *string           `json:"scheduled_with"`
}

// attention is something that a person should look at.
type attention struct {
	Kind   string  `json:"kind"` // missing, nightly, overdue, killed, damaged, backup, loss, disk, clock, state
	Source *string `json:"source"`
	Text   string  `json:"text"`
}

// statusOfNights reports how the nightly runs went. A state that cannot be read is only reported as needing attention.
func (a *app) statusOfNights(ctx context.Context, store *archive.Archive, s *statusReport) error {
	n := &s.Nightly
	n.Failed, n.Problems, n.New, s.Attention = []string{}, []string{}, []string{}, []attention{}
	state, err := nightly.Load(store.Dir())
	if err != nil {
		s.Attention = append(s.Attention, attention{Kind: "state", Text: err.Error()})
		state = &nightly.State{}
	}
	if last := state.Last; last != nil {
		n.Started, n.Finished, n.OK = printer.Stamp(last.Started), printer.Stamp(last.Finished), &last.OK
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
		n.Running, n.Killed = printer.Stamp(r.Started), state.Killed()
	}
	packs, err := listPacks(ctx, store)
	if err != nil {
		return err
	}
	days := state.VerifyDays
	if days == 0 {
		days = defaultVerifyDays
	}
	s.Verify, s.Backup = state.Coverage(packs, a.Now(), days), state.Backup
	s.Growth = packGrowth(state, packs, a.Now())
	if state.Leap.Doubts(a.Now()) {
		s.Attention = append(s.Attention, attention{Kind: "clock", Text: a.doubtText(*state.Leap)})
	}
	if r, err := a.scheduleState(ctx, &scheduleOptions{}); err == nil && r.Scheduled {
		n.Next, n.With = r.Next, r.With
	}
	return nil
}

const month = 30 * 24 * time.Hour

// packGrowth returns by how much the packs have grown since the oldest night of the last month on record, scaled to a month.
func packGrowth(state *nightly.State, packs []nightly.Pack, now time.Time) growth {
	bytes := int64(0)
	for _, p := range packs {
		bytes += p.Size
	}
	for _, night := range state.History {
		age := now.Sub(night.Started)
		if night.PackBytes > 0 && age <= month+24*time.Hour && age > 48*time.Hour {
			n := int64(float64(bytes-night.PackBytes) * (float64(month) / float64(age)))
			return growth{&n, printer.Stamp(night.Started)}
		}
	}
	return growth{}
}

// previewSources scans the sources without reading their files.
func (a *app) previewSources(ctx context.Context, store *archive.Archive, s *statusReport) error {
	until := s.Nightly.Next.Time
	if until.IsZero() {
		until = a.Now().Add(24 * time.Hour)
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
		one.Outlook = &sourceOutlook{New: o.New, Changed: o.Changed, Bytes: o.Bytes, Oldest: printer.Stamp(o.Oldest), Unknown: o.Unknown,
			Doomed: o.Doomed, DoomedB: o.DoomedBytes, AtRisk: o.AtRisk, FirstLoss: printer.Stamp(o.First)}
	}
	return nil
}

// lateAfter is how late a nightly run may be before it needs attention: it has jitter, and takes some time itself.
const lateAfter = 2 * time.Hour

// minFree is how many bytes should be free on the disk of any archive.
const minFree = 64 << 20

// neededFree returns how many bytes should be free: for a second index beside the present one, and for what is new in a month.
func (s *statusReport) neededFree() int64 {
	need := max(minFree, s.Storage.IndexBytes)
	if s.Growth.Month != nil {
		need = max(need, *s.Growth.Month)
	}
	return need
}

// collectAttention lists what a person should look at.
func (s *statusReport) collectAttention(now time.Time) {
	add := func(kind, source, text string, args ...any) {
		s.Attention = append(s.Attention, attention{kind, printer.OrNull(source), fmt.Sprintf(text, args...)})
	}
	for _, one := range s.Sources {
		switch {
		case one.State == "missing":
			add("missing", one.Name, "the source %s is missing: %s", one.Name, one.Root)
		case one.isEmptied():
			add("missing", one.Name, "the source %s is empty, but %s are archived from it: is %s mounted?", one.Name, terminal.Plural(one.Files, "file", "files"), one.Root)
		case one.Outlook != nil && one.Outlook.AtRisk > 0:
			add("loss", one.Name, "%s of %s will be deleted by their program before they are archived: txarchive ingest",
				terminal.Plural(one.Outlook.AtRisk, "file", "files"), one.Name)
		}
	}
	n := &s.Nightly
	last := n.Finished.Time
	if last.IsZero() && !n.Next.IsZero() { // no run yet: it is overdue since the archive was begun
		for _, one := range s.Sources {
			if one.LastScanned.After(last) {
				last = one.LastScanned.Time
			}
		}
	}
	switch age := now.Sub(last); {
	case n.Killed:
		add("killed", "", "the nightly run that started %s did not finish: it was killed, or the disk was full", terminal.Ago(now.Sub(n.Running.Time)))
	case isAhead(last, now) && n.Running.IsZero(): // it would be on time until then
		add("overdue", "", "the last nightly run finished %s: the clock was wrong then, or is now", terminal.Ago(age))
	case !last.IsZero() && age > 24*time.Hour+lateAfter && n.Running.IsZero():
		add("overdue", "", "no nightly run has finished for %s: is it still scheduled?", terminal.Duration(age))
	}
	if n.OK != nil && !*n.OK {
		add("nightly", "", "the last nightly run had problems: %s", strings.Join(n.Failed, ", "))
	}
	if need := s.neededFree(); s.Free != nil && *s.Free < need {
		add("disk", "", "only %s free on the disk of the archive: the nightly job needs %s", terminal.Bytes(*s.Free), terminal.Bytes(need))
	}
	if s.Verify.Damaged > 0 {
		add("damaged", "", "%s damaged: txarchive verify shows what is affected, txarchive ingest repairs what is intact elsewhere", terminal.Plural(s.Verify.Damaged, "pack is", "packs are"))
	}
	if b := s.Backup; b != nil && !b.OK {
		last := "has never succeeded"
		if b.Last != nil {
			last = "last succeeded " + terminal.Ago(now.Sub(*b.Last))
		}
		add("backup", "", "the backup to %s %s", filepath.Clean(b.Dir), last)
	}
}
