package query

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// parser is a recursive-descent parser that scans the text once. Its methods stop at the first error.
type parser struct {
	text  string
	i     int
	open  int // groups that are not closed yet
	depth int // nesting of groups and negations
	now   time.Time
	loc   *time.Location

	weekShift int // see Calendar
}

func parse(text string, c Calendar) (Node, error) {
	loc := cmp.Or(c.Location, time.UTC)
	p := &parser{text: strings.ToValidUTF8(text, "\ufffd"), now: c.Now.Round(0).In(loc), loc: loc, weekShift: c.WeekShift}
	if len(text) > MaxLength {
		return nil, p.errorf(0, "the query is too long", "at most %d bytes", MaxLength)
	}
	p.spaces()
	if p.i == len(p.text) {
		return nil, nil
	}
	n, err := p.or()
	if err == nil && conditions(n) > MaxConditions {
		return nil, p.errorf(0, "the query has too many conditions", "at most %d words, phrases and fields; split the query", MaxConditions)
	}
	return n, err
}

// conditions counts the leaves of a tree, each value of a field separately.
func conditions(n Node) (sum int) {
	for n := range Leaves(n) {
		f, _ := n.(Field)
		sum += max(len(f.Values), 1)
	}
	return sum
}

// errorf returns a SyntaxError for byte offset at.
func (p *parser) errorf(at int, message, hint string, args ...any) *SyntaxError {
	return &SyntaxError{utf8.RuneCountInString(p.text[:at]) + 1, message, fmt.Sprintf(hint, args...)}
}

// or parses alternatives up to the end of the text or of the group.
func (p *parser) or() (Node, error) {
	var nodes []Node
	for {
		n, err := p.and()
		if err != nil {
			return nil, err
		}
		if inner, ok := n.(Or); ok {
			nodes = append(nodes, inner.Of...)
		} else {
			nodes = append(nodes, n)
		}
		if !p.keyword("OR") {
			break
		}
	}
	if len(nodes) == 1 {
		return nodes[0], nil
	}
	return Or{nodes}, nil
}

// and parses a conjunction, up to OR or the end of the text or group.
func (p *parser) and() (Node, error) {
	var nodes []Node
	for {
		wanted := len(nodes) == 0 || p.keyword("AND")
		p.spaces()
		if p.ended() || p.peek("OR") || p.peek("AND") {
			if wanted || p.peek("AND") {
				return nil, p.missing()
			}
			break
		}
		n, err := p.unary()
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
		p.spaces()
	}
	return Conjunction(nodes...), nil
}

// missing returns the error for a missing operand.
func (p *parser) missing() error {
	for _, word := range []string{"OR", "AND"} {
		if p.peek(word) {
			return p.errorf(p.i, "nothing before "+word, `to search for the word, write "%s"`, word)
		}
	}
	before := strings.TrimRightFunc(p.text[:p.i], unicode.IsSpace)
	if strings.HasSuffix(before, "(") {
		return p.errorf(len(before)-1, "empty brackets", `to search for brackets, quote the text: "f()"`)
	}
	at := strings.LastIndexFunc(before, func(r rune) bool { return unicode.IsSpace(r) || r == '(' }) + 1
	return p.errorf(at, "nothing after "+before[at:], `to search for the word, write "%s"`, before[at:])
}

// unary parses a negation, a group or an atom.
func (p *parser) unary() (Node, error) {
	at := p.i
	switch rest := p.text[p.i:]; {
	case p.keyword("NOT"):
		p.spaces()
		if p.ended() || p.peek("OR") || p.peek("AND") {
			return nil, p.errorf(at, "nothing after NOT", `to search for the word, write "NOT"`)
		}
	case rest[0] == '-' && negates(rest[1:]):
		p.i++
	case rest[0] == '(':
		return p.group()
	default:
		return p.atom()
	}
	if p.depth++; p.depth > MaxDepth {
		return nil, p.errorf(at, "the query nests too deep", "at most %d levels", MaxDepth)
	}
	n, err := p.unary()
	p.depth--
	if err != nil {
		return nil, err
	}
	if inner, ok := n.(Not); ok {
		return inner.Of, nil
	}
	return Not{n}, nil
}

// negates reports whether a minus before rest is a negation. It is one before anything that can begin a word, a
// quote, a group or a pattern; --limit, -> and a dash between spaces are text.
func negates(rest string) bool {
	r, n := utf8.DecodeRuneInString(rest)
	return n > 0 && (unicode.In(r, unicode.L, unicode.N, unicode.So) || strings.ContainsRune(`"“(*/_.@#$`, r))
}

// group parses (query).
func (p *parser) group() (Node, error) {
	at := p.i
	p.i++
	p.open++
	if p.depth++; p.depth > MaxDepth {
		return nil, p.errorf(at, "the query nests too deep", "at most %d levels", MaxDepth)
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.i >= len(p.text) {
		return nil, p.errorf(at, "unclosed bracket", `close it with ), or quote the text: "f(x"`)
	}
	p.i++
	p.open--
	p.depth--
	return n, nil
}

// spaces skips white space.
func (p *parser) spaces() {
	rest := strings.TrimLeftFunc(p.text[p.i:], unicode.IsSpace)
	p.i = len(p.text) - len(rest)
}

// ended reports whether the text or the innermost group ends at the cursor.
func (p *parser) ended() bool { return p.i == len(p.text) || p.open > 0 && p.text[p.i] == ')' }

// peek reports whether a keyword is at the cursor, in capitals and as a token of its own.
func (p *parser) peek(word string) bool {
	rest, ok := strings.CutPrefix(p.text[p.i:], word)
	if !ok {
		return false
	}
	return rest == "" || rest[0] == '(' || p.delimited(p.i+len(word))
}

// keyword consumes the keyword if it is at the cursor.
func (p *parser) keyword(word string) bool {
	if !p.peek(word) {
		return false
	}
	p.i += len(word)
	return true
}

// delimited reports whether a token can end before offset i.
func (p *parser) delimited(i int) bool {
	if i >= len(p.text) || p.text[i] == ')' && p.open > 0 {
		return true
	}
	r, _ := utf8.DecodeRuneInString(p.text[i:])
	return unicode.IsSpace(r)
}
