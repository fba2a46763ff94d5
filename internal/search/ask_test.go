package search

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// scribe generates random texts and queries.
type scribe struct{ *rand.Rand }

// asked is a random query: its text, and what the naive scan says about each row.
type asked struct {
	text  string
	holds func(*row) truth
}

func pick[T any](s scribe, of []T) T { return of[s.IntN(len(of))] }

// stretch cuts a random piece out of a text.
func (s scribe) stretch(text string, least, most int) string {
	runes := []rune(text)
	if len(runes) == 0 {
		return ""
	}
	from := s.IntN(len(runes))
	return string(runes[from:min(len(runes), from+least+s.IntN(most))])
}

// near gives a random place of a text, so that long ones cost no more than short ones.
func (s scribe) near(text string) string {
	const window = 2000
	if len(text) > window {
		from := s.IntN(len(text) - window)
		return strings.ToValidUTF8(text[from:from+window], "\ufffd")
	}
	return text
}

// words takes some consecutive words of a text.
func (s scribe) words(text string, most int) string {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return ""
	}
	from := s.IntN(len(fields))
	return strings.Join(fields[from:min(len(fields), from+1+s.IntN(most))], " ")
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// ask makes a question about one of the rows that can mostly be answered with yes.
func (s scribe) ask(rows []row, depth int) asked {
	if depth > 0 && s.IntN(3) > 0 {
		return s.join(s.ask(rows, depth-1), s.ask(rows, depth-1))
	}
	r := &rows[s.IntN(len(rows))]
	for range 20 {
		if q, ok := s.about(r); ok && len(q.text) < 4000 && !strings.ContainsRune(q.text, 0) {
			return q
		}
		r = &rows[s.IntN(len(rows))]
	}
	return asked{"kind:*", func(*row) truth { return yes }}
}

func (s scribe) join(a, b asked) asked {
	bracketed := func(q asked) string {
		if strings.Contains(q.text, ") OR (") {
			return "(" + q.text + ")"
		}
		return q.text
	}
	switch s.IntN(5) {
	case 0:
		return asked{"(" + a.text + ") OR (" + b.text + ")", func(r *row) truth { return max(a.holds(r), b.holds(r)) }}
	case 1:
		return asked{"(" + a.text + ") NOT (" + b.text + ")", func(r *row) truth { return min(a.holds(r), b.holds(r).not()) }}
	case 2:
		return asked{"(" + a.text + ") AND (" + b.text + ")", func(r *row) truth { return min(a.holds(r), b.holds(r)) }}
	}
	return asked{bracketed(a) + " " + bracketed(b), func(r *row) truth { return min(a.holds(r), b.holds(r)) }}
}

// about makes a question about a row, if it can.
func (s scribe) about(r *row) (asked, bool) {
	text := s.near(r.text)
	switch s.IntN(18) {
	case 0, 1, 2:
		return s.phrase(s.words(text, 3), "", false)
	case 3:
		return s.word(text)
	case 4, 5:
		return s.beginning(text)
	case 6, 7:
		return s.substring(text)
	case 8:
		return s.expression(text)
	case 9:
		return s.script(text)
	case 10:
		return s.id(text)
	case 11:
		if s.IntN(8) == 0 { // longer than what an index is asked for
			return s.phrase(text, "", false)
		}
		return s.phrase(s.words(text, 12), "", false)
	case 12:
		return s.number(r)
	case 13:
		return s.time(r)
	case 14:
		state := pick(s, slices.Sorted(maps.Keys(states)))
		return asked{state, func(r *row) truth { return truthOf(states[state](r)) }}, true
	case 15:
		return s.attribute(r)
	}
	return s.field(r)
}

// bare are texts that a query may hold without quotes.
var bare = regexp.MustCompile(`^[\pL\pN_#.][\pL\pN_#.%'/-]*$`)

func (s scribe) phrase(text, star string, open bool) (asked, bool) {
	want := newNaiveText(text).words
	if len(want) == 0 {
		return asked{}, false
	}
	query := quoted(text) + star
	if bare.MatchString(text) && !slices.Contains([]string{"AND", "OR", "NOT"}, text) && s.IntN(2) == 0 {
		query = text + star
	}
	return asked{query, func(r *row) truth { return r.read().phrase(want, open) }}, true
}

