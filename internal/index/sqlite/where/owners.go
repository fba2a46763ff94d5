package where

import (
	"github.com/txarchive/txarchive/internal/query"
)

// usageOwners returns a hint and RangeSQL for the rows that have usage, or a cost.
func usageOwners(has string) (hint []string, ranges string) {
	if has == "usage" {
		return []string{"t.version IN (SELECT b.version FROM bounds b)"}, usageRanges + "1"
	}
	return []string{"t.version IN (SELECT b.version FROM bounds b WHERE b.cost_most IS NOT NULL)"}, usageRanges + eventNumber("cost") + " IS NOT NULL"
}

// callOwners returns a hint: the owners of calls that touch a path, or of truncated results.
func callOwners(f query.Field) (hint []string, args []any) {
	var any []string
	for _, v := range f.Values {
		switch {
		case f.Name == "touches" && v.Text != "":
			s, of := Compare("p.value", v)
			any, args = append(any, "t.id IN (SELECT k.transcript FROM calls k WHERE k.paths IN (SELECT a.id FROM call_paths a, json_each(a.paths) p WHERE "+s+"))"), append(args, of...)
		case f.Name == "is" && v.Text == "truncated":
			any = append(any, "t.id IN (SELECT x.transcript FROM results x WHERE x.cut = 1)")
		default:
			return nil, nil
		}
	}
	return []string{Balanced(any, " OR ")}, args
}

// projectOwners returns a hint: the conversations of projects, by the indexes of both tables that state projects.
func projectOwners(values []query.Value) (hint []string, args []any) {
	for _, v := range values {
		switch {
		case v.Text == "":
			return nil, nil
		case v.Match == query.Whole && ascii(v.Text):
			hint, args = append(hint, `c.id IN (SELECT id FROM conversations WHERE project = ? COLLATE NOCASE UNION ALL
				SELECT o.id FROM runs q CROSS JOIN conversations o ON o.run = q.id WHERE q.project = ? COLLATE NOCASE)`), append(args, v.Text, v.Text)
		default:
			hint = append(hint, `c.id IN (SELECT o.id FROM `+ProjectsIn("conversations")+` p CROSS JOIN conversations o ON o.project = p.name COLLATE NOCASE UNION ALL
				SELECT o.id FROM `+ProjectsIn("runs")+` p CROSS JOIN runs q ON q.project = p.name COLLATE NOCASE CROSS JOIN conversations o ON o.run = q.id)`)
			args = append(args, glob(v), glob(v))
		}
	}
	return []string{Balanced(hint, " OR ")}, args
}

// ProjectsIn returns SQL for the distinct projects of a table that match a pattern. It skips from one to the next in the
// index (a loose index scan), since there are few of them. Projects that differ only in the case of ASCII letters match
// all or none.
func ProjectsIn(table string) string {
	next := func(after string) string {
		return "(SELECT project FROM " + table + " WHERE project > " + after + " COLLATE NOCASE ORDER BY project COLLATE NOCASE LIMIT 1)"
	}
	return "(WITH RECURSIVE all_of(name) AS (SELECT " + next("''") + " UNION ALL SELECT " + next("all_of.name") + ` FROM all_of
		WHERE all_of.name IS NOT NULL) SELECT name FROM all_of WHERE name GLOB ?)`
}

// ownerValue returns SQL for the owner's value of a field that events may override by a facet; "" for other fields.
func ownerValue(field string) string {
	switch field {
	case "agent", "model":
		return "coalesce(c." + field + ", r." + field + ")"
	}
	return ""
}

// facetOwners returns a hint: the owners of rows that can have a value of such a field. It is empty for matches that
// facets cannot find.
func (k compiler) facetOwners(f query.Field, owner string) (hint []string, args []any) {
	var any []string
	for _, v := range f.Values {
		if v.Text == "" || v.Match == query.Contains {
			return nil, nil
		}
		s, of := Compare(owner, v)
		any = append(any, s, "t.id IN (SELECT o.transcript FROM fts CROSS JOIN events o ON o.id = fts.rowid WHERE fts MATCH ?)")
		args = append(append(args, of...), Facet(f.Name, v.Text, v.Match == query.Starts).String())
	}
	return []string{Balanced(any, " OR ")}, args
}
