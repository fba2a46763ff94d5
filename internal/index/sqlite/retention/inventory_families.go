package retention

import (
	"encoding/json"
	"slices"

	"github.com/jmoiron/sqlx"
)

// readParents reads parents, the first by id where several are stated, and joins families.
func (e *inventory) readParents() error {
	for i := range e.forest {
		e.forest[i] = int32(i)
	}
	err := e.walk(`SELECT l.kind, p.run, n.run FROM links l CROSS JOIN run_names p ON p.format = l.format AND p.native_id = l.from_id AND p.scope = l.from_scope
		CROSS JOIN run_names n ON n.format = l.format AND n.native_id = l.to_id AND n.scope = l.to_scope
		WHERE l.kind IN ('parent', 'fork') AND l.from_type IN ('run', 'conversation') AND l.to_type IN ('run', 'conversation') AND p.run <> n.run`, func(r *sqlx.Rows) error {
		var kind string
		var parent, child int64
		if err := r.Scan(&kind, &parent, &child); err != nil {
			return err
		}
		p, c := e.number[parent], e.number[child]
		if p < 0 || c < 0 {
			return nil
		}
		if x := &e.runs[c]; kind == "parent" && (x.parent < 0 || p < x.parent) {
			x.parent = p
		}
		e.forest[e.family(p)] = e.family(c)
		return nil
	})
	if err != nil {
		return err
	}
	return e.readParentIDs()
}

// readParentIDs reads them at once: policies go over all runs two or three times.
func (e *inventory) readParentIDs() error {
	e.parents = map[int32]string{}
	for i := range e.runs {
		if parent := e.runs[i].parent; parent >= 0 {
			e.parents[parent] = ""
		}
	}
	rows := make([]int32, 0, len(e.parents))
	for parent := range e.parents {
		rows = append(rows, e.runs[parent].row)
	}
	slices.Sort(rows)
	list, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	return e.walk("SELECT r.id, r.run_id FROM json_each(?) j CROSS JOIN runs r ON r.id = j.value", func(r *sqlx.Rows) error {
		var row int64
		var id string
		err := r.Scan(&row, &id)
		e.parents[e.number[row]] = id
		return err
	}, string(list))
}

// family returns the run that represents the family of a run.
func (e *inventory) family(run int32) int32 {
	for e.forest[run] != run {
		e.forest[run] = e.forest[e.forest[run]]
		run = e.forest[run]
	}
	return run
}
