package where

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/query"
)

// facetColumn returns the column of a field that every row states itself, "" for others. These fields are facets, which
// the full-text index finds like words.
func facetColumn(field string) string {
	switch field {
	case "role", "kind", "type", "tool":
		return sceneNameID(field)
	case "format":
		return "r.format"
	}
	return ""
}

// sceneNameID returns SQL for the name id of a field of an event's scene.
func sceneNameID(field string) string {
	return "(SELECT nullif(" + field + ", 0) FROM scenes WHERE id = e.scene)"
}

// firstPartColumn returns SQL for a column of the first part of an event, which holds what the whole event states.
func firstPartColumn(column string) string {
	return "(CASE e.part WHEN 0 THEN e." + column + " ELSE (SELECT o." + column + " FROM events o WHERE o.transcript = e.transcript AND o.seq = e.seq AND o.part = 0) END)"
}

// eventAttributes returns SQL for the attributes of an event that have no column.
func eventAttributes() string { return firstPartColumn("attributes") }

// SceneField returns SQL for a text field of an event's scene: what the event itself states.
func SceneField(field string) string {
	return "(SELECT nullif(" + field + ", '') FROM scenes WHERE id = e.scene)"
}

// guardedJSON returns the expression as, which reads a key of the JSON text of, guarded by a plain text search for the key: most rows do not
// have it, and the search is cheaper than parsing.
func guardedJSON(of, key, as string) string {
	return "CASE WHEN instr(" + of + ", '" + strings.ReplaceAll(key, "'", "''") + "') THEN " + as + " END"
}

// columns are SQL expressions for the value of a field of an event and of a run. Any of them may match.
type columns struct{ event, run []string }

func columnsOf(field string) columns {
	switch field {
	case "format":
		return columns{nil, []string{"(SELECT name FROM names WHERE id = r.format)"}}
	case "agent":
		return columns{[]string{"coalesce(" + SceneField("agent") + ", c.agent, r.agent)"}, []string{"r.agent"}}
	case "model":
		return columns{[]string{"coalesce(" + SceneField("model") + ", c.model, r.model)"}, []string{"r.model"}}
	case "engine":
		return columns{[]string{"c.engine"}, nil}
	case "project":
		return columns{[]string{"coalesce(c.project, r.project)"}, []string{"r.project"}}
	case "group":
		return columns{[]string{`r."group"`}, []string{`r."group"`}}
	case "flow":
		return columns{[]string{"coalesce(" + SceneField("flow") + ", c.flow, r.flow)"}, []string{"r.flow"}}
	case "step":
		return columns{[]string{"coalesce(" + SceneField("step") + ", c.step)"}, nil}
	case "status":
		return columns{[]string{"r.status", "c.status"}, []string{"r.status"}}
	case "outcome":
		return columns{[]string{"r.outcome"}, []string{"r.outcome"}}
	case "from":
		return columns{[]string{guardedJSON(eventAttributes(), `"from"`, eventAttributes()+" ->> '$.from'")}, nil}
	case "conversation":
		return columns{[]string{"c.conversation_id", "c.native_id"}, nil}
	case "run":
		return columns{[]string{"r.run_id", "r.native_id"}, []string{"r.run_id", "r.native_id"}}
	}
	return columns{}
}

// field compiles one field. For runs, a field that only events have matches runs with such an event.
func (k compiler) field(f query.Field) (Cond, error) {
	if k.runs && f.Name == "has" {
		return k.runHas(f)
	}
	if k.runs && isStatedBelow(f.Name) {
		return k.stated(f)
	}
	if k.runs && (len(columnsOf(f.Name).run) > 0 || f.Name == "tag" ||
		f.Name == "is" && (isValue(f, "stub") || isValue(f, "child") || isValue(f, "pinned") || isValue(f, "held"))) {
		return k.plain(f, columnsOf(f.Name).run)
	}
	if k.runs && (f.Name == "path" || f.Name == "source") {
		c, err := k.plain(f, nil)
		if err != nil {
			return c, err
		}
		sql, args := k.predicate(c)
		return Cond{sql: []string{"r.id IN (SELECT n.run FROM run_claims t CROSS JOIN run_names n ON n.id = t.run_name WHERE " + sql + ")"}, args: args}, nil
	}
	if k.runs {
		c, err := compiler{all: k.all, eventsOfRuns: true}.field(f)
		if err != nil || len(c.sql)+len(c.OwnerSQL) == 0 {
			return c, err
		}
		return k.runsWith(c), nil
	}
	if column := facetColumn(f.Name); column != "" {
		return k.facet(f, column), nil
	}
	return k.plain(f, columnsOf(f.Name).event)
}

