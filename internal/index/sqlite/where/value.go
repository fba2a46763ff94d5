package where

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/query"
)

// Compare returns SQL that compares a column with a value, ignoring case.
func Compare(column string, v query.Value) (string, []any) {
	switch {
	case v.Text == "" && v.Match == query.Whole:
		return column + " IS NULL", nil
	case v.Text == "":
		return column + " IS NOT NULL", nil
	case v.Match == query.Whole && (column == "c.conversation_id" || column == "r.run_id"):
		return BeginsWith(column, v.Text)
	case v.Match == query.Whole && ascii(v.Text):
		return column + " = ? COLLATE NOCASE", []any{v.Text}
	}
	return column + " GLOB ?", []any{glob(v)}
}

// likeEscaper escapes the metacharacters of LIKE.
var likeEscaper = strings.NewReplacer("%", `\%`, "_", `\_`, `\`, `\\`)

// comparePath is Compare for f.path. There are many long paths, and LIKE tests for a prefix in a quarter of the time that
// GLOB takes to match its first letter in either case. LIKE folds ASCII letters only; k and s also fold to a non-ASCII
// character (U+212A, U+017F), which needs GLOB.
func comparePath(v query.Value) (string, []any) {
	if v.Text == "" || v.Match == query.Whole || !ascii(v.Text) || len(v.Text) > maxGlob {
		return Compare("f.path", v)
	}
	pattern := likeEscaper.Replace(v.Text) + "%"
	if v.Match == query.Contains {
		pattern = "%" + pattern
	}
	sql, args := `f.path LIKE ? ESCAPE '\'`, []any{pattern}
	if strings.ContainsAny(v.Text, "ksKS") {
		sql, args = "("+sql+" OR length(f.path) < octet_length(f.path) AND f.path GLOB ?)", append(args, glob(v))
	}
	return sql, args
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// maxGlob is how many characters of a value are compared: SQLite limits patterns to 50000 bytes.
const maxGlob = 3000

// glob returns the GLOB pattern for a value, with all cases of each letter. LIKE folds ASCII letters only.
func glob(v query.Value) string {
	var b strings.Builder
	if v.Match == query.Contains {
		b.WriteByte('*')
	}
	n, cut := 0, false
	for _, r := range v.Text {
		if n++; n > maxGlob {
			cut = true
			break
		}
		other := unicode.SimpleFold(r)
		if other == r && !strings.ContainsRune("*?[", r) {
			b.WriteRune(r)
			continue
		}
		b.WriteByte('[')
		b.WriteRune(r)
		for ; other != r; other = unicode.SimpleFold(other) {
			b.WriteRune(other)
		}
		b.WriteByte(']')
	}
	if v.Match != query.Whole || cut {
		b.WriteByte('*')
	}
	return b.String()
}

// BeginsWith returns SQL that compares a column of public ids, which are in lower case, with the beginning of one in any case.
func BeginsWith(column, prefix string) (string, []any) {
	prefix = strings.ToLower(prefix)
	return "(" + column + " >= ? AND " + column + " < ?)", []any{prefix, PrefixEnd(prefix)}
}

// PrefixEnd returns an upper bound, excluded, of all ids that begin with prefix. Ids are ASCII.
func PrefixEnd(prefix string) string { return prefix + "\x7f" }

// Balanced joins SQL expressions with op as a balanced tree, so that many of them do not exceed SQLite's depth limit.
func Balanced(parts []string, op string) string {
	if len(parts) < 3 {
		return "(" + strings.Join(parts, op) + ")"
	}
	half := len(parts) / 2
	return "(" + Balanced(parts[:half], op) + op + Balanced(parts[half:], op) + ")"
}

// SumKnown returns SQL for the sum of the columns that are not NULL; NULL when all are.
func SumKnown(columns ...string) string {
	sum := "coalesce(" + strings.Join(columns, ", 0) + coalesce(") + ", 0)" // of a, b: coalesce(a, 0) + coalesce(b, 0)
	return "CASE WHEN coalesce(" + strings.Join(columns, ", ") + ") IS NOT NULL THEN " + sum + " END"
}

// UsesTable reports whether an expression of this package refers to a table alias.
func UsesTable(expr, table string) bool {
	return strings.Contains(expr, " "+table+".") || strings.Contains(expr, "("+table+".") || strings.HasPrefix(expr, table+".")
}
