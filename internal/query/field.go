package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/txarchive/txarchive/internal/typo"
)

// field parses name:value or name>number. If the text at the cursor is neither, it returns nil, nil and consumes
// nothing.
//
// A name before a colon is a field if it is one of Fields, in lower case, and a value follows immediately. It is
// reported as a misspelt field if it has two to twelve lower-case letters and what follows begins like a value: with
// a letter, a quote, a star or a comparison; or with a digit, if the field that was probably meant takes a date or a
// number. Everything else is text: http://x, C:\x, std::vector, TypeError: x, main.go:42, localhost:8080, status:
// 500, mailto:me@example.org.
func (p *parser) field() (Node, error) {
	rest := p.text[p.i:]
	n := strings.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' })
	if n < 2 || n == len(rest) {
		return nil, nil
	}
	name, after := rest[:n], rest[n:]
	info, known := lookup(name)
	op := operator(after)
	switch {
	case op != "" && known && info.Type == Number:
		return p.compare(info, n, op)
	case op != "" && closeTo(name, Number) && startsWithDigit(after[len(op):]):
		return nil, p.unknownField(name, n+len(op))
	case after[0] != ':' || len(after) == 1 || p.delimited(p.i+n+1):
		return nil, nil
	case known && info.Type == Number:
		if op = operator(after[1:]); op == "" {
			return p.compare(info, n+1, "")
		}
		return p.compare(info, n+1, op)
	case known:
		at := p.i
		p.i += n + 1
		if info.Type == Time {
			return p.timeField(name)
		}
		return p.values(at, info)
	case misspelt(name, after[1:]):
		return nil, p.unknownField(name, n+1)
	}
	return nil, nil
}

// unknownField returns the error for a field that does not exist. prefix is the number of bytes before its value.
func (p *parser) unknownField(name string, prefix int) error {
	hint := "docs/query-language.md lists them;"
	if near := nearest(name); near != "" {
		hint = "did you mean " + near + "?"
	}
	return p.errorf(p.i, fmt.Sprintf("unknown field %q", name), `%s to search for the text, quote it: "%s..."`, hint, p.text[p.i:p.i+prefix])
}

// closeTo reports whether name is one edit away from a field of one of the types, or a known synonym of such a field.
func closeTo(name string, types ...Type) bool {
	for _, f := range fields {
		if !slices.Contains(types, f.Type) {
			continue
		}
		if len(name) > 3 && typo.Distance([]rune(name), []rune(f.Name)) == 1 || strings.TrimRight(synonyms[name], ":>") == f.Name {
			return true
		}
	}
	return false
}

// startsWithDigit reports whether text begins with a digit, optionally after a dollar sign.
func startsWithDigit(text string) bool {
	text = strings.TrimPrefix(text, "$")
	return text != "" && text[0] >= '0' && text[0] <= '9'
}

// schemes are words that often precede a colon in text and are not attempts at a field.
var schemes = []string{"mailto", "data", "urn", "node", "npm", "blob", "tel", "javascript"}

// misspelt reports whether name:value looks like a field with a typing error; see field.
func misspelt(name, value string) bool {
	if len(name) > 12 || slices.Contains(schemes, name) {
		return false
	}
	if startsWithDigit(value) {
		return closeTo(name, Time, Number)
	}
	for _, r := range value {
		return unicode.IsLetter(r) || strings.ContainsRune(`"*<>=$`, r)
	}
	return false
}

// values parses the value list after a field's colon.
func (p *parser) values(at int, info Info) (Node, error) {
	f := Field{Name: info.Name}
	if info.Name == "attr" {
		key, err := p.value(at, "=,")
		if err != nil {
			return nil, err
		}
		if key.Text == "" || key.Match != Whole {
			return nil, p.errorf(at, "attr needs the name of an attribute", "attr:name=value, or attr:name for any value")
		}
		if f.Key = key.Text; p.delimited(p.i) {
			return f, nil
		}
		if p.text[p.i] != '=' {
			return nil, p.errorf(p.i, "attr takes one name", "attr:name=value,value")
		}
		p.i++
	}
	for {
		from := p.i
		v, err := p.value(at, ",")
		if err != nil {
			return nil, err
		}
		if v, err = p.normalize(from, info, v); err != nil {
			return nil, err
		}
		f.Values = append(f.Values, v)
		if p.delimited(p.i) {
			return f, nil
		}
		if p.text[p.i] != ',' {
			return nil, p.errorf(p.i, "text follows the quoted value", "put a space or a comma between them")
		}
		p.i++
	}
}

// value parses one value: quoted, or up to a character of until. at is where the field begins.
func (p *parser) value(at int, until string) (Value, error) {
	rest := p.text[p.i:]
	inner, star := strings.CutPrefix(rest, "*")
	if strings.HasPrefix(inner, `"`) || !star && strings.HasPrefix(rest, "“") && strings.Contains(rest, "”") {
		if star {
			p.i++
		}
		text, err := p.quoted()
		v := Value{Text: text}
		if err == nil && strings.HasPrefix(p.text[p.i:], "*") {
			p.i++
			v.Match = Starts
		}
		if star {
			v.Match = Contains
		}
		return v, err
	}
	from := p.i
	word, _ := p.bare(until)
	if word == "" {
		return Value{}, p.errorf(p.i, "a value is missing", `to find events without a value, write %s""`, p.text[at:p.i])
	}
	text, match := stars(word)
	switch i := strings.IndexByte(text, '*'); {
	case strings.Trim(word, "*") == "":
		text, match = "", Starts
	case i >= 0:
		return Value{}, p.errorf(from, "a star can only be at the end of a value, or at both ends", "%s", starHint(p.text[at:from], word))
	}
	return Value{text, match}, nil
}

// starHint suggests how to write a value whose star stands in an unsupported place.
func starHint(name, word string) (hint string) {
	pieces := strings.Split(word, "*")
	if pieces[0] != "" {
		hint = fmt.Sprintf("%s%.60s* matches the start, ", name, pieces[0])
	}
	longest := slices.MaxFunc(pieces[1:], func(a, b string) int { return len(a) - len(b) })
	return hint + fmt.Sprintf("%s*%.60s* matches any part, %[1]s%.60[3]q matches the star itself", name, longest, word)
}

// normalize returns v in the spelling of its field. A field with a closed list of values rejects all others.
func (p *parser) normalize(from int, info Info, v Value) (Value, error) {
	if info.Values == nil {
		return v, nil
	}
	v.Text = strings.ReplaceAll(strings.ToLower(v.Text), "-", "_")
	if v.Match != Whole && info.Name != "is" && info.Name != "has" || slices.Contains(info.Values, v.Text) {
		return v, nil
	}
	if v.Match == Whole && v.Text == "" && info.Name == "outcome" {
		return v, nil
	}
	return v, p.errorf(from, fmt.Sprintf("unknown value for %s: %q", info.Name, v.Text), "one of %s", strings.Join(info.Values, ", "))
}