// runsWith returns a condition on runs that have an event which meets c. For a condition on owners alone, the owner must
// have at least one row.
func (k compiler) runsWith(c Cond) Cond {
	if len(c.sql)+len(c.Not) == 0 && !c.hasWords() {
		rows := "t.rows > 0"
		if !k.all {
			rows += " AND t.verdict IN (0, 6)"
		}
		return Cond{sql: []string{`r.id IN (SELECT r.id FROM runs r JOIN conversations c ON c.run = r.id JOIN transcripts t ON t.conversation = c.id
			WHERE ` + Balanced(c.OwnerSQL, " AND ") + " AND " + rows + ")"}, args: c.OwnerArgs}
	}
	sql, args := compiler{all: k.all, eventsOfRuns: true}.predicate(c)
	if len(c.Possible) > 0 { // in brackets, lest SQLite makes a join of it, which reads the events first
		sql, args = "(SELECT "+c.PossibleSQL()+") AND "+sql, slices.Concat(c.PossibleArgs, args)
	}
	if len(c.HintSQL) > 0 && !c.hasWords() {
		return Cond{sql: []string{`r.id IN (SELECT c.run FROM transcripts t CROSS JOIN conversations c ON c.id = t.conversation CROSS JOIN runs r ON r.id = c.run
			CROSS JOIN events e ON e.transcript = t.id WHERE ` + Balanced(append(slices.Clone(c.HintSQL), sql), " AND ") + Visible(k.all) + ")"},
			args: slices.Concat(c.HintArgs, args)}
	}
	return Cond{sql: []string{`r.id IN (SELECT c.run FROM events e CROSS JOIN transcripts t ON t.id = e.transcript
		CROSS JOIN conversations c ON c.id = t.conversation CROSS JOIN runs r ON r.id = c.run WHERE ` + sql + Visible(k.all) + ")"}, args: args}
}

func isValue(f query.Field, value string) bool {
	return len(f.Values) == 1 && f.Values[0] == query.Value{Text: value}
}

// facet compiles a facet to a full-text expression. Matches that the full-text index cannot find (no value, a substring)
// use the column.
func (k compiler) facet(f query.Field, column string) Cond {
	var match []fts5.Expr
	var sql []string
	var args []any
	for _, v := range f.Values {
		switch {
		case v.Text == "" && v.Match == query.Whole:
			sql = append(sql, column+" IS NULL")
		case v.Text == "":
			sql = append(sql, column+" IS NOT NULL")
		case v.Match == query.Contains:
			sql, args = append(sql, column+" IN (SELECT id FROM names WHERE name GLOB ?)"), append(args, glob(v))
		case v.Match == query.Starts:
			match = append(match, Facet(f.Name, v.Text, true))
		default:
			match = append(match, Facet(f.Name, v.Text, false))
		}
	}
	c := k.anyOf(match, sql, args)
	if is, of, ok := exactColumn(f); ok {
		c.sql, c.args = append(c.sql, is), append(c.args, of...)
	}
	if len(match) == 0 && f.Name != "format" {
		c.Possible, c.PossibleArgs = possible(f, func(v query.Value) (string, []any) {
			return "EXISTS (SELECT 1 FROM scenes WHERE " + f.Name + " IN (SELECT id FROM names WHERE name GLOB ?))", []any{glob(v)}
		})
	}
	return c
}

// exactColumn returns a condition on the column of a facet, where the facet alone would find too much: an event whose
// role another original states has both roles in the full-text index (transcript.Event.OrRole), and long values have only
// their beginning there. ok is false for others, and for values of roles that facets and names fold differently.
func exactColumn(f query.Field) (is string, args []any, ok bool) {
	column := facetColumn(f.Name)
	long := slices.ContainsFunc(f.Values, func(v query.Value) bool { return index.SharesFacet(f.Name, v.Text) })
	if column == "" || f.Name != "role" && !long {
		return "", nil, false
	}
	var either []string
	for _, v := range f.Values {
		switch {
		case v.Text == "" && v.Match == query.Whole:
			either = append(either, column+" IS NULL")
		case v.Text == "":
			either = append(either, column+" IS NOT NULL")
		case long || len(v.Text) < 32 && !strings.ContainsFunc(v.Text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }):
			either, args = append(either, column+" IN (SELECT id FROM names WHERE name GLOB ?)"), append(args, glob(v))
		default:
			return "", nil, false
		}
	}
	return Balanced(either, " OR "), args, true
}

