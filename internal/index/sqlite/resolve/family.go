package resolve

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
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
