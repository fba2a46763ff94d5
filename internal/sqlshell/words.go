package sqlshell

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/typo"
)

// Words are the names that a statement can use.
type Words struct {
	views   []string
	columns map[string][]string // of each view
}

// keywords are completed besides names: the keywords of SELECT, and functions of our own.
var keywords = []string{"SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "HAVING", "JOIN", "LEFT JOIN", "USING", "DISTINCT", "COUNT(*)", "EXPLAIN QUERY PLAN",
	"event_text(", "event_json(", "receipt_json(", "call_input(", "call_input_json(", "call_output("}

// commands are those of the shell.
var commands = []string{".views", ".schema", ".format", ".help", ".quit"}

// ReadWords reads the names of the views and their columns from the index.
func ReadWords(ctx context.Context, console index.Console) (*Words, error) {
	d := &Words{columns: map[string][]string{}}
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

// Complete returns the completions of the last word of what was typed. head is the text before that word.
func (d *Words) Complete(typed string) (head string, completions []string) {
	start := len(typed)
	for start > 0 && isNameByte(typed[start-1]) {
		start--
	}
	word := typed[start:]
	if start == 0 && strings.HasPrefix(word, ".") {
		return "", withPrefix(word, commands)
	}
	if dot := strings.LastIndexByte(word, '.'); dot >= 0 { // alias.column
		start, word = start+dot+1, word[dot+1:]
		return typed[:start], withPrefix(word, d.columnsOf(typed))
	}
	if word == "" {
		return typed, nil
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(typed)), ".schema") {
		return typed[:start], withPrefix(word, d.views)
	}
	return typed[:start], withPrefix(word, d.views, d.columnsOf(typed), keywords)
}

// isNameByte reports whether a byte may be part of a name; the dot of alias.column counts.
func isNameByte(c byte) bool {
	return c == '_' || c == '.' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// columnsOf returns the columns of the views that a statement names; of all views if it names none.
func (d *Words) columnsOf(statement string) []string {
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

// Suggest returns the view or column that is most like the one that SQLite does not know according to its message; "" for none.
func Suggest(ctx context.Context, console index.Console, statement, message string) (nearest string) {
	what, name, _ := strings.Cut(message, ": ")
	name = name[strings.LastIndexByte(name, '.')+1:]
	if what != "no such table" && what != "no such column" {
		return ""
	}
	words, err := ReadWords(ctx, console)
	if err != nil {
		return "" // it is only a hint
	}
	some := words.views
	if what == "no such column" {
		some = words.columnsOf(statement)
	}
	name = strings.ToLower(strings.Trim(name, `"`))
	for _, w := range some {
		if strings.HasPrefix(w, name+"_") { // cost for cost_microusd
			return w
		}
	}
	return typo.Nearest(name, some)
}

// withPrefix returns the words that begin with a prefix, ignoring case, sorted and each once.
func withPrefix(prefix string, lists ...[]string) []string {
	var some []string
	for _, list := range lists {
		for _, w := range list {
			if len(w) >= len(prefix) && strings.EqualFold(w[:len(prefix)], prefix) {
				some = append(some, w)
			}
		}
	}
	slices.Sort(some)
	return slices.Compact(some)
}

// listViews returns the names of the views, one a line.
func (d *Words) listViews() string { return "  " + strings.Join(d.views, "\n  ") }

// schema returns the columns of a view, or of all views for "", as text of a width; false if there is no such view.
func (d *Words) schema(view string, width int) (string, bool) {
	var b strings.Builder
	for _, v := range d.views {
		if view != "" && !strings.EqualFold(v, view) {
			continue
		}
		list := strings.Join(d.columns[v], ", ")
		if width > 20 {
			list = terminal.Wrap(list, width-5)
		}
		fmt.Fprintf(&b, "%s\n%s\n", v, terminal.Indent(list, "    "))
	}
	return strings.TrimSuffix(b.String(), "\n"), b.Len() > 0
}
