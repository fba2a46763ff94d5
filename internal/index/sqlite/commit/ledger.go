package commit

import (
	"cmp"
	"database/sql"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/resolve"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/transcript"
)

// ledger replaces what a version states of runs by what a ledger keeps of them.
func (c *commit) ledger(f blob.Fact) error {
	if f.IsRetraction() {
		_, err := c.reopen(f.Key, nil)
		return err
	}
	l, err := index.ParseLedger(f)
	if err != nil {
		return nil // ignored, as in applyTombstone
	}
	version, err := c.ledgerVersion(l)
	if err != nil || version == 0 {
		return err
	}
	var key sql.NullString
	if _, err := c.Get("SELECT grave FROM versions WHERE id = ?", []any{version}, &key); err != nil {
		return err
	}
	o := &owner{Original: resolve.Original{Version: version, Parsed: &index.Parsed{Subject: index.Subject{
		VersionKey: index.KeyOf(&l.Version),
		Format:     l.Version.Format, Role: l.Version.Role, Claim: l.Version.Claim, Size: l.Version.Size, SHA256: l.Version.SHA256,
	}}}, names: map[string]int64{}, wanted: map[string]bool{}}
	var kept map[string]bool
	if key.Valid {
		if err := c.deleteStatements(version); err != nil {
			return err
		}
	} else if l.Tombstoned {
		return nil // the version has come back since
	} else if kept, err = c.reopen(f.Key, l); err != nil {
		return err
	}
	for i := range l.Runs {
		if err := c.ledgerRun(o, f, &l.Runs[i], !key.Valid && !kept[l.Runs[i].NativeID]); err != nil {
			return err
		}
	}
	if !key.Valid {
		return nil
	}
	return c.ledgerLinks(o, l.Links)
}

// ledgerVersion returns the version that a ledger is about, 0 if the index has another original of its name and number. gc may have dropped
// it from the manifests: then the ledger is all that is left, and its row is added.
func (c *commit) ledgerVersion(l *index.Ledger) (id int64, err error) {
	v := &l.Version
	delete(c.addedVersions, index.KeyOf(v))
	file, _, err := c.file(v.Source, v.Path)
	if err != nil {
		return 0, err
	}
	was, known, err := c.knownVersion(file, v.Number)
	if err != nil {
		return 0, err
	}
	if known && was.root == v.Root {
		id = was.id
		if was.tombstone.Valid {
			if v.Size <= was.size {
				return id, nil
			}
		} else if !l.Tombstoned {
			return id, nil
		} else if isThere, err := c.Exists("SELECT 1 FROM extents WHERE chain = ? LIMIT 1", was.chain); isThere || err != nil {
			return id, err
		}
		err = c.grow(id, was.chain, v, 0) // an earlier state lay under a tombstone, or an earlier ledger was all that told of it
	} else if known {
		// What is not under a tombstone has its bytes in a pack, which decides.
		if wins, err := c.wins(v, &was); err != nil || !wins || !was.tombstone.Valid {
			return 0, err
		}
		id, err = was.id, c.replaceVersion(was.id, was.chain, v, 0)
	} else {
		id, _, err = c.addVersion(file, v, 0)
	}
	if err != nil || !l.Tombstoned {
		return id, err
	}
	return id, c.bury(id, v)
}

// bury marks a version of which a ledger is all that is left, or will be until a pack states it.
func (c *commit) bury(id int64, v *blob.Version) error {
	return c.Exec("UPDATE versions SET grave = ? WHERE id = ?", blob.NewTombstone(v, "").Key(), id)
}

