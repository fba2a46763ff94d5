package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
)

// sqlDictionary is what a statement can name.
type sqlDictionary struct {
	views   []string
	columns map[string][]string // of each view
}

// keywords are those that statements which read are made of, and functions that are asked for often.
var keywords = []string{"SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "HAVING", "JOIN", "LEFT JOIN", "USING", "DISTINCT", "COUNT(*)", "EXPLAIN QUERY PLAN",
	"event_text(", "event_json(", "receipt_json(", "call_input(", "call_output("}

// shellCommands begin with a dot.
var shellCommands = []string{".views", ".schema", ".format", ".help", ".quit"}

// sqlWords asks the console what views there are, and of which columns.
func sqlWords(ctx context.Context, console index.Console) (*sqlDictionary, error) {
	d := &sqlDictionary{columns: map[string][]string{}}
	const views = `SELECT v.name, c.name FROM pragma_table_list v JOIN pragma_table_info(v.name) c
		WHERE v.schema = 'main' AND v.type = 'view' AND v.name LIKE 'v\_%' ESCAPE '\' ORDER BY v.name, c.cid`
	err := console.Query(ctx, index.Question{SQL: views}, func([]string) error { return nil }, func(row []any) error {
		view := fmt.Sprint(row[0])
		if d.columns[view] == nil {
			d.views = append(d.views, view)
		}
		d.columns[view] = append(d.columns[view], fmt.Sprint(row[1]))
		return nil
	})
	return d, err
}

// complete offers what the last word of a statement may become; head is what stands before that word.
func (d *sqlDictionary) complete(typed string) (head string, some []string) {
	start := len(typed)
	for start > 0 && wordByte(typed[start-1]) {
		start--
	}
	word := typed[start:]
	if start == 0 && strings.HasPrefix(word, ".") {
		return "", starting(word, shellCommands)
	}
	if dot := strings.LastIndexByte(word, '.'); dot >= 0 { // alias.column
		start, word = start+dot+1, word[dot+1:]
		return typed[:start], starting(word, d.columnsOf(typed))
	}
	if word == "" {
		return typed, nil
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(typed)), ".schema") {
		return typed[:start], starting(word, d.views)
	}
	return typed[:start], starting(word, d.views, d.columnsOf(typed), keywords)
}

// wordByte says whether a byte can stand in a name, with the dot of alias.column.
func wordByte(c byte) bool {
	return c == '_' || c == '.' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// columnsOf are the columns of the views that a statement names; of all views when it names none.
func (d *sqlDictionary) columnsOf(statement string) []string {
	var some []string
	for pass := range 2 {
		for _, v := range d.views {
			if pass == 1 || strings.Contains(strings.ToLower(statement), v) {
				some = append(some, d.columns[v]...)
			}
		}
		if len(some) > 0 {
			break
		}
	}
	return some
}

// nearName is the view or column that a statement was told not to have meant, "" where none is like it.
func nearName(ctx context.Context, console index.Console, statement, message string) (near string) {
	what, name, _ := strings.Cut(message, ": ")
	name = name[strings.LastIndexByte(name, '.')+1:]
	if what != "no such table" && what != "no such column" {
		return ""
	}
	words, err := sqlWords(ctx, console)
	if err != nil {
		return "" // it is only a hint
	}
	some := words.views
	if what == "no such column" {
		some = words.columnsOf(statement)
	}
	least := (len(name) + 2) / 3
	for _, w := range some {
		if d := query.Distance([]rune(strings.ToLower(name)), []rune(w)); d < least {
			near, least = w, d
		}
	}
	return near
}

// starting are the words that begin with another, in any case, each once and sorted.
func starting(with string, lists ...[]string) []string {
	var some []string
	for _, list := range lists {
		for _, w := range list {
			if len(w) >= len(with) && strings.EqualFold(w[:len(with)], with) {
				some = append(some, w)
			}
		}
	}
	slices.Sort(some)
	return slices.Compact(some)
}

// listViews names the views.
func (d *sqlDictionary) listViews() string { return "  " + strings.Join(d.views, "\n  ") }

// schema tells the columns of a view, or of all.
func (d *sqlDictionary) schema(view string, width int) (string, bool) {
	var b strings.Builder
	for _, v := range d.views {
		if view != "" && !strings.EqualFold(v, view) {
			continue
		}
		list := strings.Join(d.columns[v], ", ")
		if width > 20 {
			list = folded(list, width-5)
		}
		fmt.Fprintf(&b, "%s\n%s\n", v, indent(list, "    "))
	}
	return strings.TrimSuffix(b.String(), "\n"), b.Len() > 0
}
