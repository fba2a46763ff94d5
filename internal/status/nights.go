package status

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

// Outlook is what of a source is not archived, and what its program will delete.
type Outlook struct {
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

// Growth is how fast the packs grow.
type Growth struct {
	Month *int64            `json:"pack_bytes_per_month"` // 30 days; null while there are too few nights to tell
	Since printer.Timestamp `json:"since"`
}

// Nights is the state of the nightly job.
type Nights struct {
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

// Attention is something that a person should look at.
type Attention struct {
	Kind   string  `json:"kind"` // missing, nightly, overdue, killed, damaged, backup, loss, disk, clock, state
	Source *string `json:"source"`
	Text   string  `json:"text"`
}

// nights reports how the nightly runs went. A state that cannot be read is only reported as needing attention.
func (s *Report) nights(ctx context.Context, p *printer.Printer, store *archive.Archive, o Options) error {
	n := &s.Nightly
	n.Failed, n.Problems, n.New, s.Attention = []string{}, []string{}, []string{}, []Attention{}
	state, err := nightly.Load(store.Dir())
	if err != nil {
		s.Attention = append(s.Attention, Attention{Kind: "state", Text: err.Error()})
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
	packs, err := Packs(ctx, store)
	if err != nil {
		return err
	}
	days := state.VerifyDays
	if days == 0 {
		days = nightly.VerifyDays
	}
	s.Verify, s.Backup = state.Coverage(packs, p.Now(), days), state.Backup
	s.Growth = packGrowth(state, packs, p.Now())
	if state.Leap.Doubts(p.Now()) {
		s.Attention = append(s.Attention, Attention{Kind: "clock", Text: Doubt(p, *state.Leap)})
	}
	if at, with := o.Next(ctx); with != "" {
		n.Next, n.With = printer.Stamp(at), &with
	}
	return nil
}

const month = 30 * 24 * time.Hour

// packGrowth returns by how much the packs have grown since the oldest night of the last month on record, scaled to a month.
func packGrowth(state *nightly.State, packs []nightly.Pack, now time.Time) Growth {
	bytes := int64(0)
	for _, p := range packs {
		bytes += p.Size
	}
	for _, night := range state.History {
		age := now.Sub(night.Started)
		if night.PackBytes > 0 && age <= month+24*time.Hour && age > 48*time.Hour {
			n := int64(float64(bytes-night.PackBytes) * (float64(month) / float64(age)))
			return Growth{&n, printer.Stamp(night.Started)}
		}
	}
	return Growth{}
}

// preview scans the sources without reading their files.
func (s *Report) preview(ctx context.Context, now time.Time, o Options) error {
	until := s.Nightly.Next.Time
	if until.IsZero() {
		until = now.Add(24 * time.Hour)
	}
	for _, one := range s.Sources {
		if one.State != "present" {
			continue
		}
		var all ingest.Outlook
		for _, root := range one.roots {
			part, err := o.Outlook(ctx, root, until)
			if err != nil {
				return err
			}
			if all.Missing = part.Missing && !root.Listed; all.Missing {
				break
			}
			all.Join(part)
		}
		if all.Missing {
			continue
		}
		one.Outlook = &Outlook{New: all.New, Changed: all.Changed, Bytes: all.Bytes, Oldest: printer.Stamp(all.Oldest), Unknown: all.Unknown,
			Doomed: all.Doomed, DoomedB: all.DoomedBytes, AtRisk: all.AtRisk, FirstLoss: printer.Stamp(all.First)}
	}
	return nil
}

// lateAfter is how late a nightly run may be before it needs attention: it has jitter, and takes some time itself.
const lateAfter = 2 * time.Hour

// minFree is how many bytes should be free on the disk of any archive.
const minFree = 64 << 20

// neededFree returns how many bytes should be free: for a second index beside the present one, and for what is new in a month.
func (s *Report) neededFree() int64 {
	need := max(minFree, s.Storage.IndexBytes)
	if s.Growth.Month != nil {
		need = max(need, *s.Growth.Month)
	}
	return need
}

// collectAttention lists what a person should look at.
func (s *Report) collectAttention(now time.Time) {
	add := func(kind, source, text string, args ...any) {
		s.Attention = append(s.Attention, Attention{kind, printer.OrNull(source), fmt.Sprintf(text, args...)})
	}
	for _, one := range s.Sources {
		switch {
		case one.State == "missing":
			add("missing", one.Name, "the source %s is missing: %s", one.Name, one.Root)
		case one.State == "unreadable":
			add("unreadable", one.Name, "the source %s cannot be read: check owner and mode of %s", one.Name, one.Root)
		case one.Emptied():
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
		add("killed", "", "the nightly run that started %s did not finish: it was interrupted or killed, or the disk was full", terminal.Ago(now.Sub(n.Running.Time)))
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

// Doubt says why nothing is deleted after a leap of the clock.
func Doubt(p *printer.Printer, l nightly.Leap) string {
	return fmt.Sprintf("nothing is deleted before %s: %s passed between two nightly runs, or the clock is wrong", p.FormatMinute(l.Until()), terminal.Duration(l.To.Sub(l.From)))
}
