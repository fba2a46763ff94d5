package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// field reads name:value, name>number or nothing: then n and err are nil and nothing is taken.
//
// What stands before the colon is a field when it is one of Fields, in lower case, and a value follows at once.
// It is taken for a misspelt field, an error, when it is two to twelve lower case letters and what follows begins
// like a value: with a letter, a quote, a star or a comparison; or with a digit, when the field that was likely
// meant takes a date or a number. Everything else is text: http://x, C:\x,
// std::vector, TypeError: x, main.go:42, localhost:8080, status: 500, mailto:me@example.org.
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
	case op != "" && slip(name, Number) && digits(after[len(op):]):
		return nil, p.unknown(name, n+len(op))
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
			return p.when(name)
		}
		return p.values(at, info)
	case misspelt(name, after[1:]):
		return nil, p.unknown(name, n+1)
	}
	return nil, nil
}

// unknown is the error for a field that there is not; typed is how many bytes stand before its value.
func (p *parser) unknown(name string, typed int) error {
	hint := "docs/query-language.md lists them;"
	if near := nearest(name); near != "" {
		hint = "did you mean " + near + "?"
	}
	return p.errorf(p.i, fmt.Sprintf("there is no field %q", name), `%s to search for the text, quote it: "%s..."`, hint, p.text[p.i:p.i+typed])
}

// slip reports whether name is one slip away from a field of the type, or another word for one.
func slip(name string, types ...Type) bool {
	for _, f := range fields {
		if !slices.Contains(types, f.Type) {
			continue
		}
		if len(name) > 3 && Distance([]rune(name), []rune(f.Name)) == 1 || strings.TrimRight(meant[name], ":>") == f.Name {
			return true
		}
	}
	return false
}

// digits reports whether text begins with a digit, or with a dollar sign before one.
func digits(text string) bool {
	text = strings.TrimPrefix(text, "$")
	return text != "" && text[0] >= '0' && text[0] <= '9'
}

// schemes stand before a colon in texts and are no attempts at a field.
var schemes = []string{"mailto", "data", "urn", "node", "npm", "blob", "tel", "javascript"}

func misspelt(name, value string) bool {
	if len(name) > 12 || slices.Contains(schemes, name) {
		return false
	}
	if digits(value) {
		return slip(name, Time, Number)
	}
	for _, r := range value {
		return unicode.IsLetter(r) || strings.ContainsRune(`"*<>=$`, r)
	}
	return false
}

// values reads the list after a field's colon.
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
		if v, err = p.checked(from, info, v); err != nil {
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

// value reads one value, quoted or up to one of the characters of until.
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
		return Value{}, p.errorf(p.i, "a value is missing", `for events without a value, write %s""`, p.text[at:p.i])
	}
	text, match := stars(word)
	switch i := strings.IndexByte(text, '*'); {
	case strings.Trim(word, "*") == "":
		text, match = "", Starts
	case i >= 0:
		return Value{}, p.errorf(from, "a star stands at the end of a value, or at both ends", "%s", starHint(p.text[at:from], word))
	}
	return Value{text, match}, nil
}

// starHint says what may be written for a value with a star elsewhere.
func starHint(name, word string) (hint string) {
	pieces := strings.Split(word, "*")
	if pieces[0] != "" {
		hint = fmt.Sprintf("%s%.60s* begins so, ", name, pieces[0])
	}
	longest := slices.MaxFunc(pieces[1:], func(a, b string) int { return len(a) - len(b) })
	return hint + fmt.Sprintf("%s*%.60s* contains it, %[1]s%.60[3]q has the star itself", name, longest, word)
}

// checked returns v in the spelling of its field. A field with a closed list takes no other value.
func (p *parser) checked(at int, info Info, v Value) (Value, error) {
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
	return v, p.errorf(at, fmt.Sprintf("%s: knows no %q", info.Name, v.Text), "one of %s", strings.Join(info.Values, ", "))
}