// reopen undoes the ledger of a version that still exists, and returns the native ids of the runs of which the next ledger says the same.
// Unless that one takes away as much, the version must be parsed as a whole: parser -1, which no program has, says that its rows are those
// of another parse.
func (c *commit) reopen(fact string, next *index.Ledger) (kept map[string]bool, err error) {
	type part struct {
		prunedRun
		version, name int64
		native        string
	}
	var parts []part
	if err := c.Each(`SELECT g.version, g.run_name, n.native_id, g.until, g.action, g.tier FROM graves g JOIN run_names n ON n.id = g.run_name JOIN versions v ON v.id = g.version
		WHERE g.fact = ? AND v.grave IS NULL`, func(r *sql.Rows) error {
		var p part
		err := r.Scan(&p.version, &p.name, &p.native, &p.until, &p.action, &p.tier)
		parts = append(parts, p)
		return err
	}, fact); err != nil {
		return nil, err
	}
	kept = map[string]bool{}
	for _, p := range parts {
		c.changes.TouchRun(p.name)
		if err := c.changes.TouchUsageOf("SELECT usage_id FROM usage WHERE version = ? AND run_name = ? AND ledger = 1", p.version, p.name); err != nil {
			return nil, err
		}
		for _, query := range []string{
			"DELETE FROM usage WHERE version = ? AND run_name = ? AND ledger = 1",
			"DELETE FROM graves WHERE version = ? AND run_name = ?",
		} {
			if err := c.Exec(query, p.version, p.name); err != nil {
				return nil, err
			}
		}
		same, asMuch := p.isRepeated(next.Of(p.native))
		kept[p.native] = same
		if asMuch {
			continue
		}
		if err := c.Exec("UPDATE versions SET parser = -1 WHERE id = ?", p.version); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// ledgerRun writes what a ledger keeps of one run. If drop is set, the index still has what the ledger takes away.
func (c *commit) ledgerRun(o *owner, f blob.Fact, r *index.LedgerRun, drop bool) error {
	scope := r.Scope
	if r.Local {
		scope = c.sites.Scope(o.Source, o.Claim)
	}
	name, _, err := c.namedRun(cmp.Or(r.Format, o.Format), r.NativeID, scope)
	if err != nil {
		return err
	}
	o.names[r.NativeID] = name
	c.changes.TouchRun(name)
	if err := c.Exec(`INSERT OR REPLACE INTO graves (version, run_name, fact, until, action, tier, over, plan, rule, reason, time)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, o.Version, name, f.Key, r.Until, r.Action, r.Tier, r.Over, r.Plan, r.Rule, r.Reason, f.Time.UnixMicro()); err != nil {
		return err
	}
	if drop {
		if err := c.dropRun(o.Version, name, &prunedRun{r.Until, r.Action, r.Tier}); err != nil {
			return err
		}
	}
	if r.Claim != nil {
		stated, err := schema.MarshalRun(r.Claim)
		if err != nil {
			return err
		}
		// What the version states itself is of the run behind what was taken away.
		if err := c.Exec(`INSERT INTO run_claims (run_name, version, rank, stated, named, ledger) VALUES (?, ?, ?, ?, ?, 1)
			ON CONFLICT (run_name, version) DO UPDATE SET rank = excluded.rank, stated = excluded.stated, named = excluded.named WHERE ledger = 1`,
			name, o.Version, r.Claim.Rank, stated, onlyNames(r.Claim)); err != nil {
			return err
		}
	}
	for i := range r.Usage {
		if err := c.ledgerUsage(o, &r.Usage[i]); err != nil {
			return err
		}
	}
	if err := c.usages.Flush(); err != nil {
		return err
	}
	for _, h := range r.Hints {
		if err := c.Exec("INSERT OR IGNORE INTO hints (run_name, key, value, version) VALUES (?, ?, ?, ?)", name, h.Key, h.Value, o.Version); err != nil {
			return err
		}
	}
	return nil
}

// dropRun deletes what a version that stays states of a run, or only its words. Of what is deleted, a parse brings back what the ledger is not
// about.
func (c *commit) dropRun(version, name int64, g *prunedRun) error {
	transcripts, err := c.IDs("SELECT id FROM transcripts WHERE version = ? AND run_name = ?", version, name)
	if err != nil {
		return err
	}
	for _, id := range transcripts {
		if !g.drops() {
			if err := c.dropWords(id, g.until); err != nil {
				return err
			}
			continue
		}
		if err := c.changes.DeleteRows(id); err != nil {
			return err
		}
		if err := c.Exec("DELETE FROM transcripts WHERE id = ?", id); err != nil {
			return err
		}
	}
	if !g.drops() {
		return nil
	}
	if err := c.changes.TouchUsageOf("SELECT usage_id FROM usage WHERE version = ? AND run_name = ?", version, name); err != nil {
		return err
	}
	for _, table := range []string{"run_claims", "usage", "receipts", "steps"} {
		if err := c.Exec("DELETE FROM "+table+" WHERE version = ? AND run_name = ?", version, name); err != nil {
			return err
		}
	}
	// A torn line lies behind all that was parsed, so no parse would bring it back.
	if err := c.Exec("DELETE FROM problems WHERE version = ?1 AND run_name = ?2 AND (?3 = 0 OR inner IS NOT NULL OR offset < ?3)", version, name, g.until); err != nil {
		return err
	}
	return c.Exec("UPDATE versions SET parser = -1 WHERE id = ? AND ? > 0 AND parsed > ?", version, g.until, g.until)
}

// dropWords makes the rows of a transcript unsearchable: each keeps a full-text entry without words.
func (c *commit) dropWords(transcript, until int64) error {
	ids, err := c.IDs("SELECT id FROM events WHERE transcript = ?1 AND (?2 = 0 OR inner IS NOT NULL OR offset < ?2)", transcript, until)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := c.Exec("DELETE FROM fts WHERE rowid = ?", id); err != nil {
			return err
		}
		if err := c.Exec("INSERT INTO fts (rowid, t) VALUES (?, '')", id); err != nil {
			return err
		}
	}
	return nil
}

// ledgerUsage writes usage that outlives the original that stated it, under the identity that it had.
func (c *commit) ledgerUsage(o *owner, u *index.LedgerUsage) error {
	name, err := c.runName(o, u.Run)
	if err != nil {
		return err
	}
	key, err := resolve.UsageKey(u.ID)
	if err != nil {
		return err
	}
	c.changes.TouchUsage(key, true)
	c.seen.Usage.Add(key)
	var alias any
	if u.Alias != "" {
		other, err := resolve.UsageKey(u.Alias)
		if err != nil {
			return err
		}
		alias = other
		c.changes.TouchUsage(other, true)
		c.seen.Usage.Add(other)
	}
	return c.insertUsage(o.Version, name, &u.Usage, u.ID, alias, nil, true)
}

func (c *commit) ledgerLinks(o *owner, links []index.LedgerLink) error {
	format, err := c.NameID(o.Format)
	if err != nil {
		return err
	}
	scope := func(local bool) string {
		if local {
			return c.sites.Scope(o.Source, o.Claim)
		}
		return ""
	}
	for i := range links {
		l := &links[i]
		place, err := c.place(l.Origin)
		if err != nil {
			return err
		}
		event, native := eventOf(o.Format, l.Event)
		args := []any{o.Version, l.Edge, l.Kind, l.From.Type, scope(l.FromLocal), l.From.ID, l.From.Conversation,
			l.To.Type, scope(l.ToLocal), l.To.ID, l.To.Conversation, format, l.Statement, write.Flag(l.Uncounted), event, native, write.Flag(l.Derived), write.NullTime(l.Time), write.NullZone(l.Time)}
		if err := c.Exec(`INSERT INTO links (version, edge, kind, from_type, from_scope, from_id, from_conversation,
			to_type, to_scope, to_id, to_conversation, format, statement, uncounted, event, event_native, derived, time, tz, line, offset, length, inner)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, append(args, place...)...); err != nil {
			return err
		}
	}
	return nil
}

// exceptGraves removes from a parse what was pruned of its version, and the words of what was thinned.
func (c *commit) exceptGraves(o *owner) error {
	if o.isNew {
		return nil // a ledger would have added the version
	}
	graves, err := c.prunedRuns(o.Version)
	if err != nil || len(graves) == 0 {
		return err
	}
	o.localRuns() // before statements of runs go, whose hints stay
	p := *o.Parsed
	o.Parsed = &p
	over := func(run string, at transcript.Origin) bool {
		g := graves[run]
		return g.covers(at.Inner, at.Offset) && g.drops()
	}
	back := map[string]bool{} // runs that continue behind what was pruned
	p.Usage = except(p.Usage, back, func(u *transcript.Usage) (string, bool) { return u.Run, over(u.Run, u.Origin) })
	p.Receipts = except(p.Receipts, back, func(r *transcript.Receipt) (string, bool) { return r.Run, over(r.Run, r.Origin) })
	p.Steps = except(p.Steps, back, func(s *transcript.Step) (string, bool) { return s.Run, over(s.Run, s.Origin) })
	p.Problems = except(p.Problems, map[string]bool{}, func(x *transcript.Problem) (string, bool) { return x.Run, over(x.Run, x.Origin) })
	var rows []index.Row
	for _, r := range p.Rows {
		run := p.Conversations[r.Conversation].Run
		switch g := graves[run]; {
		case !g.covers(r.Inner, r.Offset):
			back[run] = true
			rows = append(rows, r)
		case !g.drops():
			r.T = nil
			rows = append(rows, r)
		}
	}
	p.Rows = rows
	gone := func(run string) bool { g := graves[run]; return g != nil && g.drops() && !back[run] }
	p.Runs = except(p.Runs, map[string]bool{}, func(r *transcript.Run) (string, bool) { return r.ID, gone(r.ID) })
	o.gone, o.pruned = gone, graves
	return nil
}

// except returns all records but those that pruned reports, and adds the runs of the others to back.
func except[T any](all []*T, back map[string]bool, pruned func(*T) (string, bool)) []*T {
	var left []*T
	for _, x := range all {
		run, yes := pruned(x)
		if yes {
			continue
		}
		back[run] = true
		left = append(left, x)
	}
	return left
}
