package where

import "github.com/txarchive/txarchive/internal/query"

// PossibleSQL returns Possible as one SQL expression.
func (c Cond) PossibleSQL() string { return Balanced(c.Possible, " AND ") }

// possible returns a condition on no row, without which none has one of the values of a field: exists says that anything states a value. It
// is empty where no value is asked for.
func possible(f query.Field, exists func(query.Value) (string, []any)) (sql []string, args []any) {
	for _, v := range f.Values {
		if v.Text == "" {
			return nil, nil
		}
		s, of := exists(v)
		sql, args = append(sql, s), append(args, of...)
	}
	return []string{Balanced(sql, " OR ")}, args
}

// stated returns the condition that a scene, a conversation or a run states a value of a field. There are few scenes.
func stated(field string, v query.Value) (sql string, args []any) {
	in := []string{"scenes", "conversations", "runs"}
	if field == "step" {
		in = in[:2]
	}
	var any []string
	for _, table := range in {
		s, of := Compare(field, v)
		any, args = append(any, "EXISTS (SELECT 1 FROM "+table+" WHERE "+s+")"), append(args, of...)
	}
	return Balanced(any, " OR "), args
}