// plain compiles fields that are columns, and those with special rules.
func (k compiler) plain(f query.Field, in []string) (Cond, error) {
	switch {
	case f.Name == "attr":
		return k.attr(f)
	case len(in) > 0:
		c := k.values(f.Values, in)
		if !k.runs && !slices.ContainsFunc(in, func(column string) bool { return UsesTable(column, "e") }) {
			c = ownerCond(c.sql[0], c.args)
			if f.Name == "project" {
				c.HintSQL, c.HintArgs = projectOwners(f.Values)
			}
			return c, nil
		}
		if owner := ownerValue(f.Name); owner != "" && !k.runs {
			c.HintSQL, c.HintArgs = k.facetOwners(f, owner)
		}
		if !k.runs && slices.Contains([]string{"agent", "model", "flow", "step"}, f.Name) {
			c.Possible, c.PossibleArgs = possible(f, func(v query.Value) (string, []any) { return stated(f.Name, v) })
		}
		return c, nil
	}
	var c Cond
	var sql []string
	owners := true
	for _, v := range f.Values {
		if f.Name == "is" && v.Text == "error" {
			return k.isError(f)
		}
		s, args, err := special(f, v)
		if err != nil {
			return Cond{}, err
		}
		sql, c.args, owners = append(sql, s), append(c.args, args...), owners && !UsesTable(s, "e")
	}
	switch {
	case k.runs:
		c.sql = []string{Balanced(sql, " OR ")}
	case owners && fileColumns[f.Name] != "":
		// Scanning all files is expensive: the rows that a scan meets look up their own file instead.
		owner := k.values(f.Values, []string{fileColumns[f.Name]})
		return Cond{OwnerSQL: owner.sql, OwnerArgs: owner.args, HintSQL: []string{Balanced(sql, " OR ")}, HintArgs: c.args}, nil
	case owners:
		return ownerCond(Balanced(sql, " OR "), c.args), nil
	default:
		c.sql = []string{Balanced(sql, " OR ")}
		c.HintSQL, c.HintArgs = callOwners(f)
		if f.Name == "has" && (isValue(f, "cost") || isValue(f, "usage")) {
			c.HintSQL, c.RangeSQL = usageOwners(f.Values[0].Text)
		}
	}
	return c, nil
}

func (k compiler) values(values []query.Value, in []string) Cond {
	var c Cond
	var sql []string
	for _, v := range values {
		if v.Text == "" && v.Match == query.Whole {
			sql = append(sql, "coalesce("+strings.Join(append(slices.Clone(in), "NULL"), ", ")+") IS NULL")
			continue
		}
		for _, column := range in {
			s, args := Compare(column, v)
			sql, c.args = append(sql, s), append(c.args, args...)
		}
	}
	c.sql = []string{Balanced(sql, " OR ")}
	return c
}

// attr compiles attr:key=value: an attribute of the event, its conversation or its run.
func (k compiler) attr(f query.Field) (Cond, error) {
	key, err := json.Marshal(f.Key)
	if err != nil {
		return Cond{}, err
	}
	path := `'$.` + strings.ReplaceAll(string(key), "'", "''") + `'`
	of := []string{"r.attributes"}
	if !k.runs {
		of = []string{eventAttributes(), "c.attributes", of[0]}
	}
	var in []string
	switch {
	case k.runs:
	case f.Key == "id":
		in = append(in, "(SELECT native_id FROM stated_events WHERE id = "+firstPartColumn("id")+")")
	case f.Key == "agent", f.Key == "model", f.Key == "flow", f.Key == "step":
		in = append(in, SceneField(f.Key))
	}
	for _, x := range of {
		as := x + " ->> " + path
		if len(f.Values) > 0 { // as written in the original: true must not match 1
			as = "CASE WHEN " + x + " -> " + path + " IN ('true', 'false') THEN " + x + " -> " + path + " ELSE CAST(" + as + " AS TEXT) END"
		}
		in = append(in, guardedJSON(x, string(key), as))
	}
	values := f.Values
	if len(values) == 0 {
		values = []query.Value{{Match: query.Starts}}
	}
	c := k.values(values, in)
	if !k.runs && len(in) == len(of) && !slices.Contains(values, query.Value{}) {
		owner := k.values(values, in[1:])
		c.HintSQL, c.HintArgs = []string{"(" + owner.sql[0] + " OR " + eventsWithAttribute(string(key)) + ")"}, owner.args
	}
	return c, nil
}

// eventsWithAttribute returns a condition on transcripts that have events which state an attribute.
func eventsWithAttribute(key string) string {
	return "t.id IN (SELECT o.transcript FROM events o WHERE instr(o.attributes, '" + strings.ReplaceAll(key, "'", "''") + "'))"
}

// isError compiles is:error, which matches errors and failed results; both are facets. Other values of the field are
// alternatives.
func (k compiler) isError(f query.Field) (Cond, error) {
	or := query.Or{}
	for _, v := range f.Values {
		if v.Text != "error" {
			or.Of = append(or.Of, query.Field{Name: f.Name, Values: []query.Value{v}})
		}
	}
	failed := Cond{Match: []fts5.Expr{fts5.Or{Facet("is", "error", false), Facet("kind", "error", false)}}}
	if len(or.Of) == 0 {
		return failed, nil
	}
	rest, err := k.or(or)
	if err != nil {
		return Cond{}, err
	}
	sql, args := k.predicate(rest)
	return k.anyOf(failed.Match, []string{sql}, args), nil
}