// word takes a word or a part of one.
func (s scribe) word(text string) (asked, bool) {
	words := newNaiveText(text).words
	if len(words) == 0 {
		return asked{}, false
	}
	w := words[s.IntN(len(words))]
	if n := len(w.parts); n > 0 && s.IntN(2) == 0 {
		i := s.IntN(n)
		return s.phrase(strings.Join(w.parts[i:i+1+s.IntN(n-i)], ""), "", false)
	}
	return s.phrase(w.text, "", false)
}

func (s scribe) beginning(text string) (asked, bool) {
	whole := []rune(s.words(text, 3))
	if len(whole) == 0 || !unicode.In(whole[len(whole)-1], unicode.L, unicode.N) {
		return s.phrase(string(whole), "", false)
	}
	return s.phrase(string(whole[:len(whole)-s.IntN(min(4, len(whole)))]), "*", true)
}

func (s scribe) substring(text string) (asked, bool) {
	part := s.stretch(text, 2, 12)
	want := naiveFold(part)
	if want == "" {
		return asked{}, false
	}
	return asked{"*" + quoted(part) + "*", func(r *row) truth { return r.read().contains(want) }}, true
}

func (s scribe) expression(text string) (asked, bool) {
	expr := regexp.QuoteMeta(s.stretch(text, 3, 8))
	switch s.IntN(6) {
	case 0:
		expr = `\b` + expr
	case 1:
		expr += `\w*`
	case 2:
		expr = "(?:" + expr + "|" + regexp.QuoteMeta(s.stretch(text, 3, 8)) + ")"
	case 3:
		expr += `[ .,(]+\w`
	case 4:
		expr = "(?-i)" + expr
	}
	re, err := regexp.Compile("(?im)" + expr)
	if err != nil || strings.TrimSpace(expr) == "" || strings.HasSuffix(expr, `\`) {
		return asked{}, false
	}
	return asked{"/" + strings.ReplaceAll(expr, "/", `\/`) + "/", func(r *row) truth { return r.read().matches(re) }}, true
}

var unspaced = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー]+|[\x{1f300}-\x{1faff}\x{2600}-\x{27bf}]+`)

// script takes a piece of text that is written without spaces, or emoji.
func (s scribe) script(text string) (asked, bool) {
	all := unspaced.FindAllString(text, -1)
	if len(all) == 0 {
		return asked{}, false
	}
	piece := s.stretch(pick(s, all), 1, 4)
	if s.IntN(4) == 0 {
		return s.phrase(piece, "*", true)
	}
	return s.phrase(piece, "", false)
}

var identity = regexp.MustCompile(`\b[0-9a-f]{4,}(-[0-9a-f]{4,})*\b`)

// id takes the beginning of a hex id or a UUID.
func (s scribe) id(text string) (asked, bool) {
	all := identity.FindAllString(text, -1)
	if len(all) == 0 {
		return asked{}, false
	}
	id := pick(s, all)
	id = id[:3+s.IntN(len(id)-2)]
	return s.phrase(id, "*", true)
}

// conditionOn is a random condition that a value meets, and how a query writes it.
func (s scribe) conditionOn(v string) (condition, string) {
	runes := []rune(v)
	c := condition{v, "whole"}
	switch s.IntN(4) {
	case 0:
		c = condition{string(runes[:1+s.IntN(len(runes))]), "starts"}
	case 1:
		from := s.IntN(len(runes))
		c = condition{string(runes[from : from+1+s.IntN(len(runes)-from)]), "contains"}
	}
	text := quoted(c.text)
	if s.IntN(3) == 0 {
		text = strings.Map(func(r rune) rune {
			if up := unicode.ToUpper(r); unicode.ToLower(up) == r {
				return up
			}
			return r
		}, text)
	}
	return c, map[string]string{"whole": text, "starts": text + "*", "contains": "*" + text + "*"}[c.match]
}

func (s scribe) field(r *row) (asked, bool) {
	names := slices.Sorted(maps.Keys(textFields))
	name := pick(s, names)
	of := textFields[name]
	if plain := name != "id" && name != "path" && name != "source" && name != "conversation" && name != "run"; plain && s.IntN(12) == 0 {
		c, text := condition{match: "any"}, name+":*"
		if s.IntN(2) == 0 && name != "kind" {
			c, text = condition{match: "none"}, name+`:""`
		}
		return asked{text, func(r *row) truth { return c.has(name, of(r)) }}, true
	}
	return s.valued(name, name+":", of, of(r))
}

// valued asks for one or two of some values.
func (s scribe) valued(name, before string, of func(*row) []string, values []string) (asked, bool) {
	if len(values) == 0 {
		return asked{}, false
	}
	var texts []string
	var conditions []condition
	for range 1 + s.IntN(4)/3 {
		v := pick(s, values)
		c, text := s.conditionOn(v)
		public := name == "id" || (name == "run" || name == "conversation") && v == values[0]
		if public {
			c = condition{v, "whole"}
			if text = quoted(v); !strings.Contains(v, ":") {
				c.text = v[:4+s.IntN(len(v)-3)]
				text = quoted(c.text)
			}
		}
		texts, conditions = append(texts, text), append(conditions, c)
	}
	return asked{before + strings.Join(texts, ","), func(r *row) truth {
		best := no
		for _, c := range conditions {
			best = max(best, c.has(name, of(r)))
		}
		return best
	}}, true
}

func (s scribe) attribute(r *row) (asked, bool) {
	if len(r.attrs) == 0 {
		return asked{}, false
	}
	key := pick(s, slices.Sorted(maps.Keys(r.attrs)))
	of := func(r *row) []string { return r.attrs[key] }
	if s.IntN(4) == 0 {
		return asked{"attr:" + quoted(key), func(r *row) truth { return truthOf(len(of(r)) > 0) }}, true
	}
	return s.valued("attr", "attr:"+quoted(key)+"=", of, some(of(r)...))
}

func (s scribe) number(r *row) (asked, bool) {
	name := pick(s, slices.Sorted(maps.Keys(numbers)))
	values, unsure := numbers[name](r)
	if len(values) == 0 || unsure {
		return asked{}, false
	}
	n := pick(s, values) + int64(s.IntN(3)-1)
	if n < 0 {
		return asked{}, false
	}
	op := pick(s, []string{">", ">=", "<", "<=", "="})
	amount := fmt.Sprint(n)
	switch name {
	case "cost":
		amount = fmt.Sprintf("%d.%09d", n/1e9, n%1e9)
	case "duration":
		amount += "us"
	}
	return asked{name + op + amount, func(r *row) truth {
		values, unsure := numbers[name](r)
		if unsure {
			return maybe
		}
		return truthOf(slices.ContainsFunc(values, func(v int64) bool { return compared(v, op, n) }))
	}}, true
}

func (s scribe) time(r *row) (asked, bool) {
	if r.timeless {
		return asked{}, false
	}
	at := time.UnixMicro(r.at + int64(s.IntN(7200)-3600)*1e6).UTC()
	if at.Year() < 1971 || at.Year() > 9000 {
		return asked{}, false
	}
	day := at.Truncate(24 * time.Hour)
	between := func(from, to time.Time) func(*row) truth {
		return func(r *row) truth {
			if r.timeless {
				return maybe
			}
			return truthOf((from.IsZero() || r.at >= from.UnixMicro()) && (to.IsZero() || r.at < to.UnixMicro()))
		}
	}
	stamp := at.Format("2006-01-02T15:04:05Z")
	at = at.Truncate(time.Second)
	switch s.IntN(6) {
	case 0:
		return asked{"after:" + stamp, between(at, time.Time{})}, true
	case 1:
		return asked{"before:" + stamp, between(time.Time{}, at)}, true
	case 2:
		return asked{"on:" + day.Format(time.DateOnly), between(day, day.AddDate(0, 0, 1))}, true
	case 3:
		month := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
		return asked{"during:" + month.Format("2006-01"), between(month, month.AddDate(0, 1, 0))}, true
	case 4:
		to := at.Add(time.Duration(1+s.IntN(100)) * time.Hour)
		return asked{"during:" + stamp + ".." + to.Format("2006-01-02T15:04:05Z"), between(at, to)}, true
	}
	return asked{"after:" + day.Format(time.DateOnly), between(day, time.Time{})}, true
}

// definite makes a question that the naive scan can answer for every row.
func (s scribe) definite(rows []row) asked {
	for {
		if q := s.ask(rows, 1); !slices.ContainsFunc(rows, func(r row) bool { return q.holds(&r) == maybe }) {
			return q
		}
	}
}
