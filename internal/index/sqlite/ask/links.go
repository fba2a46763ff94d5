package ask

import (
	"context"
	"fmt"
	"iter"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

const linkColumns = `link_id, format, kind, from_type, from_native_id, from_native_conversation, from_run_id, from_conversation_id, from_found,
	to_type, to_native_id, to_native_conversation, to_run_id, to_conversation_id, to_found, counted, statements, time_us,
	source, path, version, inner, line, offset, length, attributes`

func scanLink(rows *sqlx.Rows) (l index.Link, err error) {
	f, t, o := &l.From, &l.To, &l.Origin
	err = rows.Scan(&l.ID, &l.Format, &l.Kind, &f.Type, &f.NativeID, engine.Text(&f.Conversation), engine.Text(&f.Run), engine.Text(&f.ConvID), &f.Found,
		&t.Type, &t.NativeID, engine.Text(&t.Conversation), engine.Text(&t.Run), engine.Text(&t.ConvID), &t.Found, &l.Counted, &l.Statements, engine.Time(&l.Time),
		&l.Key.Source, &l.Key.Path, &l.Key.Number, engine.Text(&o.Inner), &o.Line, &o.Offset, &o.Length, engine.Text(&l.Attributes))
	return l, err
}

// Conditions on v_links for the edges with a run, under any of its names, or a group at either end. The ids at both ends have indexes,
// the edges of the view have none, so they only tell apart what has the same ids.
const (
	linksOfRun = ` WHERE (from_native_id IN (` + idsOfRun + `) OR to_native_id IN (` + idsOfRun + `)) AND link_id IN (SELECT printf('%016x', edge) FROM (
		SELECT l.edge FROM runs r CROSS JOIN run_names n ON n.run = r.id CROSS JOIN links l ON l.from_id = n.native_id
			AND l.format = n.format AND l.from_scope = n.scope AND l.from_type IN ('run', 'conversation') WHERE r.run_id = ?1
		UNION SELECT l.edge FROM runs r CROSS JOIN run_names n ON n.run = r.id CROSS JOIN links l ON l.to_id = n.native_id
			AND l.format = n.format AND l.to_scope = n.scope AND l.to_type IN ('run', 'conversation') WHERE r.run_id = ?1
		UNION SELECT l.edge FROM runs r CROSS JOIN links l ON l.from_id = r."group" AND l.format = r.format AND l.from_type = 'group' WHERE r.run_id = ?1
		UNION SELECT l.edge FROM runs r CROSS JOIN links l ON l.to_id = r."group" AND l.format = r.format AND l.to_type = 'group' WHERE r.run_id = ?1))`
	idsOfRun     = `SELECT n.native_id FROM runs r CROSS JOIN run_names n ON n.run = r.id WHERE r.run_id = ?1 UNION SELECT "group" FROM runs WHERE run_id = ?1`
	linksOfGroup = ` WHERE (from_native_id = ?1 OR to_native_id = ?1) AND link_id IN (SELECT printf('%016x', edge) FROM (
		SELECT edge FROM links WHERE from_id = ?1 AND from_type = 'group' AND format = (SELECT id FROM names WHERE name = ?2)
		UNION SELECT edge FROM links WHERE to_id = ?1 AND to_type = 'group' AND format = (SELECT id FROM names WHERE name = ?2)))`
)

// Links yields the links with a run, one of its conversations or its group at either end; or those of a group; or all.
func (db *Reader) Links(ctx context.Context, of index.Node) iter.Seq2[index.Link, error] {
	const order = " ORDER BY time_us IS NULL, time_us, link_id"
	query, args := "SELECT "+linkColumns+" FROM v_links", []any(nil)
	switch {
	case of.Run != "":
		query, args = query+linksOfRun, []any{of.Run}
	case of.Group != "":
		query, args = query+linksOfGroup, []any{of.Group, of.Format}
	}
	return engine.Stream(ctx, db.r, query+order, args, scanLink)
}

// Problems yields what could not be read: in the newest version of each file, and in the last scans.
func (db *Reader) Problems(ctx context.Context) iter.Seq2[index.Problem, error] {
	const query = `SELECT problem_id, format, kind, reason, source, path, version, run_id, inner, line, offset, length FROM v_problems
		ORDER BY source, path, version, offset, problem_id`
	return engine.Stream(ctx, db.r, query, nil, func(rows *sqlx.Rows) (p index.Problem, err error) {
		o := &p.Origin
		err = rows.Scan(&p.ID, engine.Text(&p.Format), &p.Kind, &p.Reason, &p.Key.Source, &p.Key.Path, engine.Number(&p.Key.Number), engine.Text(&p.Run),
			engine.Text(&o.Inner), engine.Number(&o.Line), engine.Number(&o.Offset), engine.Number(&o.Length))
		if err != nil {
			err = fmt.Errorf("problem: %w", err)
		}
		return p, err
	})
}
