package query

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// String returns the query as text. Parsed again, at any time and in any time zone, the text gives the same tree.
func (t *Tree) String() string {
	if t == nil || t.Root == nil {
		return ""
	}
	return t.Root.String()
}

// String joins the nodes by spaces and brackets alternatives.
func (n And) String() string { return join(n.Of, " ") }

// String joins the nodes by OR and brackets conjunctions.
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

// grouped prints a node with brackets around it if it is an And or an Or.
func grouped(n Node) string {
	switch n.(type) {
	case And, Or:
		return "(" + n.String() + ")"
	}
	return n.String()
}

// String prints the node after a minus, or after NOT where a minus would be parsed as text.
func (n Not) String() string {
	if text := grouped(n.Of); negates(text) {
		return "-" + text
	}
	return "NOT " + grouped(n.Of)
}

// String prints the word bare if that parses as the same word, otherwise in quotes.
func (n Word) String() string { return bareOr(n, n.Text, quote(n.Text)) }

// String prints the text in quotes.
func (n Phrase) String() string { return quote(n.Text) }

// String prints the text followed by a star.
func (n Prefix) String() string { return bareOr(n, n.Text+"*", quote(n.Text)+"*") }

// String prints the text in quotes with the distance.
func (n Near) String() string { return quote(n.Text) + "~" + strconv.Itoa(n.Within) }

// String prints the next wider query that the language can express: the phrase or prefix.
func (n Terms) String() string {
	if n.Open {
		return Prefix{n.Text}.String()
	}
	return Phrase{n.Text}.String()
}

// String prints the text between stars.
func (n Substring) String() string { return bareOr(n, "*"+n.Text+"*", "*"+quote(n.Text)+"*") }

// bareOr returns bare if it parses as n in every context, otherwise quoted.
func bareOr(n Node, bare, quoted string) string {
	for _, text := range []string{bare, "(" + bare + ")"} {
		if got, err := parse(text, Calendar{}); err != nil || got != n || strings.HasPrefix(bare, "/") || strings.HasPrefix(bare, "“") {
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

// String prints the value with its stars, quoted if necessary.
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

// TypedTimes maps times as String prints them to the way they were typed in a query, such as on:today.
type TypedTimes map[string]string

// FindTypedTimes collects the times in the text of a query. Times in quotes are left out and are therefore printed in
// full.
func FindTypedTimes(text string, now time.Time, loc *time.Location) TypedTimes {
	times := TypedTimes{}
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
func (times TypedTimes) Print(n fmt.Stringer) string {
	text := n.String()
	for printed, typed := range times {
		text = strings.ReplaceAll(text, printed, typed)
	}
	return text
}

// String prints the comparison in USD, in seconds or as a count.
func (n Compare) String() string { return n.Field + n.Op + amount(n.Field, n.Value) }

func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
