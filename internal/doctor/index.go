package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/terminal"
)

// index finds out whether there is an index, and whether parsers of this version have made it.
func (d *Doctor) index(ctx context.Context, c *Check) error {
	if d.Archive.Index() == nil {
		err := d.Archive.IndexError()
		c.add(err.Error())
		damage, hint := d.Explain(err)
		state, says := Problem, "the index cannot be used"
		if damage {
			state = Damage
		}
		if errors.Is(err, fs.ErrNotExist) {
			says = "the index is missing"
		}
		c.conclude(state, says, hint)
		return nil
	}
	unread := int64(0)
	for s, err := range d.Archive.Index().ToReparse(ctx, d.Parsers) {
		if err != nil {
			return err
		}
		if d.Parsers[s.Format] > 0 {
			c.add(s.Source + "/" + s.Path)
			if s.Parser == 0 {
				unread++
			}
		}
	}
	if unread > 0 {
		c.conclude(Problem, terminal.Plural(unread, "original is", "originals are")+" stored, but not in the index", "`txarchive ingest` tries again; `txarchive verify` lists what it cannot read")
		return nil
	}
	c.conclude(Note, terminal.Plural(c.Count, "original is", "originals are")+" to be parsed again by this version", "txarchive ingest")
	return nil
}

// packs compares the packs that exist with those that the index knows.
func (d *Doctor) packs(ctx context.Context, c *Check) error {
	unknown, err := d.Unknown(ctx)
	if err != nil {
		return err
	}
	present := 0
	for _, err := range d.Archive.Packs().List(ctx) {
		if err != nil {
			return err
		}
		present++
	}
	c.Says = terminal.Plural(present, "pack", "packs") + ", all indexed"
	if present == 0 {
		c.Says = "no packs yet: the archive is empty"
	}
	if d.Archive.Index() == nil {
		c.Says = terminal.Plural(present, "pack", "packs")
		return nil
	}
	missing, err := d.Archive.Missing(ctx)
	if err != nil {
		return err
	}
	for _, name := range missing {
		c.add(name)
	}
	if c.Count > 0 {
		c.conclude(Damage, terminal.Plural(c.Count, "pack is", "packs are")+" in the index, but missing", "`txarchive verify` lists the files that are lost; "+d.HintMissing)
		return nil
	}
	damaged, err := d.Damaged(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(damaged)) {
		c.add(damaged[name])
	}
	if c.Count > 0 {
		c.conclude(Damage, terminal.Plural(c.Count, "pack is", "packs are")+" damaged", d.HintDamaged)
		return nil
	}
	for _, name := range unknown {
		c.add(name)
	}
	c.conclude(Note, terminal.Plural(c.Count, "pack is", "packs are")+" not indexed yet", "`txarchive ingest` indexes them, or reports why it cannot")
	return nil
}

// staleAfter is how long a source may go without a scan before the doctor mentions it.
const staleAfter = 14 * 24 * time.Hour

// sources looks for sources that cannot be scanned, or were not scanned lately.
func (d *Doctor) sources(ctx context.Context, c *Check) error {
	followed, err := d.Sources(ctx)
	if err != nil {
		return err
	}
	gone, closed := 0, 0
	for _, s := range followed {
		state := rootState(s.Root)
		switch age := d.Now.Sub(s.LastScanned); {
		case state != "present":
			if gone++; state != "missing" {
				closed++
			}
			c.add(fmt.Sprintf("%s is %s: %s", s.Name, state, d.Shown(s.Root)))
		case s.LastScanned.IsZero():
			c.add(s.Name + " was never scanned")
		case age > staleAfter:
			c.add(fmt.Sprintf("%s was not scanned for %s", s.Name, terminal.Duration(age)))
		}
	}
	c.Says = terminal.Plural(len(followed), "source", "sources") + ", all present"
	if len(followed) == 0 {
		c.Says = "no sources yet: txarchive ingest DIR"
	}
	hint := "txarchive ingest scans all sources"
	switch {
	case gone > 0 && gone == closed:
		hint = "check owner and mode of the directory; every ingest tries again"
	case gone > 0:
		hint = "mount what is missing; or `txarchive source remove NAME` stops following it, and keeps what was stored from it"
	}
	c.conclude(Problem, terminal.Plural(c.Count, "source needs", "sources need")+" attention", hint)
	return nil
}

// places looks for history that no source has: the program came later, did not use the place, or an earlier version did not know it.
func (d *Doctor) places(ctx context.Context, c *Check) error {
	places, err := d.Places(ctx)
	for _, place := range places {
		c.add(place)
	}
	c.conclude(Note, terminal.Plural(c.Count, "place where a program keeps its history is", "places where programs keep their history are")+" not followed",
		"`txarchive source add NAME` follows all of a program's, `txarchive source remove DIR` leaves one alone")
	return err
}

