package query

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// String returns the query as text. Parsed again, at any time and in any zone, it gives the same tree.
func (t *Tree) String() string {
	if t == nil || t.Root == nil {
		return ""
	}
	return t.Root.String()
}

// String joins the nodes by spaces, alternatives in brackets.
func (n And) String() string { return join(n.Of, " ") }

// String joins the nodes by OR, those that must hold together in brackets.
func (n Or) String() string { return join(n.Of, " OR ") }

func join(of []Node, by string) string {
	var b strings.Builder
	for i, n := range of {
		if i > 0 {
			b.WriteString(by)
		}
		b.WriteString(grouped(n))
	}
	return b.String()
}

// grouped prints a node so that it is one with what stands around it.
func grouped(n Node) string {
	switch n.(type) {
	case And, Or:
		return "(" + n.String() + ")"
	}
	return n.String()
}

// String prints the node behind a minus, or behind NOT where a minus would be read as text.
func (n Not) String() string {
	if text := grouped(n.Of); negates(text) {
		return "-" + text
	}
	return "NOT " + grouped(n.Of)
}

// String prints the word bare where it is read as the same word, else in quotes.
func (n Word) String() string { return bareOr(n, n.Text, quote(n.Text)) }

// String prints the text in quotes.
func (n Phrase) String() string { return quote(n.Text) }

// String prints the text with a star behind it.
func (n Prefix) String() string { return bareOr(n, n.Text+"*", quote(n.Text)+"*") }

// String prints what is wider: the phrase or prefix.
func (n Terms) String() string {
	if n.Open {
		return Prefix{n.Text}.String()
	}
	return Phrase{n.Text}.String()
}

// String prints the text between stars.
func (n Substring) String() string { return bareOr(n, "*"+n.Text+"*", "*"+quote(n.Text)+"*") }

// bareOr returns bare if it is read as n wherever it stands, else quoted.
func bareOr(n Node, bare, quoted string) string {
	for _, text := range []string{bare, "(" + bare + ")"} {
		if got, err := parse(text, time.Time{}, nil); err != nil || got != n || strings.HasPrefix(bare, "/") || strings.HasPrefix(bare, "“") {
			return quoted
		}
	}
	return bare
}

// String prints the expression between slashes.
func (n Regex) String() string {
	var b strings.Builder
	b.WriteByte('/')
	for i := 0; i < len(n.Expr); i++ {
		switch c := n.Expr[i]; {
		case c == '\\' && i+1 < len(n.Expr):
			b.WriteString(n.Expr[i : i+2])
			i++
		case c == '/':
			b.WriteString(`\/`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('/')
	return b.String()
}

// String prints name:value,value.
func (n Field) String() string {
	var b strings.Builder
	b.WriteString(n.Name + ":")
	if n.Name == "attr" {
		b.WriteString(Value{Text: n.Key}.String())
		if len(n.Values) > 0 {
			b.WriteByte('=')
		}
	}
	for i, v := range n.Values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(v.String())
	}
	return b.String()
}

// String prints the value with its stars, in quotes where it needs them.
func (v Value) String() string {
	text := v.Text
	if text == "" && v.Match == Starts {
		return "*"
	}
	if text == "" || strings.ContainsAny(text, "\"“*,=()") || strings.ContainsFunc(text, unicode.IsSpace) {
		text = quote(text)
	}
	switch v.Match {
	case Starts:
		return text + "*"
	case Contains:
		return "*" + text + "*"
	}
	return text
}

// String prints the range in UTC, to the nanosecond.
func (n Range) String() string {
	from, to := n.From.UTC().Format(time.RFC3339Nano), n.To.UTC().Format(time.RFC3339Nano)
	switch {
	case n.To.IsZero():
		return "after:" + from
	case n.From.IsZero():
		return "before:" + to
	}
	return "during:" + from + ".." + to
}

// Typed are the times of a query as they were typed (on:today), by how they are printed.
type Typed map[string]string

// TypedTimes finds the times in the text of a query; those in quotes stay as they are printed.
func TypedTimes(text string, now time.Time, loc *time.Location) Typed {
	times := Typed{}
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "()")
		if t, err := Parse(word, now, loc); err == nil {
			if r, ok := t.Root.(Range); ok {
				times[r.String()] = word
			}
		}
	}
	return times
}

// Print prints a query, or a part of one, with its times as they were typed.
func (times Typed) Print(n fmt.Stringer) string {
	text := n.String()
	for printed, typed := range times {
		text = strings.ReplaceAll(text, printed, typed)
	}
	return text
}

// String prints the comparison in USD, seconds or as a count.
func (n Compare) String() string { return n.Field + n.Op + amount(n.Field, n.Value) }

func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
