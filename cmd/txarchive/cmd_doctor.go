package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
)

func newDoctorCommand(a *app) *cobra.Command {
	var secrets bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out whether the archive is well, and what to do if not",
		Long: "Look at the archive as a whole: who may read it, whether index and packs belong together, whether sources are there\n" +
			"and were scanned lately, pins and holds on runs that are not here, what could not be read and why, event types that no\n" +
			"parser knows, and numbers that are missing where a producer numbers its events. Each finding says what to do.\n" +
			"Contents are not read: `verify` does.\n\n" +
			"--secrets also reads every original and names the places of credentials (not themselves), by the rules of gitleaks." +
			exits("3 something is to be done", "5 something is damaged or missing", "10 no archive"),
		Example: "  txarchive doctor\n  txarchive doctor --secrets\n  txarchive doctor --json | jq '.checks[] | select(.state != \"fine\")'",
		Args:    takes(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), a, secrets) },
	}
	cmd.Flags().BoolVar(&secrets, "secrets", false, "look for credentials in every original (some megabytes a second)")
	return cmd
}

// The states of a check, from good to bad.
const (
	checkFine    = "fine"
	checkNote    = "note"    // worth knowing, nothing to do or it goes by itself
	checkProblem = "problem" // something is to be done
	checkDamage  = "damage"  // something is lost, or the index is
)

// check is one thing that the doctor looked at.
type check struct {
	Name  string   `json:"check"`
	State string   `json:"state"`
	Says  string   `json:"says"`
	Hint  *string  `json:"hint"`
	Count int64    `json:"count"` // of what was found
	Items []string `json:"items"` // the first of them
}

// itemsKept is how many items a check names.
const itemsKept = 100

// item adds one thing that was found.
func (c *check) item(s string) {
	if c.Count++; len(c.Items) < itemsKept {
		c.Items = append(c.Items, s)
	}
}

// end says what was found, if anything was.
func (c *check) end(state, says, hint string) {
	if c.Count > 0 {
		c.State, c.Says, c.Hint = state, says, orNull(hint)
	}
}

// doctor looks at an archive.
type doctor struct {
	a      *app
	store  *archive.Archive
	checks []*check
}

// looks are what the doctor looks at, in this order.
var looks = []struct {
	name, fine string // fine is said when nothing is wrong
	blind      bool   // there is something to see without the index
	look       func(*doctor, context.Context, *check) error
}{
	{"disk", "on a local file system", true, (*doctor).disk},
	{"modes", "only you can read the archive", true, (*doctor).modes},
	{"index", "present and current", true, (*doctor).index},
	{"leftovers", "nothing unfinished lies about", true, (*doctor).leftovers},
	{"packs", "", true, (*doctor).packs},
	{"sources", "", false, (*doctor).sources},
	{"pins", "all pins and holds are on runs that are here", false, (*doctor).pins},
	{"problems", "everything that was stored could be read", false, (*doctor).problems},
	{"event types", "all are known", false, (*doctor).unknown},
	{"sequences", "no numbered event is missing", false, (*doctor).gaps},
	{"secrets", "no known kind of credential in any original", true, (*doctor).secrets},
}

// examine looks at everything, for secrets only when told so.
func (d *doctor) examine(ctx context.Context, secrets bool) error {
	for _, l := range looks {
		if l.name == "secrets" && !secrets {
			continue
		}
		c := &check{Name: l.name, State: checkFine, Says: l.fine, Items: []string{}}
		d.checks = append(d.checks, c)
		if !l.blind && d.store.Index() == nil {
			c.State, c.Says = checkNote, "not known without the index"
			continue
		}
		if err := l.look(d, ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func runDoctor(ctx context.Context, a *app, secrets bool) error {
	store, err := a.packsOnly(ctx) // what is wrong with the index is for the doctor to say
	if err != nil {
		return err
	}
	defer store.Close()
	d := &doctor{a: a, store: store}
	if err := d.examine(ctx, secrets); err != nil {
		return err
	}
	worst := d.worst()
	if a.json {
		err = a.printJSON(map[string]any{"archive": store.Dir(), "ok": worst == checkFine || worst == checkNote, "checks": d.checks})
	} else {
		d.print()
	}
	switch {
	case err != nil:
		return err
	case worst == checkDamage:
		return corrupt("the archive is damaged", "see above; `txarchive verify` reads every byte and names what is lost")
	case worst == checkProblem:
		return problems("something is to be done", "see above")
	}
	return nil
}

// worst is the worst state of all checks.
func (d *doctor) worst() string {
	rank := map[string]int{checkFine: 0, checkNote: 1, checkProblem: 2, checkDamage: 3}
	worst := checkFine
	for _, c := range d.checks {
		if rank[c.State] > rank[worst] {
			worst = c.State
		}
	}
	return worst
}

// itemsShown is how many items of a check are printed.
const itemsShown = 8

func (d *doctor) print() {
	a, c := d.a, d.a.ink()
	width := a.width()
	colors := map[string]func(string) string{checkFine: c.green, checkNote: c.cyan, checkProblem: c.yellow, checkDamage: c.red}
	for _, one := range d.checks {
		if a.quiet && one.State == checkFine {
			continue
		}
		fmt.Fprintln(a.out, a.wrapped(colors[one.State](fmt.Sprintf("%-8s", one.State))+fmt.Sprintf("%-14s", one.Name), line(one.Says), strings.Repeat(" ", 22)))
		for i, item := range one.Items {
			if i == itemsShown {
				fmt.Fprintf(a.out, "          ... and %s\n", plural(one.Count-itemsShown, "more", "more"))
				break
			}
			fmt.Fprintln(a.out, "          "+c.dim(cut(line(item), max(width-10, 0))))
		}
		if one.Hint != nil {
			fmt.Fprintln(a.out, a.wrapped("        -> ", line(*one.Hint), strings.Repeat(" ", 11)))
		}
	}
}

// stale is how long a source may go without a scan before the doctor speaks of it.
const stale = 14 * 24 * time.Hour
