package resolve

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/transcript"
)

// family is a run whose format resolves it, with the rows of its members.
type family struct {
	transcript.Family
	run      int64
	format   string
	usage    []familyUsage
	receipts []int64
	steps    []int64
	hints    map[int64][]*transcript.Hint // by version
}

// familyUsage is the row of a usage record of a family, and what it states now.
type familyUsage struct {
	id, key int64
	said    usageStatement
}

// usageStatement has the columns of a usage row that a resolver decides.
type usageStatement struct {
	verdict                                                  int
	conversation, agent, engine, flow, step, model, provider string
	time                                                     transcript.Time
}

func usageStatementOf(u *transcript.Usage) usageStatement {
	return usageStatement{schema.VerdictNumber[u.Verdict], u.Conversation, u.Agent, u.Engine, u.Flow, u.Step, u.Model, u.Provider, u.Time}
}

// families loads the touched runs whose formats have a resolver. elect resolves them, once the claims of the originals on the
// runs are merged.
func (c *Changes) families(merged map[int64]*transcript.Run) (map[int64]*family, error) {
	all := map[int64]*family{}
	if c.resolvers == nil {
		return all, nil
	}
	err := c.EachBeside(`SELECT r.id, f.name FROM temp.touched_runs t CROSS JOIN runs r ON r.id = t.id JOIN names f ON f.id = r.format`,
		func(r *sql.Rows) error {
			var id int64
			var format string
			if err := r.Scan(&id, &format); err != nil {
				return err
			}
			if c.Resolver(format).Resolve != nil {
				all[id] = &family{run: id, format: format, Family: transcript.Family{Run: merged[id]}}
				if merged[id] == nil {
					all[id].Run = &transcript.Run{}
				}
			}
			return nil
		})
	if err != nil || len(all) == 0 {
		return all, err
	}
	if err := loadStated(c, all, "receipts", "AND x.verdict = 0", func(f *family, id int64, r *transcript.Receipt) {
		f.Receipts, f.receipts = append(f.Receipts, r), append(f.receipts, id)
	}); err != nil {
		return nil, err
	}
	if err := c.loadUsage(all); err != nil {
		return nil, err
	}
	if err := loadStated(c, all, "steps", "", func(f *family, id int64, s *transcript.Step) {
		f.Steps, f.steps = append(f.Steps, s), append(f.steps, id)
	}); err != nil {
		return nil, err
	}
	if err := c.loadHints(all); err != nil {
		return nil, err
	}
	return all, c.loadRelated(all)
}

// statedRows returns the rest of a query for the stated records of a table in families, in an order that does not depend on
// when they came.
func statedRows(table, join, where string) string {
	return ` FROM temp.touched_runs t CROSS JOIN run_names n ON n.run = t.id
		CROSS JOIN ` + table + ` x ON x.run_name = n.id CROSS JOIN versions v ON v.id = x.version CROSS JOIN files f ON f.id = v.file
		CROSS JOIN sources s ON s.id = f.source ` + join + ` WHERE x.stated IS NOT NULL ` + where + `
		ORDER BY n.run, f.path, s.name, v.number, x.offset, x.id`
}

// loadStated reads the stated records of one table for families.
func loadStated[T any](c *Changes, all map[int64]*family, table, where string, add func(*family, int64, *T)) error {
	return c.EachBeside("SELECT n.run, x.id, x.stated"+statedRows(table, "", where), func(r *sql.Rows) error {
		var run, id int64
		var stated []byte
		if err := r.Scan(&run, &id, &stated); err != nil {
			return err
		}
		f := all[run]
		if f == nil {
			return nil
		}
		record := new(T)
		if err := json.Unmarshal(stated, record); err != nil {
			return err
		}
		add(f, id, record)
		return nil
	})
}

