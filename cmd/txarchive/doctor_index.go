package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
)

// index looks whether there is one, and whether it is of this program.
func (d *doctor) index(ctx context.Context, c *check) error {
	if d.store.Index() == nil {
		err := d.store.IndexError()
		c.item(err.Error())
		code, hint := explain(ctx, err)
		state, says := checkProblem, "the index cannot be used"
		if code == exitCorrupt {
			state = checkDamage
		}
		if errors.Is(err, fs.ErrNotExist) {
			says = "the index is missing"
		}
		c.end(state, says, hint)
		return nil
	}
	parsers := map[string]int{}
	for _, f := range all.Formats() {
		parsers[f.Name()] = f.Version()
	}
	unread := int64(0)
	for s, err := range d.store.Index().ToReparse(ctx, parsers) {
		if err != nil {
			return err
		}
		if parsers[s.Format] > 0 {
			c.item(s.Source + "/" + s.Path)
			if s.Parser == 0 {
				unread++
			}
		}
	}
	if unread > 0 {
		c.end(checkProblem, plural(unread, "original is", "originals are")+" stored and not in the index", "txarchive ingest tries again; what it cannot read, `txarchive verify` names")
		return nil
	}
	c.end(checkNote, plural(c.Count, "original waits", "originals wait")+" to be parsed again by this version", "txarchive ingest")
	return nil
}

// packs compares the packs that there are with those that the index knows.
func (d *doctor) packs(ctx context.Context, c *check) error {
	unknown, _, err := unindexedPacks(ctx, d.store)
	if err != nil {
		return err
	}
	there := 0
	for _, err := range d.store.Packs().List(ctx) {
		if err != nil {
			return err
		}
		there++
	}
	c.Says = plural(there, "pack", "packs") + ", all indexed"
	if there == 0 {
		c.Says = "no packs yet: the archive is empty"
	}
	if d.store.Index() == nil {
		c.Says = plural(there, "pack", "packs")
		return nil
	}
	missing, err := d.store.Missing(ctx)
	if err != nil {
		return err
	}
	for _, name := range missing {
		c.item(name)
	}
	if c.Count > 0 {
		c.end(checkDamage, plural(c.Count, "pack is", "packs are")+" missing that the index knows", "`txarchive verify` names the files that are lost; "+hintMissing)
		return nil
	}
	damaged, err := d.a.damagedPacks(ctx, d.store)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(damaged)) {
		c.item(damaged[name])
	}
	if c.Count > 0 {
		c.end(checkDamage, plural(c.Count, "pack is", "packs are")+" damaged", hintMend)
		return nil
	}
	for _, name := range unknown {
		c.item(name)
	}
	c.end(checkNote, plural(c.Count, "pack is", "packs are")+" not indexed yet", "`txarchive ingest` takes them in, or says why it cannot")
	return nil
}

// sources looks whether what is followed can be scanned, and was.
func (d *doctor) sources(ctx context.Context, c *check) error {
	states, err := d.a.sourceStates(ctx, d.store)
	if err != nil {
		return err
	}
	followed, gone := int64(0), 0
	for _, s := range states {
		if s.State == "removed" {
			continue
		}
		followed++
		state := rootState(s.Root)
		switch age := d.a.now().Sub(s.LastScanned.Time); {
		case state != "present":
			gone++
			c.item(fmt.Sprintf("%s is %s: %s", s.Name, state, d.a.shown(s.Root)))
		case s.LastScanned.IsZero():
			c.item(s.Name + " was never scanned")
		case age > stale:
			c.item(fmt.Sprintf("%s was not scanned for %s", s.Name, span(age)))
		}
	}
	c.Says = plural(followed, "source", "sources") + ", all present"
	if followed == 0 {
		c.Says = "no sources yet: txarchive ingest DIR"
	}
	hint := "txarchive ingest scans all sources"
	if gone > 0 {
		hint = "mount what is missing; or `txarchive source remove NAME` follows it no longer, and what was stored of it stays"
	}
	c.end(checkProblem, plural(c.Count, "source needs", "sources need")+" a look", hint)
	return nil
}

