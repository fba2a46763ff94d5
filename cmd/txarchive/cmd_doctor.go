package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/doctor"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/status"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newDoctorCommand(a *app) *cobra.Command {
	var secrets bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the archive for problems, and suggest fixes",
		Long: "Check the archive as a whole, and suggest what to do about each finding. It looks for:\n\n" +
			"    disk         an archive on a network file system\n" +
			"    modes        files that others can read\n" +
			"    index        an index missing, damaged or out of date\n" +
			"    leftovers    files of interrupted commands\n" +
			"    packs        packs missing, damaged or not indexed\n" +
			"    sources      sources missing or not scanned recently\n" +
			"    places       places of programs that are not followed\n" +
			"    pins         pins and holds on runs that are not here\n" +
			"    problems     what could not be read, and why\n" +
			"    event types  event types that no parser knows\n" +
			"    sequences    gaps where producers number their events\n\n" +
			"Contents are not read: use `verify` to check them.\n\n" +
			"With --secrets, every original is also searched for credentials, by the rules of gitleaks. The report names the\n" +
			"places, not the credentials." +
			exitCodes("3 something needs attention", "5 something is damaged or missing", "10 no archive"),
		Example: "  txarchive doctor\n  txarchive doctor --secrets\n  txarchive doctor --json | jq '.checks[] | select(.state != \"fine\")'",
		Args:    argCount(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), a, secrets) },
	}
	cmd.Flags().BoolVar(&secrets, "secrets", false, "search every original for credentials (tens of megabytes per second)")
	return cmd
}

func runDoctor(ctx context.Context, a *app, secrets bool) error {
	store, err := a.openPacks(ctx) // what is wrong with the index is for the doctor to say
	if err != nil {
		return err
	}
	defer store.Close()
	d := a.doctor(ctx, store)
	m := a.meter()
	d.Progress = m.ByteFunc("secrets")
	checks, err := d.Examine(ctx, secrets)
	m.Stop()
	if err != nil {
		return err
	}
	for _, one := range checks {
		one.Says = a.completeCommands(one.Says)
		if one.Hint != nil {
			*one.Hint = a.completeCommands(*one.Hint)
		}
	}
	worst := doctor.Worst(checks)
	if a.JSON {
		err = a.PrintJSON(map[string]any{"archive": store.Dir(), "ok": worst == doctor.Fine || worst == doctor.Note, "checks": checks})
	} else {
		a.printChecks(checks)
	}
	switch {
	case err != nil:
		return err
	case worst == doctor.Damage:
		return failure.Corrupt("the archive is damaged", "see above; `txarchive verify` reads every byte and lists what is lost")
	case worst == doctor.Problem:
		return failure.Problems("the archive needs attention", "see above")
	}
	return nil
}

// doctor returns a doctor for an open archive.
func (a *app) doctor(ctx context.Context, store *archive.Archive) *doctor.Doctor {
	d := &doctor.Doctor{
		Archive: store, Now: a.Now(), Parsers: map[string]int{}, Shown: a.DisplayPath, HintMissing: hintMissing, HintDamaged: hintMend,
		Explain: func(err error) (damage bool, hint string) {
			code, hint := explain(ctx, err)
			return code == failure.ExitCorrupt, hint
		},
		Sources: func(ctx context.Context) (followed []doctor.Source, err error) {
			states, err := status.Sources(ctx, store, a.Now())
			for _, s := range states {
				if s.State != "removed" {
					followed = append(followed, doctor.Source{Name: s.Name, Root: s.Root, LastScanned: s.LastScanned.Time})
				}
			}
			return followed, err
		},
		Places: func(ctx context.Context) (places []string, err error) {
			loose, err := status.Unfollowed(ctx, a.ingester(store), a.homeOf(""))
			for _, one := range loose {
				places = append(places, fmt.Sprintf("%s: %s (%s, %s)", one.Name, a.DisplayPath(one.Dir), terminal.Plural(one.Files, "file", "files"), terminal.Bytes(one.Bytes)))
			}
			return places, err
		},
		Orphans: func(ctx context.Context) ([]string, error) { return a.orphanMarks(ctx, store, a.Now()) },
		Unknown: func(ctx context.Context) ([]string, error) {
			unknown, _, err := status.Unindexed(ctx, store)
			return unknown, err
		},
		Damaged: func(ctx context.Context) (map[string]string, error) { return a.damagedPacks(ctx, store) },
	}
	for _, f := range all.Formats() {
		d.Parsers[f.Name()] = f.Version()
	}
	return d
}

// itemsShown is how many items of a check are printed.
const itemsShown = 8

func (a *app) printChecks(checks []*doctor.Check) {
	c := a.Style()
	width := a.Width()
	colors := map[string]func(string) string{doctor.Fine: c.Green, doctor.Note: c.Cyan, doctor.Problem: c.Yellow, doctor.Damage: c.Red}
	for _, one := range checks {
		if a.Quiet && one.State == doctor.Fine {
			continue
		}
		fmt.Fprintln(a.Out, a.Wrap(colors[one.State](fmt.Sprintf("%-8s", one.State))+fmt.Sprintf("%-14s", one.Name), terminal.OneLine(one.Says), strings.Repeat(" ", 22)))
		for i, item := range one.Items {
			if i == itemsShown {
				a.Line("          ... and %s", terminal.Plural(one.Count-itemsShown, "more", "more"))
				break
			}
			line := "          " + c.Dim(terminal.OneLine(item))
			if width > 0 {
				line = terminal.Wrap(line, width)
			}
			fmt.Fprintln(a.Out, line)
		}
		if one.Hint != nil {
			fmt.Fprintln(a.Out, a.Wrap("        -> ", terminal.OneLine(*one.Hint), strings.Repeat(" ", 11)))
		}
	}
}