// loadUsage reads the usage that the originals of families state, and what the rows have now.
func (c *Changes) loadUsage(all map[int64]*family) error {
	return c.EachBeside(`SELECT n.run, n.scope <> '', x.id, x.usage_id, x.stated, x.stated_verdict, coalesce(x.native_conversation, n.native_id), coalesce(w.agent, ''),
		coalesce(w.engine, ''), coalesce(w.flow, ''), coalesce(w.step, ''), coalesce(w.model, ''), coalesce(w.provider, ''), x.time, x.tz`+
		statedRows("usage", "CROSS JOIN usage_texts w ON w.id = x.texts", ""), func(r *sql.Rows) error {
		var run int64
		var local bool
		var stated []byte
		var row familyUsage
		w := &row.said
		if err := r.Scan(&run, &local, &row.id, usageIDScanner{&row.key}, &stated, &w.verdict, &w.conversation, &w.agent, &w.engine, &w.flow, &w.step, &w.model, &w.provider,
			engine.Time(&w.time), engine.Zone(&w.time)); err != nil {
			return err
		}
		f := all[run]
		if f == nil {
			return nil
		}
		if local {
			c.keys[row.key] = true // the request's identity depends on which run its name means
		}
		u := &transcript.Usage{}
		if err := json.Unmarshal(stated, u); err != nil {
			return err
		}
		f.Usage, f.usage = append(f.Usage, u), append(f.usage, row)
		return nil
	})
}

func (c *Changes) loadHints(all map[int64]*family) error {
	return c.EachBeside(`SELECT n.run, n.native_id, h.key, h.value, h.version FROM temp.touched_runs t CROSS JOIN run_names n ON n.run = t.id
		CROSS JOIN hints h ON h.run_name = n.id ORDER BY 1, 3, 4, 2, 5`, func(r *sql.Rows) error {
		var run, version int64
		h := &transcript.Hint{}
		if err := r.Scan(&run, &h.Run, &h.Key, &h.Value, &version); err != nil {
			return err
		}
		f := all[run]
		if f == nil {
			return nil
		}
		if n := len(f.Hints); n > 0 && *f.Hints[n-1] == *h {
			h = f.Hints[n-1] // of another version
		} else {
			f.Hints = append(f.Hints, h)
		}
		if f.hints == nil {
			f.hints = map[int64][]*transcript.Hint{}
		}
		f.hints[version] = append(f.hints[version], h)
		return nil
	})
}

// loadRelated reads the hints of the runs that families were forked from or are children of. What a fork has copied from a run
// remains a copy when that run is pruned: its ledger has the hints, and its usage counts there.
func (c *Changes) loadRelated(all map[int64]*family) error {
	// Of many copies of two originals each states the link, and each the hints: each relation is taken once.
	return c.EachBeside(`WITH related AS MATERIALIZED (SELECT DISTINCT t.id AS run, p.id AS name, p.native_id AS native FROM temp.touched_runs t CROSS JOIN run_names n ON n.run = t.id
		CROSS JOIN links l ON l.to_id = n.native_id AND l.format = n.format AND l.to_scope = n.scope AND l.to_type IN ('run', 'conversation') AND l.kind IN ('fork', 'parent')
		CROSS JOIN run_names p ON p.native_id = l.from_id AND p.format = l.format AND p.scope = l.from_scope AND p.run <> n.run
		CROSS JOIN runs r ON r.id = p.run AND (r.counted = 1 OR `+hasGrave+`))
		SELECT DISTINCT x.run, x.native, h.key, h.value FROM related x LEFT JOIN hints h ON h.run_name = x.name ORDER BY 1, 2, 3, 4`, func(r *sql.Rows) error {
		var run int64
		var native string
		var key, value sql.NullString
		if err := r.Scan(&run, &native, &key, &value); err != nil {
			return err
		}
		f := all[run]
		if f == nil {
			return nil
		}
		if f.Related == nil {
			f.Related = map[string][]*transcript.Hint{}
		}
		if !key.Valid {
			f.Related[native] = append(f.Related[native], []*transcript.Hint{}...)
			return nil
		}
		f.Related[native] = append(f.Related[native], &transcript.Hint{Run: native, Key: key.String, Value: value.String})
		return nil
	})
}

// relatives fills temp.touched_runs with the touched runs and those that depend on what is now known of them: the members of a
// group, and children and forks, whose copied events it may decide. It returns all of them.
func (c *Changes) relatives(runs []int64) ([]int64, error) {
	if err := c.FillTemp("touched_runs", runs); err != nil {
		return runs, err
	}
	all := map[int64]bool{}
	for _, id := range runs {
		all[id] = true
	}
	if err := c.members(all); err != nil {
		return runs, err
	}
	if err := c.addChildren(all); err != nil || len(all) == len(runs) {
		return runs, err
	}
	runs = write.Sorted(all)
	return runs, c.FillTemp("touched_runs", runs)
}