// pins names runs with a pin or a hold that keeps nothing, for no run of the archive is called so: it may be in packs that are yet to
// come from another machine, or a parser has learned to call it otherwise.
func (d *doctor) pins(ctx context.Context, c *check) error {
	lost, err := d.a.lostMarks(ctx, d.store, d.a.now())
	if err != nil {
		return err
	}
	for _, run := range lost {
		c.item(run)
	}
	c.end(checkProblem, plural(c.Count, "pin or hold is", "pins or holds are")+" on runs that are not in this archive",
		"`txarchive pin` and `txarchive hold list` show them: pin the run by the id that it has now, then `txarchive unpin` or `hold release` the old one")
	return nil
}

// remedies say what can be done about a kind of problem; what is not here can only be read.
var remedies = map[string]string{
	"scan":  "check owner and mode of the path; it is tried again with every ingest",
	"open":  "check owner and mode of the file; it is tried again with every ingest",
	"read":  "check the disk that the file lies on; it is tried again with every ingest",
	"store": "see what the system says of the disk that the archive lies on",
}

// remedy is what can be done about a problem, "" for what can only be read. A link has no owner or mode that would help.
func remedy(p *index.Problem) string {
	if p.Kind == "scan" && strings.HasPrefix(p.Reason, "symbolic link") {
		return "`txarchive ingest` of what a link leads to takes it; a link to what is taken anyway can go"
	}
	return remedies[p.Kind]
}

// problems counts what could not be read, by kind.
func (d *doctor) problems(ctx context.Context, c *check) error {
	type group struct {
		format, kind, remedy string
		n                    int64
		example              string
	}
	groups := map[[3]string]*group{}
	total := int64(0)
	for p, err := range d.store.Index().Problems(ctx) {
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
		c.item(fmt.Sprintf("%s %s, as in %s", number(g.n), strings.TrimSpace(g.format+" "+g.kind), g.example))
		if g.remedy != "" && !slices.Contains(hints, g.remedy) {
			hints = append(hints, g.remedy)
		}
	}
	hint := firstOf(strings.Join(hints, "; "), "the bytes are kept all the same: txarchive sql 'SELECT source, path, line, kind, reason FROM v_problems'")
	c.end(checkProblem, plural(total, "problem", "problems")+" with originals", hint)
	return nil
}

// unknown counts event types that no parser knows, by the version of their producer: a sign that a format has moved on.
func (d *doctor) unknown(ctx context.Context, c *check) error {
	events := int64(0)
	for u, err := range d.store.Index().Unknown(ctx) {
		if err != nil {
			return err
		}
		version := ""
		if u.Version != "" {
			version = " " + u.Version
		}
		c.item(fmt.Sprintf("%s%s %s: %s, as in %s", u.Format, version, firstOf(u.Type, "(no type)"), plural(u.Events, "event", "events"), u.Run))
		events += u.Events
	}
	c.end(checkNote, plural(events, "event is", "events are")+" of types that this version does not know; they are kept and can be searched",
		"look for a newer txarchive; txarchive search kind:unknown shows them")
	return nil
}

// gaps names originals in which numbered events are missing.
func (d *doctor) gaps(ctx context.Context, c *check) error {
	missing := int64(0)
	for g, err := range d.store.Index().Gaps(ctx) {
		if err != nil {
			return err
		}
		c.item(fmt.Sprintf("%s/%s: %s missing, first between %d and %d", g.Key.Source, g.Key.Path, number(g.Missing), g.After, g.Seq))
		missing += g.Missing
	}
	c.end(checkNote, fmt.Sprintf("%s missing in %s: their producer did not write them, or something has cut them out",
		plural(missing, "numbered event is", "numbered events are"), plural(c.Count, "original", "originals")), "")
	return nil
}
