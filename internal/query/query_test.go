package query

import (
	"cmp"
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/txarchive/txarchive/internal/seedtest"
)

var (
	berlin = time.FixedZone("CET", 3600)
	now    = time.Date(2026, 11, 21, 0, 30, 0, 0, berlin) // a Saturday
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

func field(name string, values ...string) Field {
	f := Field{Name: name}
	for _, v := range values {
		f.Values = append(f.Values, Value{Text: v})
	}
	return f
}

var trees = []struct {
	in    string
	want  Node
	print string // "" is in
}{
	{"", nil, ""},
	{" \t\n", nil, " "},
	{"word", Word{"word"}, ""},
	{"a b", And{[]Node{Word{"a"}, Word{"b"}}}, ""},
	{"a AND b", And{[]Node{Word{"a"}, Word{"b"}}}, "a b"},
	{"a b OR c", Or{[]Node{And{[]Node{Word{"a"}, Word{"b"}}}, Word{"c"}}}, "(a b) OR c"},
	{"a (b OR c)", And{[]Node{Word{"a"}, Or{[]Node{Word{"b"}, Word{"c"}}}}}, ""},
	{"a OR(b)", Or{[]Node{Word{"a"}, Word{"b"}}}, "a OR b"},
	{"((a)) (b (c))", And{[]Node{Word{"a"}, Word{"b"}, Word{"c"}}}, "a b c"},
	{"a or b and not c", And{[]Node{Word{"a"}, Word{"or"}, Word{"b"}, Word{"and"}, Word{"not"}, Word{"c"}}}, ""},
	{`"two words"`, Phrase{"two words"}, ""},
	{`“two words” x`, And{[]Node{Phrase{"two words"}, Word{"x"}}}, `"two words" x`},
	{`"a \"b\" \\ C:\new"`, Phrase{`a "b" \ C:\new`}, `"a \"b\" \\ C:\\new"`},
	{"pre*", Prefix{"pre"}, ""},
	{`"two wo"*`, Prefix{"two wo"}, ""},
	{`"two words"~5`, Near{"two words", 5}, ""},
	{`(“a  b c”~0 d) -"a\\ b"~1000`, And{[]Node{Near{"a  b c", 0}, Word{"d"}, Not{Near{`a\ b`, 1000}}}}, `"a  b c"~0 d -"a\\ b"~1000`},
	{`"a b"~ "a b"~x "a b"~3x`, And{[]Node{Phrase{"a b"}, Word{"~"}, Phrase{"a b"}, Word{"~x"}, Phrase{"a b"}, Word{"~3x"}}}, `"a b" ~ "a b" ~x "a b" ~3x`},
	{"*mid*", Substring{"mid"}, ""},
	{"*.py", Substring{".py"}, "*.py*"},
	{`*"a b"*`, Substring{"a b"}, ""},
	{"*", Word{"*"}, ""},
	{"a*b", Word{"a*b"}, ""},
	{`/fo+ b\/r\s/`, Regex{`fo+ b/r\s`}, ""},
	{"/usr/bin/x", Phrase{"/usr/bin/x"}, `"/usr/bin/x"`},
	{"//", Phrase{"//"}, `"//"`},
	{"-a", Not{Word{"a"}}, ""},
	{"NOT a", Not{Word{"a"}}, "-a"},
	{"NOT -a", Word{"a"}, "a"},
	{`-"a b" -/x/ -(a b) -role:user -*x*`, And{[]Node{Not{Phrase{"a b"}}, Not{Regex{"x"}}, Not{And{[]Node{Word{"a"}, Word{"b"}}}}, Not{field("role", "user")}, Not{Substring{"x"}}}}, ""},
	{"NOT --limit", Not{Word{"--limit"}}, ""},
	{"--limit -> - a", And{[]Node{Word{"--limit"}, Word{"->"}, Word{"-"}, Word{"a"}}}, ""},
	{"-OR", Not{Phrase{"OR"}}, `-"OR"`},
	{"main() f(x, y)", And{[]Node{Word{"main()"}, Phrase{"f(x,"}, Phrase{"y)"}}}, `main() "f(x," "y)"`},
	{"(main() OR x)", Or{[]Node{Word{"main()"}, Word{"x"}}}, "main() OR x"},
	{":)", Phrase{":)"}, `":)"`},
	{"50% #123 C++ don't", And{[]Node{Word{"50%"}, Word{"#123"}, Word{"C++"}, Word{"don't"}}}, ""},
	{"数据库 修复bug", And{[]Node{Word{"数据库"}, Word{"修复bug"}}}, ""},
	{"http://x TypeError: x", And{[]Node{Word{"http://x"}, Word{"TypeError:"}, Word{"x"}}}, ""},
	{`C:\x std::vector main.go:42 localhost:8080 status: 500 Role:user`, And{[]Node{
		Word{`C:\x`}, Word{"std::vector"}, Word{"main.go:42"}, Word{"localhost:8080"}, Word{"status:"}, Word{"500"}, Word{"Role:user"}}}, ""},
	{"mailto:me@example.org input=stdin sha256:abc", And{[]Node{Word{"mailto:me@example.org"}, Word{"input=stdin"}, Word{"sha256:abc"}}}, ""},
	{"role:user,assistant", field("role", "user", "assistant"), ""},
	{`tool:"a, b",Bash`, field("tool", "a, b", "Bash"), ""},
	{"kind:Tool-Result", field("kind", "tool_result"), "kind:tool_result"},
	{`model:claude-* path:*src* tool:* project:""`, And{[]Node{
		Field{Name: "model", Values: []Value{{"claude-", Starts}}}, Field{Name: "path", Values: []Value{{"src", Contains}}},
		Field{Name: "tool", Values: []Value{{"", Starts}}}, Field{Name: "project", Values: []Value{{"", Whole}}}}}, `model:claude-* path:*src* tool:* project:""`},
	{`path:*"a b"* path:"a b"*`, And{[]Node{Field{Name: "path", Values: []Value{{"a b", Contains}}}, Field{Name: "path", Values: []Value{{"a b", Starts}}}}}, ""},
	{"attr:stop_reason=max_tokens,end", Field{Name: "attr", Key: "stop_reason", Values: []Value{{Text: "max_tokens"}, {Text: "end"}}}, ""},
	{`attr:mode attr:"a b"=c`, And{[]Node{Field{Name: "attr", Key: "mode"}, Field{Name: "attr", Key: "a b", Values: []Value{{Text: "c"}}}}}, ""},
	{"id:3f9c:12.1", field("id", "3f9c:12.1"), ""},
	{"is:error has:cost", And{[]Node{field("is", "error"), field("has", "cost")}}, ""},
	{"(role:user)", field("role", "user"), "role:user"},
	{"cost>0.5", Compare{"cost", ">", 500_000_000}, ""},
	{"cost:<=$1", Compare{"cost", "<=", 1_000_000_000}, "cost<=1"},
	{"tokens>=10k", Compare{"tokens", ">=", 10_000}, "tokens>=10000"},
	{"input:5 output=1.5M", And{[]Node{Compare{"input", "=", 5}, Compare{"output", "=", 1_500_000}}}, "input=5 output=1500000"},
	{"duration>1h30m duration<250ms", And{[]Node{Compare{"duration", ">", 5400e6}, Compare{"duration", "<", 250e3}}}, "duration>5400s duration<0.25s"},
}

func TestParse(t *testing.T) {
	for _, c := range trees {
		tree, err := Parse(c.in, now, berlin)
		if err != nil || !reflect.DeepEqual(tree.Root, c.want) {
			t.Errorf("%q: %#v, %v; want %#v", c.in, tree, err, c.want)
			continue
		}
		want := c.print
		if want == "" {
			want = c.in
		}
		if got := tree.String(); got != strings.TrimSpace(want) {
			t.Errorf("%q prints as %q, want %q", c.in, got, want)
		}
		roundTrip(t, c.in)
	}
}

func TestTimes(t *testing.T) {
	day := func(d string) time.Time { return at(d + "T00:00:00+01:00") }
	for _, c := range []struct {
		in       string
		from, to time.Time
	}{
		{"after:2026-11-20", day("2026-11-20"), time.Time{}},
		{"before:2026-11", time.Time{}, day("2026-11-01")},
		{"on:2026-11-20", day("2026-11-20"), day("2026-11-21")},
		{"during:2026-11", day("2026-11-01"), day("2026-12-01")},
		{"during:2026", day("2026-01-01"), day("2027-01-01")},
		{"during:2026-11-20T10", at("2026-11-20T10:00:00+01:00"), at("2026-11-20T11:00:00+01:00")},
		{"during:2026-11-20T10:00", at("2026-11-20T10:00:00+01:00"), at("2026-11-20T10:01:00+01:00")},
		{`on:"2026-11-20 10:00Z"`, at("2026-11-20T10:00:00Z"), at("2026-11-20T10:01:00Z")},
		{"during:2026-10..2026-11", day("2026-10-01"), day("2026-12-01")},
		{"during:2026-10..", day("2026-10-01"), time.Time{}},
		{"during:..2026-10", time.Time{}, day("2026-11-01")},
		{"after:7d", at("2026-11-14T00:30:00+01:00"), time.Time{}},
		{"before:3h", time.Time{}, at("2026-11-20T21:30:00+01:00")},
		{"during:2w", at("2026-11-07T00:30:00+01:00"), at("2026-11-21T00:30:00+01:00")},
		{"after:6mo", at("2026-05-21T00:30:00+01:00"), time.Time{}},
		{"after:1y2d", at("2025-11-19T00:30:00+01:00"), time.Time{}},
		{"after:604800s", at("2026-11-14T00:30:00+01:00"), time.Time{}},
		{"before:3000000h", time.Time{}, at("1684-08-24T23:30:00Z")},
		{"during:2d..1d", at("2026-11-19T00:30:00+01:00"), at("2026-11-20T00:30:00+01:00")},
		{"on:today", day("2026-11-21"), day("2026-11-22")},
		{"on:yesterday", day("2026-11-20"), day("2026-11-21")},
		{"during:this-week", day("2026-11-16"), day("2026-11-23")},
		{"during:last-week", day("2026-11-09"), day("2026-11-16")},
		{"on:Thursday", day("2026-11-19"), day("2026-11-20")},
		{"on:friday", day("2026-11-20"), day("2026-11-21")},
		{"on:last-saturday", day("2026-11-14"), day("2026-11-15")},
		{"after:tuesday", day("2026-11-17"), time.Time{}},
		{"during:last-month", day("2026-10-01"), day("2026-11-01")},
		{"before:this-month", time.Time{}, day("2026-11-01")},
		{"during:last-year", day("2025-01-01"), day("2026-01-01")},
		{"after:this-year", day("2026-01-01"), time.Time{}},
		{"before:now", time.Time{}, at("2026-11-21T00:30:00+01:00")},
	} {
		tree, err := Parse(c.in, now, berlin)
		if err != nil || !reflect.DeepEqual(tree.Root, Node(Range{c.from, c.to})) {
			t.Errorf("%q: %v, %v", c.in, tree, err)
		}
		roundTrip(t, c.in)
	}
	if tree, err := Parse("after:1h", now.Add(632*time.Millisecond), berlin); err != nil || tree.String() != "after:2026-11-20T22:30:00Z" {
		t.Errorf("an age begins at a second: %v, %v", tree, err)
	}
	for shift, first := range []string{"2026-11-16", "2026-11-17", "2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21", "2026-11-15"} { // Monday to Sunday
		tree, err := Calendar{Now: now, Location: berlin, WeekShift: shift}.Parse("during:last-week..this-week")
		if want := (Range{day(first).AddDate(0, 0, -7).UTC(), day(first).AddDate(0, 0, 7).UTC()}); err != nil || tree.Root != Node(want) {
			t.Errorf("weeks that begin %d days after Monday: %v, %v, want %v", shift, tree, err, want)
		}
	}
}

func TestTypedTimes(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct{ in, want string }{
		{"x after:7d", ""},
		{"(on:today OR before:2026-10) NOT during:2026-01..2026-03", "(on:today OR before:2026-10) -during:2026-01..2026-03"},
		{`on:"2026-11-20 10:00" after:1h`, "during:2026-11-20T10:00:00Z..2026-11-20T10:01:00Z after:1h"},
	} {
		tree, err := Parse(c.in, now, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if got := FindTypedTimes(c.in, now, time.UTC).Print(tree); got != cmp.Or(c.want, c.in) {
			t.Errorf("%q: %q", c.in, got)
		}
	}
}

// TestNoMidnight: where clocks are put forward at midnight, a day begins an hour later, and the one before ends then.
func TestNoMidnight(t *testing.T) {
	for zone, days := range map[string][]struct{ in, from, to string }{
		"America/Sao_Paulo": {
			{"on:2018-11-03", "2018-11-03T03:00:00Z", "2018-11-04T03:00:00Z"},
			{"on:2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
			{"on:2018/11/04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
			{"on:today", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		},
		"Asia/Beirut": {{"on:2021-03-28", "2021-03-27T22:00:00Z", "2021-03-28T21:00:00Z"}},
		"America/Havana": {
			{"during:2021-03-14..2021-03-14", "2021-03-14T05:00:00Z", "2021-03-15T04:00:00Z"},
			{"on:2021-11-07", "2021-11-07T04:00:00Z", "2021-11-08T05:00:00Z"}, // two midnights
		},
	} {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range days {
			tree, err := Parse(c.in, at("2018-11-04T15:00:00Z"), loc)
			if err != nil || !reflect.DeepEqual(tree.Root, Node(Range{at(c.from), at(c.to)})) {
				t.Errorf("%s in %s: %v, %v", c.in, zone, tree, err)
			}
		}
	}
}

// TestMonthsBefore: a month has no day after its last.
func TestMonthsBefore(t *testing.T) {
	for _, c := range []struct{ now, in, from string }{
		{"2026-03-31T12:00:00Z", "after:1mo", "2026-02-28T12:00:00Z"},
		{"2028-03-31T12:00:00Z", "after:1mo", "2028-02-29T12:00:00Z"},
		{"2028-02-29T12:00:00Z", "after:1y", "2027-02-28T12:00:00Z"},
		{"2026-12-31T12:00:00Z", "after:13mo", "2025-11-30T12:00:00Z"},
		{"2026-01-15T12:00:00Z", "after:25mo", "2023-12-15T12:00:00Z"},
		{"2026-03-31T12:00:00Z", "after:1mo1d", "2026-02-27T12:00:00Z"},
	} {
		tree, err := Parse(c.in, at(c.now), time.UTC)
		if err != nil || !reflect.DeepEqual(tree.Root, Node(Range{From: at(c.from)})) {
			t.Errorf("%s at %s: %v, %v", c.in, c.now, tree, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		in     string
		column int
		hint   string // part of the message or hint
	}{
		{"rol:user", 1, "did you mean role:"},
		{"数据 tol:Bash", 4, "did you mean tool:"},
		{"a -modle:x", 4, "did you mean model:"},
		{"file:main.go", 1, "touches:"},
		{"since:7d", 1, "did you mean after:"},
		{"nonsense:foo", 1, "docs/query-language.md lists them; to search for the text, quote it"},
		{"befor:2026-11-20", 1, "did you mean before:"},
		{"cots>0.5", 1, "did you mean cost>"},
		{"tokns:5", 1, "did you mean tokens>"},
		{"/[/", 1, "missing closing ]"},
		{"foo:bar", 1, `unknown field "foo"`},
		{`a "b`, 3, "unclosed quote"},
		{"(a b", 1, "unclosed bracket"},
		{"a ()", 3, "quote"},
		{"a OR", 3, `"OR"`},
		{"OR a", 1, `"OR"`},
		{"a OR OR b", 6, "before OR"},
		{"a AND", 3, `"AND"`},
		{"a AND AND b", 7, "before AND"},
		{"(a OR )", 4, `"OR"`},
		{"NOT", 1, `"NOT"`},
		{`""`, 1, "quotes"},
		{`x "word"~3`, 3, "only one"},
		{`"a b c d e"~3`, 1, "at most 4 words"},
		{`"a b"~1001`, 6, "at most 1000 apart"},
		{`"a b"~99999999999999999999`, 6, "at most 1000 apart"},
		{"x /a(/", 3, "missing closing )"},
		{"kind:toolcall", 6, "tool_call"},
		{"is:pined", 4, "pinned"},
		{"outcome:ok", 9, "succeeded"},
		{"role:user,", 11, "value is missing"},
		{`tool:"a"b`, 9, "comma"},
		{`model:claude-*4-5*`, 7, `model:claude-* matches the start, model:*4-5* matches any part, model:"claude-*4-5*" matches`},
		{`path:**/*.go`, 6, `path:*.go* matches any part, path:"**/*.go" matches`},
		{`role:user,a*b`, 11, "at both ends"},
		{`path:**/x`, 6, "path:*/x*"},
		{"attr:=x", 6, "value is missing"},
		{"after:someday", 7, "yesterday"},
		{"after:100000000y", 7, "not a date"},
		{"after:99999999h", 7, "not a date"},
		{"after:999999999s", 7, "not a date"},
		{"before:1M", 8, "6mo"},
		{"after:2026-13", 7, "2026-11-20"},
		{"after:0001-01-01", 7, "not a date"},
		{"after:2026-11..2026-12", 7, "during:"},
		{"during:2026-12..2026-11", 8, "earlier"},
		{"cost>lots", 6, "cost>0.5"},
		{"cost>", 6, "cost>0.5"},
		{"tokens>1.5", 8, "tokens"},
		{"duration>3 parsecs duration>3parsecs", 29, "30s"},
		{"events>99999999999999999999", 8, "events>10"},
		{strings.Repeat("(", 1000), MaxDepth + 1, "64 levels"},
		{strings.Repeat("NOT ", 1000), 4*MaxDepth + 1, "64 levels"},
		{strings.Repeat("x", MaxLength+1), 1, "too long"},
		{strings.Repeat("x ", MaxConditions+1), 1, "too many"},
	} {
		tree, err := Parse(c.in, now, berlin)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.60q: no error but %v", c.in, tree)
			continue
		}
		if syntax.Column != c.column || !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%.60q: column %d, %v; want %d, %q", c.in, syntax.Column, err, c.column, c.hint)
		}
	}
}

func TestFields(t *testing.T) {
	for _, f := range Fields() {
		tree, err := Parse(f.Example, now, berlin)
		if err != nil || f.Help == "" {
			t.Errorf("%s: example %q: %v", f.Name, f.Example, err)
			continue
		}
		switch n := tree.Root.(type) {
		case Field:
			if f.Type != Text || n.Name != f.Name {
				t.Errorf("%s: example gives %#v", f.Name, n)
			}
		case Compare:
			if f.Type != Number || n.Field != f.Name {
				t.Errorf("%s: example gives %#v", f.Name, n)
			}
		case Range:
			if f.Type != Time {
				t.Errorf("%s: example gives %#v", f.Name, n)
			}
		default:
			t.Errorf("%s: example gives %#v", f.Name, n)
		}
		if got := nearest(f.Name[:len(f.Name)-1] + "q"); len(f.Name) > 5 && !strings.HasPrefix(got, f.Name) {
			t.Errorf("nearest to %s is %s", f.Name, got)
		}
	}
}

func TestMeant(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"model=gpt", "model:gpt model:*gpt*"},
		{"model==gpt-*", "model:gpt-*"},
		{"Tool:Bash", "tool:Bash tool:*Bash*"},
		{"kind=message", "kind:message"},
		{"after>2026", "after:2026"},
		{"after:>=2026-11", "after:2026-11"},
		{"before<7d", "before:7d"},
		{"on>2026", "after:2026"},
		{"on<=2026", "before:2026"},
		{"during=2026", "during:2026"},
		{"Cost>5", "cost>5"},
		{"Tokens==5", "tokens=5"},
		{"model>gpt", ""},
		{"colour=red", ""},
		{"model=", ""},
		{"from::to", ""},
		{"a=b", ""},
		{"http://from=x", ""},
	} {
		if got := strings.Join(Meant(c.word), " "); got != c.want {
			t.Errorf("%s: %s", c.word, got)
		}
	}
}

func TestTexts(t *testing.T) {
	tree, err := Parse(`a "b c" -d -(e -f*) (g OR /h/) role:user`, now, berlin)
	if err != nil {
		t.Fatal(err)
	}
	want := []Node{Word{"a"}, Phrase{"b c"}, Prefix{"f"}, Word{"g"}, Regex{"h"}}
	if got := tree.Texts(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// roundTrip checks what must hold of any text: a tree that prints to itself, elsewhere and later too, or a
// syntax error within the text.
func roundTrip(t *testing.T, text string) {
	t.Helper()
	tree, err := Parse(text, now, berlin)
	if err != nil {
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Column < 1 || syntax.Column > len([]rune(text))+1 || syntax.Message == "" {
			t.Errorf("%q: bad error %v", text, err)
		}
		return
	}
	printed := tree.String()
	if len(printed) > MaxLength { // quotes and times make it longer
		return
	}
	again, err := Parse(printed, now.AddDate(1, 0, 0), time.UTC)
	if err != nil || !reflect.DeepEqual(again, tree) {
		t.Errorf("%q\n prints as %q\n tree  %#v\n again %#v, %v", text, printed, tree, again, err)
	}
}

func TestRandomQueries(t *testing.T) {
	pieces := []string{
		"a", "word", "OR", "AND", "NOT", "-", "(", ")", `"`, `"x y"`, "“", "”", "*", "/", `\`, "/re+/", "role:", "user", ",", "attr:", "k=", "=", "cost", ">", "0.5",
		"after:", "7d", "2026-11", "..", "during:", "today", ":", "http://x", "数", "\n", "\x00", "\xff", "tool:B*", "kind:error", " ", " ", " ", " ", "duration<1h", "'", "👍",
	}
	r := seedtest.Rand(t)
	for range 50000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		if roundTrip(t, b.String()); t.Failed() {
			return
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range trees {
		f.Add(c.in)
	}
	f.Fuzz(roundTrip)
}

// docs/query-language.md names every field, and every query in its tables' first columns is understood.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/query-language.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Fields() {
		if f.Type == Text && !strings.Contains(string(text), "| `"+f.Name+"` | ") || !strings.Contains(string(text), f.Example) {
			t.Errorf("field %s or its example %s is not in the document", f.Name, f.Example)
		}
		for _, v := range f.Values {
			if !strings.Contains(string(text), "`"+v+"`") {
				t.Errorf("%s:%s is not in the document", f.Name, v)
			}
		}
	}
	code := regexp.MustCompile("`[^`]+`")
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		if len(cells) < 2 || !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, q := range code.FindAllString(cells[0], -1) {
			q = strings.Trim(q, "`")
			if strings.HasSuffix(q, ">") { // the name of a number field
				q += "1"
			}
			if _, err := Parse(q, now, berlin); err != nil {
				t.Errorf("%s: %v", q, err)
			}
		}
	}
}

func TestTimesOffered(t *testing.T) {
	for _, s := range Times() {
		if _, err := Parse("during:"+s, time.Now(), nil); err != nil {
			t.Error(err)
		}
	}
}