// addChildren adds the children and forks of touched runs whose format resolves them.
func (c *Changes) addChildren(all map[int64]bool) error {
	if c.resolvers == nil {
		return nil
	}
	return c.EachBeside(`SELECT DISTINCT f.name, n.run FROM temp.touched_runs t CROSS JOIN run_names p ON p.run = t.id
		CROSS JOIN links l ON l.from_id = p.native_id AND l.format = p.format AND l.from_scope = p.scope AND l.kind IN ('fork', 'parent')
		CROSS JOIN run_names n ON n.native_id = l.to_id AND n.format = l.format AND n.scope = l.to_scope JOIN names f ON f.id = n.format
		WHERE n.run IS NOT NULL`, func(r *sql.Rows) error {
		var format string
		var run int64
		if err := r.Scan(&format, &run); err != nil {
			return err
		}
		if c.Resolver(format).Resolve != nil {
			all[run] = true
		}
		return nil
	})
}

// resolveFamily has the format name and judge the members of one run, and writes the result. The transcripts get their new
// statements in place.
func (c *Changes) resolveFamily(f *family, transcripts []*candidate) error {
	slices.SortFunc(transcripts, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.source, b.source), cmp.Compare(a.number, b.number), cmp.Compare(a.native, b.native))
	})
	members := make([]*candidate, 0, len(transcripts))
	for _, t := range transcripts {
		if t.aside {
			continue
		}
		member := &transcript.FamilyConversation{Conversation: t.Conversation, Path: t.path, Events: t.lastSeq, Verdict: transcript.Counted,
			Hints: f.hints[t.version], CopiedUntil: t.copiedUntil}
		if t.superseded {
			member.Verdict = transcript.EarlierVersion
		}
		f.Conversations = append(f.Conversations, member)
		members = append(members, t)
	}
	c.Resolver(f.format).Resolve(&f.Family)
	for i, t := range members {
		said := f.Conversations[i]
		t.Conversation = said.Conversation
		t.judged = schema.Counted
		if said.Verdict != transcript.EarlierVersion {
			t.judged = schema.VerdictNumber[said.Verdict]
		}
		t.copiedUntil = said.CopiedUntil
		if err := c.copied(t); err != nil {
			return err
		}
	}
	if err := c.writeFamily(f); err != nil {
		return err
	}
	for _, t := range members {
		if err := c.copiedUsage(t); err != nil {
			return err
		}
	}
	return nil
}

// copied marks the events before the offset that a resolver gave as copied history, and unmarks those behind it.
func (c *Changes) copied(t *candidate) error {
	if t.copiedUntil == 0 && t.wasCopiedUntil == 0 {
		return nil
	}
	// An event that was judged a duplicate of another is a copy, too, and those judged duplicates of one that is a copy now may
	// count. All are judged after this.
	const before = " WHERE transcript = ?1 AND offset < ?2 AND verdict IN (0, 1) AND global = 0"
	const behind = " WHERE transcript = ?1 AND offset >= ?2 AND verdict = 2 AND global = 0"
	if err := c.Each("SELECT eid FROM events"+before+" AND eid IS NOT NULL UNION SELECT eid FROM events"+behind+" AND eid IS NOT NULL",
		write.IntoSet(c.eids), t.id, t.copiedUntil); err != nil {
		return err
	}
	for _, query := range []string{"UPDATE events SET verdict = 2" + before, "UPDATE events SET verdict = 0" + behind} {
		if err := c.Exec(query, t.id, t.copiedUntil); err != nil {
			return err
		}
	}
	if err := c.Exec("UPDATE transcripts SET copied_until = ? WHERE id = ?", t.copiedUntil, t.id); err != nil {
		return err
	}
	// What a copied line states of this run, the original did. What does not count for another reason as well is told apart by
	// its bit.
	if err := c.Exec(`UPDATE links SET uncounted = (uncounted & 1) | 2 * (offset < ?2) WHERE version = ?1
		AND from_id = (SELECT native_id FROM run_names WHERE id = ?3)`, t.version, t.copiedUntil, t.runName); err != nil {
		return err
	}
	return c.recount(t.id)
}