// pins looks for pins and holds on runs that are not in the archive, and so keep nothing: the run may be in packs still to come from
// another machine, or a newer parser has given it another id.
func (d *Doctor) pins(ctx context.Context, c *Check) error {
	orphans, err := d.Orphans(ctx)
	if err != nil {
		return err
	}
	for _, run := range orphans {
		c.add(run)
	}
	c.conclude(Problem, terminal.Plural(c.Count, "pin or hold is", "pins or holds are")+" on runs that are not in this archive",
		"`txarchive pin` and `txarchive hold list` show them: pin the run by its present id, then `txarchive unpin` or `hold release` the old one")
	return nil
}

// remedies say what to do about kinds of problems. About the other kinds nothing can be done.
var remedies = map[string]string{
	"scan":  "check owner and mode of the path; every ingest tries again",
	"open":  "check owner and mode of the path; every ingest tries again",
	"read":  "check the disk of the file; every ingest tries again",
	"store": "check the system log for errors of the archive's disk",
}

// remedy returns what to do about a problem, "" for nothing. The owner and mode of a symbolic link do not matter.
func remedy(p *index.Problem) string {
	if p.Kind == "scan" && strings.HasPrefix(p.Reason, "symbolic link") {
		return "to archive what a link points to, `txarchive ingest` that; remove links to what is archived anyway"
	}
	return remedies[p.Kind]
}

// problems counts the problems of originals by format, kind and remedy. Without a remedy they are a note: what an agent has written badly
// stays so, and should not make each examination fail for ever.
func (d *Doctor) problems(ctx context.Context, c *Check) error {
	type group struct {
		format, kind, remedy string
		n                    int64
		example              string
	}
	groups := map[[3]string]*group{}
	total := int64(0)
	for p, err := range d.Archive.Index().Problems(ctx) {
		if err != nil {
			return err
		}
		total++
		key := [3]string{p.Format, p.Kind, remedy(&p)}
		g := groups[key]
		if g == nil {
			g = &group{format: p.Format, kind: p.Kind, remedy: key[2], example: fmt.Sprintf("%s/%s: %s", p.Key.Source, p.Key.Path, p.Reason)}
			groups[key] = g
		}
		g.n++
	}
	sorted := slices.SortedFunc(maps.Values(groups), func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.format, b.format), cmp.Compare(a.kind, b.kind), cmp.Compare(a.remedy, b.remedy))
	})
	var hints []string
	for _, g := range sorted {
		c.add(fmt.Sprintf("%s %s, as in %s", terminal.Count(g.n), strings.TrimSpace(g.format+" "+g.kind), g.example))
		if g.remedy != "" && !slices.Contains(hints, g.remedy) {
			hints = append(hints, g.remedy)
		}
	}
	state, hint := Problem, strings.Join(hints, "; ")
	if hint == "" {
		state, hint = Note, "the bytes are kept anyway: txarchive sql 'SELECT source, path, line, kind, reason FROM v_problems'"
	}
	c.conclude(state, terminal.Plural(total, "problem", "problems")+" with originals", hint)
	return nil
}

// eventTypes counts events of types that no parser knows, by the version of their producer: a sign that the format has changed.
func (d *Doctor) eventTypes(ctx context.Context, c *Check) error {
	events := int64(0)
	for u, err := range d.Archive.Index().Unknown(ctx) {
		if err != nil {
			return err
		}
		version := ""
		if u.Version != "" {
			version = " " + u.Version
		}
		kind := u.Type
		if strings.TrimSpace(kind) == "" {
			kind = "(no type)"
		}
		c.add(fmt.Sprintf("%s%s %s: %s, as in %s", u.Format, version, kind, terminal.Plural(u.Events, "event", "events"), u.Run))
		events += u.Events
	}
	c.conclude(Note, terminal.Plural(events, "event is", "events are")+" of types unknown to this version; they are kept and can be searched",
		"look for a newer txarchive; txarchive search kind:unknown shows them")
	return nil
}

// gaps names originals in which numbered events are missing.
func (d *Doctor) gaps(ctx context.Context, c *Check) error {
	missing := int64(0)
	for g, err := range d.Archive.Index().Gaps(ctx) {
		if err != nil {
			return err
		}
		c.add(fmt.Sprintf("%s/%s: %s missing, first between %d and %d", g.Key.Source, g.Key.Path, terminal.Count(g.Missing), g.After, g.Seq))
		missing += g.Missing
	}
	c.conclude(Note, fmt.Sprintf("%s missing in %s: their producer did not write them, or something removed them",
		terminal.Plural(missing, "numbered event is", "numbered events are"), terminal.Plural(c.Count, "original", "originals")), "")
	return nil
}
