package query

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// atom parses a word, phrase, pattern or field.
func (p *parser) atom() (Node, error) {
	rest := p.text[p.i:]
	switch {
	case strings.HasPrefix(rest, `*"`):
		at := p.i
		p.i++
		text, err := p.quoted()
		if err != nil {
			return nil, err
		}
		if p.i < len(p.text) && p.text[p.i] == '*' {
			p.i++
		}
		return p.nonEmpty(at, Substring{text}, text)
	case rest[0] == '"', strings.HasPrefix(rest, "“") && strings.Contains(rest, "”"):
		at := p.i
		text, err := p.quoted()
		if err != nil {
			return nil, err
		}
		if p.i < len(p.text) && p.text[p.i] == '*' && p.delimited(p.i+1) {
			p.i++
			return p.nonEmpty(at, Prefix{text}, text)
		}
		if n, err := p.near(at, text); n != nil || err != nil {
			return n, err
		}
		return p.nonEmpty(at, Phrase{text}, text)
	case rest[0] == '/':
		if n, err := p.regex(); n != nil || err != nil {
			return n, err
		}
	}
	if n, err := p.field(); n != nil || err != nil {
		return n, err
	}
	word, balanced := p.bare("")
	return pattern(word, balanced), nil
}

// near consumes the distance behind a quoted text, which began at at; it returns nil, nil if there is none.
func (p *parser) near(at int, text string) (Node, error) {
	rest, ok := strings.CutPrefix(p.text[p.i:], "~")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	end := p.i + 1 + digits
	if !ok || digits == 0 || !p.delimited(end) {
		return nil, nil
	}
	within, err := strconv.Atoi(rest[:digits])
	n := Near{text, within}
	switch words := len(n.Words()); {
	case err != nil || within > MaxWithin:
		return nil, p.errorf(p.i, fmt.Sprintf("words can be at most %d apart", MaxWithin), "words without quotes match at any distance")
	case words < 2:
		return nil, p.errorf(at, "a distance is between words, and here is only one", `"disk full"~5 matches both with at most five other words between them`)
	case words > MaxNearWords:
		return nil, p.errorf(at, fmt.Sprintf("a distance is between at most %d words", MaxNearWords), "words without quotes match at any distance")
	}
	p.i = end
	return n, nil
}

// nonEmpty returns n, or an error if its text is empty.
func (p *parser) nonEmpty(at int, n Node, text string) (Node, error) {
	if text == "" {
		return nil, p.errorf(at, "empty quotes", `to search for a quote, write /"/`)
	}
	return n, nil
}

// pattern returns the node for an unquoted word. A word that could be parsed differently elsewhere, because of an
// open bracket, slash or quote, becomes a Phrase, which means the same and is printed in quotes.
func pattern(word string, balanced bool) Node {
	text, match := stars(word)
	switch {
	case strings.Trim(word, "*") == "":
		return Word{word}
	case match == Contains:
		return Substring{text}
	case match == Starts:
		return Prefix{text}
	case !balanced || word[0] == '/' || strings.HasPrefix(word, "“"), isOperator(word):
		return Phrase{word}
	}
	return Word{word}
}

// isOperator reports whether word would be parsed as an operator, either by itself or before a bracket.
func isOperator(word string) bool {
	name, _, _ := strings.Cut(word, "(")
	return name == "AND" || name == "OR" || name == "NOT"
}

// stars strips the stars from an unquoted word: pre* is a prefix match; *in* and *in match anywhere.
func stars(word string) (string, Match) {
	inner, ends := strings.CutSuffix(word, "*")
	if text, ok := strings.CutPrefix(inner, "*"); ok {
		return text, Contains
	}
	if ends {
		return inner, Starts
	}
	return word, Whole
}

// bare consumes an unquoted word: up to white space, to the bracket that closes an enclosing group, or to a character
// of until. balanced reports whether the word's own brackets are balanced.
func (p *parser) bare(until string) (word string, balanced bool) {
	start, open := p.i, 0
	balanced = true
scan:
	for i, r := range p.text[start:] {
		p.i = start + i
		switch {
		case unicode.IsSpace(r), strings.ContainsRune(until, r):
			break scan
		case r == '(':
			open++
		case r == ')' && open > 0:
			open--
		case r == ')' && p.open > 0:
			break scan
		case r == ')':
			balanced = false
		}
		p.i = len(p.text)
	}
	return p.text[start:p.i], balanced && open == 0
}

// quoted consumes a quoted text. Inside it, \" is a quote and \\ a backslash; any other backslash stands for itself.
// Curly quotes work too and have no escapes.
func (p *parser) quoted() (string, error) {
	if rest, ok := strings.CutPrefix(p.text[p.i:], "“"); ok {
		text, after, _ := strings.Cut(rest, "”")
		p.i = len(p.text) - len(after)
		return text, nil
	}
	at := p.i
	var b strings.Builder
	for p.i++; p.i < len(p.text); p.i++ {
		c := p.text[p.i]
		switch {
		case c == '"':
			p.i++
			return b.String(), nil
		case c == '\\' && p.i+1 < len(p.text) && (p.text[p.i+1] == '"' || p.text[p.i+1] == '\\'):
			p.i++
			c = p.text[p.i]
		}
		b.WriteByte(c)
	}
	p.i = len(p.text)
	return "", p.errorf(at, "unclosed quote", `to search for a quote, write \" inside quotes`)
}

// regex consumes /expression/. The first unescaped slash must end both the expression and the token; otherwise, as
// for the path /usr/bin, regex returns nil, nil.
func (p *parser) regex() (Node, error) {
	var b strings.Builder
	for i := p.i + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '\\' && i+1 < len(p.text):
			i++
			if p.text[i] != '/' {
				b.WriteByte(c)
			}
			b.WriteByte(p.text[i])
		case c != '/':
			b.WriteByte(c)
		case b.Len() == 0 || !p.delimited(i+1):
			return nil, nil
		default:
			re := Regex{b.String()}
			if _, err := regexp.Compile(re.Expr); err != nil {
				return nil, p.errorf(p.i, strings.TrimPrefix(err.Error(), "error parsing regexp: "),
					"regular expressions are RE2; to search for a path, quote it")
			}
			p.i = i + 1
			return re, nil
		}
	}
	return nil, nil
}