// copiedUsage marks the usage before the offset that a resolver gave as copied history, and unmarks that behind it.
func (c *Changes) copiedUsage(t *candidate) error {
	if t.copiedUntil == 0 && t.wasCopiedUntil == 0 {
		return nil
	}
	const conversation = "coalesce(native_conversation, (SELECT n.native_id FROM run_names n WHERE n.id = run_name)) = ?3"
	const before = " WHERE version = ?1 AND offset < ?2 AND stated_verdict = 0 AND " + conversation
	const behind = " WHERE version = ?1 AND offset >= ?2 AND stated_verdict = 2 AND " + conversation
	if err := c.Each("SELECT usage_id FROM usage"+before+" UNION ALL SELECT usage_id FROM usage"+behind, c.toJudge, t.version, t.copiedUntil, t.native); err != nil {
		return err
	}
	for _, query := range []string{"UPDATE usage SET stated_verdict = 2" + before, "UPDATE usage SET stated_verdict = 0" + behind} {
		if err := c.Exec(query, t.version, t.copiedUntil, t.native); err != nil {
			return err
		}
	}
	return nil
}

func (c *Changes) writeFamily(f *family) error {
	for i, u := range f.Usage {
		row, said := f.usage[i], usageStatementOf(u)
		if said == row.said {
			continue
		}
		c.keys[row.key] = true
		if u.Alias != "" { // the rows that it speaks for count if it does not
			c.keys[index.IDNumber("usage", f.format, u.Alias)] = true
		}
		calculated, texts, err := c.Priced(c.prices, u)
		if err != nil {
			return err
		}
		if err := c.Exec(`UPDATE usage SET stated_verdict = ?, native_conversation = nullif(?, (SELECT n.native_id FROM run_names n WHERE n.id = run_name)),
			texts = ?, calculated = ?, time = ?, tz = ? WHERE id = ?`, said.verdict, said.conversation, texts, calculated, write.NullTime(u.Time), write.NullZone(u.Time), row.id); err != nil {
			return err
		}
	}
	for i, r := range f.Receipts {
		if err := c.Exec("UPDATE receipts SET native_conversation = ? WHERE id = ?", r.Conversation, f.receipts[i]); err != nil {
			return err
		}
	}
	for i, s := range f.Steps {
		if err := c.Exec("UPDATE steps SET native_conversation = ? WHERE id = ?", s.Conversation, f.steps[i]); err != nil {
			return err
		}
	}
	return c.writeRoles(f)
}

// writeRoles gives the messages of a run the roles that its resolver knows.
func (c *Changes) writeRoles(f *family) error {
	if len(f.Roles) == 0 {
		return nil
	}
	changed := map[int64]string{}
	if err := c.Each(`SELECT e.id, (SELECT native_id FROM stated_events WHERE id = e.id), coalesce(r.name, '') FROM run_names n CROSS JOIN transcripts t ON t.run_name = n.id
		CROSS JOIN events e ON e.transcript = t.id CROSS JOIN scenes s ON s.id = e.scene CROSS JOIN names k ON k.id = s.kind LEFT JOIN names r ON r.id = s.role
		WHERE n.run = ? AND k.name = 'message' AND e.eid IS NOT NULL`, func(rows *sql.Rows) error {
		var event int64
		var id sql.NullString
		var was string
		err := rows.Scan(&event, &id, &was)
		message, _, _ := strings.Cut(id.String, "/")
		if role := f.Roles[message]; role != "" && role != was {
			changed[event] = role
		}
		return err
	}, f.run); err != nil {
		return err
	}
	for _, event := range write.Sorted(changed) {
		if err := c.writeRole(event, changed[event]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Changes) writeRole(event int64, said string) error {
	role, err := c.NameID(said)
	if err != nil {
		return err
	}
	var kind, typ, tool int64
	var agent, model, flow, step string
	if _, err := c.Get("SELECT s.kind, s.type, s.tool, s.agent, s.model, s.flow, s.step FROM events e CROSS JOIN scenes s ON s.id = e.scene WHERE e.id = ?", []any{event},
		&kind, &typ, &tool, &agent, &model, &flow, &step); err != nil {
		return err
	}
	scene, err := c.SceneOf(kind, role, typ, tool, agent, model, flow, step)
	if err != nil {
		return err
	}
	return c.Exec("UPDATE events SET scene = ? WHERE id = ?", scene, event)
}
