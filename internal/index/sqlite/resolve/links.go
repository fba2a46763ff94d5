package resolve

import (
	"database/sql"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
)

// Edge is the identity of a link: its kind and both ends, however often and by whatever names it is stated. A child that began
// as a copy of its parent has one link, so fork and parent are one kind there. An end of which no run is known is looked up
// where the run at the other end is: in a copied home it remains the same.
func (c *Changes) Edge(format, kind string, from, to []string) (int64, error) {
	a, known, err := c.canonical(format, from)
	if err != nil {
		return 0, err
	}
	b, found, err := c.canonical(format, to)
	if err != nil {
		return 0, err
	}
	if from[1] == to[1] && known != found {
		if known {
			b[1] = a[1]
		} else {
			a[1] = b[1]
		}
	}
	return edgeOf(format, kind, a, b), nil
}

func edgeOf(format, kind string, from, to []string) int64 {
	if kind == "fork" {
		kind = "parent"
	}
	return index.Hash(slices.Concat([]string{"link", format, kind}, from, to)...)
}

// canonical returns an end under the first name of its run, if that is known. Only runs whose ids are unique in their place
// have several names: they were renamed, or lie in a copied home.
func (c *Changes) canonical(format string, end []string) (canonical []string, known bool, err error) {
	typ, scope, id, conversation := end[0], end[1], end[2], end[3]
	if scope != "" {
		known, err = c.Get(`SELECT m.scope, m.native_id FROM run_names n CROSS JOIN run_names m ON m.run = n.run
			WHERE n.format = (SELECT id FROM names WHERE name = ?) AND n.native_id = ? AND n.scope = ? ORDER BY m.native_id, m.scope LIMIT 1`,
			[]any{format, id, scope}, &scope, &id)
	}
	return []string{typ, scope, id, conversation}, known, err
}

// joinEdges recomputes the edges of links that name a touched run, whose name may have changed.
func (c *Changes) joinEdges() error {
	type link struct {
		id, was      int64
		format, kind string
		from, to     []string
	}
	var all []link
	const side = `SELECT l.id, l.edge, f.name, l.kind, l.from_type, l.from_scope, l.from_id, l.from_conversation, l.to_type, l.to_scope, l.to_id, l.to_conversation
		FROM temp.touched_runs t CROSS JOIN run_names n ON n.run = t.id AND n.scope <> '' CROSS JOIN links l ON `
	err := c.EachBeside(side+`l.from_id = n.native_id AND l.from_scope = n.scope AND l.format = n.format JOIN names f ON f.id = l.format
		UNION `+side+`l.to_id = n.native_id AND l.to_scope = n.scope AND l.format = n.format JOIN names f ON f.id = l.format`, func(r *sql.Rows) error {
		l := link{from: make([]string, 4), to: make([]string, 4)}
		err := r.Scan(&l.id, &l.was, &l.format, &l.kind, &l.from[0], &l.from[1], &l.from[2], &l.from[3], &l.to[0], &l.to[1], &l.to[2], &l.to[3])
		all = append(all, l)
		return err
	})
	if err != nil {
		return err
	}
	for _, l := range all {
		edge, err := c.Edge(l.format, l.kind, l.from, l.to)
		if err != nil {
			return err
		}
		if edge == l.was {
			continue
		}
		if err := c.Exec("UPDATE links SET edge = ? WHERE id = ?", edge, l.id); err != nil {
			return err
		}
	}
	return nil
}

// statedLinks deletes links that follow from copied events where the commit has brought one that an original states: copyLinks
// would not have added them, had it come first.
func (c *Changes) statedLinks() error {
	if len(c.linking) == 0 {
		return nil
	}
	if err := c.FillTemp("stating_versions", c.linking); err != nil {
		return err
	}
	return c.Exec(`WITH RECURSIVE ends(format, id) AS (SELECT l.format, l.from_id FROM temp.stating_versions x CROSS JOIN links l ON l.version = x.id
			UNION SELECT l.format, l.to_id FROM temp.stating_versions x CROSS JOIN links l ON l.version = x.id),
		up(format, id) AS (SELECT format, id FROM ends
			UNION SELECT l.format, l.from_id FROM up CROSS JOIN links l ON l.to_id = up.id AND l.format = up.format AND l.kind = 'fork' AND l.derived = 0)
		DELETE FROM links WHERE id IN (SELECT d.id FROM (
				SELECT d.id FROM ends e CROSS JOIN links d ON d.from_id = e.id AND d.format = e.format AND d.derived = 1
				UNION SELECT d.id FROM up e CROSS JOIN links d ON d.to_id = e.id AND d.format = e.format AND d.derived = 1) x
			CROSS JOIN links d ON d.id = x.id WHERE ` + stated("d.from_id", "d.to_id", "d.format") + `)`)
}
