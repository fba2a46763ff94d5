package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/repair"
	"github.com/txarchive/txarchive/internal/terminal"
)

type wreckJSON struct {
	Pack    string `json:"pack"`
	Size    int64  `json:"size"`
	Missing bool   `json:"missing"`
	Told    bool   `json:"told"`
}

type lossJSON struct {
	Source  string    `json:"source"`
	Path    string    `json:"path"`
	Version int       `json:"version"`
	Offset  int64     `json:"offset"`
	Size    int64     `json:"size"`
	Pack    string    `json:"pack"`
	Since   time.Time `json:"since"`
}

type repairJSON struct {
	OK         bool              `json:"ok"`
	Applied    bool              `json:"applied"`
	DryRun     bool              `json:"dry_run"`
	Wrecks     []wreckJSON       `json:"wrecks"`
	SavedFiles int64             `json:"saved_files"`
	SavedBytes int64             `json:"saved_bytes"`
	FromPacks  int64             `json:"from_packs_bytes"`
	FromBackup int64             `json:"from_backup_bytes"`
	FromSource int64             `json:"from_sources_bytes"`
	Lost       []lossJSON        `json:"lost"`
	Known      []lossJSON        `json:"known_lost"`
	Found      []lossJSON        `json:"found_again"`
	Unnamed    []string          `json:"unnamed"`
	LostFacts  int64             `json:"lost_facts"`
	Packs      []string          `json:"packs"`
	Rebuilt    bool              `json:"index_rebuilt"`
	Left       []archive.Finding `json:"list"`
}

func lossesJSON(all []blob.Loss) []lossJSON {
	out := []lossJSON{}
	for _, l := range all {
		source, _ := blob.Readable(l.Source)
		path, _ := blob.Readable(l.Path)
		out = append(out, lossJSON{source, path, l.Number, l.Offset, l.Size, l.Pack, l.Since.UTC()})
	}
	return out
}

func (w *repairRun) json() repairJSON {
	p := w.plan
	j := repairJSON{
		OK: w.before.Findings == 0, Applied: w.after != nil, DryRun: w.o.dryRun, Wrecks: []wreckJSON{},
		SavedFiles: p.Recovered.Originals, SavedBytes: p.Recovered.Bytes, FromPacks: p.Recovered.From[repair.FromPack],
		FromBackup: p.Recovered.From[repair.FromBackup], FromSource: p.Recovered.From[repair.FromSource],
		Lost: lossesJSON(p.Lost), Known: lossesJSON(p.Known), Found: lossesJSON(p.Found), Unnamed: p.Unnamed, LostFacts: p.LostFacts,
		Packs: append([]string{}, w.packs...), Rebuilt: w.rebuilt, Left: append([]archive.Finding{}, w.left...),
	}
	for _, x := range p.Damaged {
		j.Wrecks = append(j.Wrecks, wreckJSON{x.Pack, x.Size, x.Missing, x.ContentKnown})
	}
	if w.after != nil {
		j.OK = w.after.Findings == 0
	}
	return j
}

// printPlan prints the plan for people before anything is done.
func (w *repairRun) printPlan() error {
	if w.app.JSON || w.app.Quiet {
		return nil
	}
	a, p := w.app, w.plan
	for _, x := range p.Damaged {
		what := "damaged"
		if x.Missing {
			what = "missing"
		}
		text := what + " pack " + x.Pack
		if !x.ContentKnown {
			text += ": its contents are unknown"
			if x.Missing {
				text += "; it is indexed if it is found again"
			}
		}
		a.Line("%s", text)
	}
	if n := p.Recovered.Originals; n > 0 {
		a.Line("saved   %s of %s: %s from the packs, %s from the backup, %s from the sources", terminal.Bytes(p.Recovered.Bytes), terminal.Plural(n, "original", "originals"),
			terminal.Bytes(p.Recovered.From[repair.FromPack]), terminal.Bytes(p.Recovered.From[repair.FromBackup]), terminal.Bytes(p.Recovered.From[repair.FromSource]))
	}
	for _, name := range p.Unnamed {
		fmt.Fprintln(a.Out, "saved   known only by its name in the pack: "+terminal.OneLine(name))
	}
	if p.LostFacts > 0 {
		fmt.Fprintln(a.Out, a.Style().Red("lost    "+terminal.Plural(p.LostFacts, "record of what was pruned", "records of what was pruned")))
	}
	for _, l := range p.Lost {
		fmt.Fprintln(a.Out, a.Style().Red(a.Wrap("lost    ", lossText(&l), "  ")))
	}
	for _, l := range p.Found {
		a.Line("found   %s", lossText(&l))
	}
	for _, l := range p.Known {
		a.Note("still lost, since %s: %s", l.Since.UTC().Format(time.DateOnly), lossText(&l))
	}
	if w.index || w.store.Index() == nil {
		fmt.Fprintln(a.Out, "the index is missing or wrong: it is rebuilt")
	}
	return nil
}

func lossText(l *blob.Loss) string {
	return terminal.OneLine(fmt.Sprintf("%s at offset %d of %s/%s version %d", terminal.Plural(l.Size, "byte", "bytes"), l.Offset, l.Source, l.Path, l.Number))
}

// report prints the result.
func (w *repairRun) report() error {
	a := w.app
	if a.JSON {
		if err := a.PrintJSON(w.json()); err != nil {
			return err
		}
	}
	switch {
	case w.after == nil && w.plan.Empty() && w.before.Findings == 0:
		if !a.JSON && !a.Quiet {
			fmt.Fprintln(a.Out, a.Style().Green("No errors found: nothing to repair."))
		}
		return nil
	case w.after == nil:
		a.Note("Nothing was changed.")
		return nil
	case w.after.Findings > 0:
		for _, f := range w.left {
			if !f.Notice() {
				a.Message("", terminal.OneLine(f.String()))
			}
		}
		return failure.Corrupt(terminal.Plural(w.after.Findings, "error remains", "errors remain"), "`txarchive verify` lists them")
	}
	if !a.JSON && !a.Quiet {
		if slices.ContainsFunc(w.plan.Damaged, func(wreck repair.DamagedPack) bool { return !wreck.Missing }) {
			a.Line("The damaged packs are kept in %s.", a.DisplayPath(w.store.QuarantineDir()))
		}
		fmt.Fprintln(a.Out, a.Style().Green("No errors remain: everything that is left is intact."))
	}
	return nil
}
