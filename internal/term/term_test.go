package term

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/seedtest"
)

var words = []struct{ in, want string }{
	{"", ""},
	{"--- !?. \x00\n", ""},
	{"Hello, World", "hello world"},
	{"src/health.py", "src health py"},
	{`C:\Users\Ann`, "c users ann"},
	{"数据库", "数 据 库"},
	{"修复bug，请看", "修 复 bug 请 看"},
	{"pane_pid kebab-case dotted.name", "pane pid kebab case dotted name"},
	{"TypeError: x", "typeerror|<type|>error x"},
	{"v1.2.3", "v1|<v|>1 2 3"},
	{"50% #123 C++ don't", "50 123 c don t"},
	{"don’t", "don t"},
	{"parseConfig", "parseconfig|<parse|>config"},
	{"HTTPServer2", "httpserver2|<http|<httpserver|=server|>server2|>2"},
	{"ABc aB Ab AB iPhone", "abc|<a|>bc ab|<a|>b ab ab iphone|<i|>phone"},
	{"2026-11-20T23:51:14.123Z took 12ms 1.5GB", "2026 11 20t23|<20|>23 51 14 123z|<123 took 12ms|<12 1 5gb|<5"},
	{"0x1fA 0Xdeadbeef 1x2y3 1e9xyz 404Error 10км", "0x1fa 0xdeadbeef 1x2y3|<1|>3 1e9xyz|<1|<1e|<1e9|=e|=e9|>e9xyz|=9|>9xyz|>xyz 404error|<404|>error 10км|<10"},
	{"sha256sum utf8", "sha256sum|<sha|<sha256|=256|>256sum|>sum utf8|<utf|>8"},
	{"fooFoo fooFooFoo", "foofoo|<foo|>foo foofoofoo|<foo|<foofoo|=foo|>foofoo|>foo"},
	{"aBcDeFgHiJkL", "abcdefghijkl"},
	{"ÉtéÀParis", "eteaparis|<ete|<etea|=a|>aparis|>paris"},
	{"a3f9c1b2 550e8400-e29b-41d4-a716-446655440000", "a3f9c1b2 550e8400 e29b 41d4 a716|<a|>716 446655440000"},
	{"toolu_01XyZaB3dE5fG", "toolu 01xyzab3de5fg"},
	{"Crème Brûlée Übergröße ŁÓDŹ Ærø", "creme brulee ubergrosse lodz aero"},
	{"Cre\u0300me", "creme"},
	{"Ёлка Йод Σίσυφος ΣΊΣΥΦΟΣ ᾼ", "елка иод σισυφοσ σισυφοσ α"},
	{"İstanbul ISTANBUL ıstanbul", "istanbul istanbul istanbul"},
	{"Ｆｕｌｌ１２ ﬁne 𝐛𝐨𝐥𝐝 x² K", "full12|<full|>12 fine bold x2 k"},
	{"はがば ハガパ は\u3099 か\u3099 ﾊﾞｶﾟｱｰ", "は が ば ハ ガ パ ば が バ カ ア ー"},
	{"한글 \u1112\u1161\u11ab\u1100\u1173\u11af ㅋㅋ 하\u11ab", "한 글 한 글 ㅋ ㅋ 한"},
	{"㍿ ㎏ 5㎏ 10㋀ ㈱① ™ Foo™", "株 式 会 社 kg 5 kg 10 1 月 株 1 tm foo tm"},
	{"々〆〇ー", "々 〆 〇 ー"},
	{"ok👍🏽 👨‍👩‍👧 ❤️x ✓ 🇩🇪 1️⃣", "ok 👍 🏽 👨 👩 👧 ❤ x ✓ 🇩 🇪 1"},
	{"→ │ ░ ⠋ € ∑ © ®", ""},
	{"ภาษาไทย ที่นี่", "ภาษาไทย ที่นี่"},
	{"شَمْس آب مـرحبا", "شمس اب مرحبا"},
	{"שָׁלוֹם", "שלום"},
	{"हिन्दी क़लम क\u093cलम", "हिन्दी क\u093cलम क\u093cलम"},
	{"a\x00b\xffc\ufffdd\u2028e\xed\xa0\x80f", "a b c d e f"},
	{"co\u00adoperate \ufeffbom می\u200cخواهم", "cooperate bom میخواهم"},
	{"\x1b[31mwarning\x1b[0m:\x1b[1;38;5;9m fooBar\x1b[K x", "warning foobar|<foo|>bar x"},
	{"\x1b[31 m \x1b31x \x1b[\x1b[31 \x1b[" + strings.Repeat(";", 70) + "on off\x1b[", "31 m 31x|<31 31 on off"},
	{`one\ntwo\tThree\r\n four \\next C:\new\tables \name \n1`, "one ntwo|two tthree|<t|>three|three r n four next|ext c new|ew tables|ables name|ame n1|<n|>1|1"},
	{`\nparseConfig \nHTTPServer \nNNn \nN \xno \bno n\`, "nparseconfig|<nparse|>config|parseconfig|<parse nhttpserver|<n|<nhttp|=http|>httpserver|>server|httpserver|<http " +
		"nnnn|<n|<nn|=n|>nnn|>nn|nnn nn|<n|>n|n xno bno n"},
	{`\nécole \nÉtéParis \n字 \t́a`, "necole|ecole neteparis|<n|<nete|=ete|>eteparis|>paris|eteparis|<ete n 字 ta"},
	{`\n` + strings.Repeat("ab", 40), "n" + strings.Repeat("ab", 31) + "a b" + strings.Repeat("ab", 8)},
	{strings.Repeat("ab", 40), strings.Repeat("ab", 32) + " " + strings.Repeat("ab", 8)},
	{strings.Repeat("é", 70), strings.Repeat("e", 64) + " eeeeee"},
	{strings.Repeat("ж", 40), strings.Repeat("ж", 32) + " " + strings.Repeat("ж", 8)},
}

// split gives the terms of a text as the tables write them: bars stand for Same.
func split(s *Splitter, text string) string {
	return strings.ReplaceAll(string(s.Split(nil, text)), string(Same), "|")
}

// wordsOf leaves out the parts.
func wordsOf(terms string) []string {
	var words []string
	for w := range strings.FieldsSeq(terms) {
		w, _, _ = strings.Cut(w, "|")
		words = append(words, w)
	}
	return words
}

func TestWords(t *testing.T) {
	var s Splitter
	for _, w := range words {
		if got := split(&s, w.in); got != w.want {
			t.Errorf("%q: %q, want %q", w.in, got, w.want)
		}
		if got := Words(w.in); !slices.Equal(got, wordsOf(w.want)) || (len(got) == 0) != (got == nil) {
			t.Errorf("Words(%q) = %q, want %q", w.in, got, w.want)
		}
	}
}

func TestSplitAppends(t *testing.T) {
	var s Splitter
	a := s.Split([]byte("one"), "parseConfig")
	a = s.Split(a, "...")
	a = s.Split(a, "x1")
	if string(a) != "one parseconfig\x01<parse\x01>config x1\x01<x\x01>1" {
		t.Errorf("%q", a)
	}
}

func TestSequences(t *testing.T) {
	for _, c := range []struct {
		words string
		open  bool
		want  string
	}{
		{"", false, ""},
		{"name", false, "name; <name; >name; =name"},
		{"name", true, "name; >name; =name"},
		{"a b c", false, "a b c; >a b c; a b <c; >a b <c"},
		{"a b", true, "a b; >a b"},
		{"数 据", false, "数 据"},
		{"数 x", false, "数 x; 数 <x"},
		{"👍", false, "👍"},
	} {
		var got []string
		for _, s := range Sequences(strings.Fields(c.words), c.open) {
			got = append(got, strings.Join(s, " "))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%q %v: %q, want %q", c.words, c.open, got, c.want)
		}
	}
}

func TestBlob(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	blob := make([]byte, 4000)
	for i := range blob {
		blob[i] = alphabet[r.IntN(64)]
	}
	path := strings.Repeat("/usr/local/lib/some-package_name/sub", 20)
	for _, c := range []struct {
		in      string
		skipped int64
	}{
		{"see data:image/png;base64," + string(blob) + "== end of it", 4000 - 64},
		{"see " + string(blob) + " end of it", 4000 - 64},
		{"see " + string(blob[:200]) + " end of it", 0},
		{"see data:image/png;base64," + strings.Repeat("AAAA/", 100) + " end of it", 500 - 64},
		{"see " + strings.Repeat("x", 1000) + " end of it", 1000 - 64},
		{"see " + path + " end of it", 0},
		{"see " + strings.Repeat("ClassLinePtrClassMacPtr", 20) + " end of it", 0},
		{strings.Repeat("some words and someIdentifier_names ", 50) + " end of it", 0},
	} {
		var s Splitter
		terms := strings.Join(wordsOf(split(&s, c.in)), " ")
		if s.skipped != c.skipped && s.skipped != c.skipped-1 {
			t.Errorf("%.40q: skipped %d, want %d", c.in, s.skipped, c.skipped)
		}
		if !strings.HasSuffix(terms, " end of it") || len(terms) > len(c.in)-int(c.skipped)+len(c.in)/MaxTerm {
			t.Errorf("%.40q: terms %.200q (%d bytes)", c.in, terms, len(terms))
		}
		if again := strings.Join(wordsOf(split(&s, c.in)), " "); again != terms {
			t.Error("a second pass differs")
		}
	}
}

// Every code point: its terms hold no byte that FTS5 would cut at, and folding them again changes nothing.
func TestEveryRune(t *testing.T) {
	var s Splitter
	for r := rune(0); r <= unicode.MaxRune; r++ {
		one := strings.Join(wordsOf(split(&s, string(r))), " ")
		two := strings.Join(wordsOf(split(&s, one)), " ")
		if one != two {
			t.Errorf("%U: %q folds to %q", r, one, two)
		}
		check(t, one)
		if r != utf8.RuneError && unicode.In(r, unicode.L, unicode.Nd) && len(one) == 0 && !dropped(r) {
			t.Errorf("%U: a letter or digit without a term", r)
		}
	}
}

func check(t *testing.T, terms string) {
	t.Helper()
	if terms == "" {
		return
	}
	for term := range strings.SplitSeq(terms, " ") {
		if term == "" || len(term) > MaxTerm || !utf8.ValidString(term) {
			t.Errorf("bad term %q in %q", term, terms)
		}
		for i := range len(term) {
			if c := term[i]; c < utf8.RuneSelf && kinds[c]&(lower|digit) == 0 {
				t.Errorf("byte %q in term %q", c, term)
			}
		}
	}
}

// The table's outputs must follow the rules of fold.go.
func TestTable(t *testing.T) {
	table := map[rune]string{}
	for _, p := range foldTable {
		for i, to := range foldsOf(p.page) {
			if to != "" {
				table[p.page<<8|rune(i)] = to
			}
		}
	}
	if len(table) < 5000 {
		t.Fatalf("only %d entries", len(table))
	}
	for r, to := range table {
		for _, o := range to {
			if stripped(o) || unicode.ToLower(unicode.ToUpper(o)) != o || table[o] != "" {
				t.Errorf("%U folds to %q, which holds %U", r, to, o)
			}
		}
	}
}

// pieces are what random texts are made of.
var pieces = []string{
	"the", "Error", "parseConfig", "HTTPServer2", "src/health.py", "pane_pid", "v1.2.3", "数据库", "修复", "バグ", "ﾊﾞｸﾞ", "は\u3099",
	"한글", "\u1112\u1161\u11ab", "Ünïcödé", "Cre\u0300me", "Straße", "ΣΊΣΥΦΟΣ", "ёлка", "👍🏽", "👨‍👩‍👧", "❤️", "㍿", "５０％", "don't", "50%", "C++",
	"ภาษาไทย", "हिन्दी", "שָׁלוֹם", "مرحبا", "a3f9c1b2", "\x00", "\xff", "\u2028", "\ufffd", "_", "-", "/", ".", "\n", " ", " ", " ", "x", "7", "\x1b", "\x1b[1;31m",
	"co\u00adop", `\n`, `\t`, "AbcAbdAbcAbeAbdAbcAbfAbdAbcAbe", strings.Repeat("Long", 20), strings.Repeat("ж", 50),
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(30) {
		b.WriteString(pieces[r.IntN(len(pieces))])
		if r.IntN(2) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func TestRandomTexts(t *testing.T) {
	r := seedtest.Rand(t)
	for range 20000 {
		text := randomText(r)
		a, b := r.IntN(len(text)+1), r.IntN(len(text)+1)
		if properties(t, text, min(a, b), max(a, b)); t.Failed() {
			return
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, w := range words {
		f.Add(w.in, 0, len(w.in))
	}
	f.Fuzz(func(t *testing.T, text string, a, b int) {
		a, b = min(max(a, 0), len(text)), min(max(b, 0), len(text))
		properties(t, text, min(a, b), max(a, b))
	})
}

// properties checks all that must hold of a text and of the piece of it between two offsets.
func properties(t *testing.T, text string, a, b int) {
	t.Helper()
	var s Splitter
	terms := split(&s, text)
	skipped := s.skipped
	check(t, strings.NewReplacer("|<", " ", "|>", " ", "|=", " ", "|", " ").Replace(terms))
	var want []string
	from := 0
	s.Each(text, func(term []byte, start, end int, kind Kind) bool {
		if start < from && kind == Whole || end <= start || end > len(text) || !boundary(text, start) || !boundary(text, end) {
			t.Errorf("%q: term %q at %d-%d", text, term, start, end)
		}
		sign := ""
		if kind > Unescaped {
			sign = string(kind)
		}
		if kind == Whole {
			want = append(want, string(term))
			from = start
		} else if n := len(want) - 1; !slices.Contains(strings.Split(want[n], "|"), sign+string(term)) {
			want[n] += "|" + sign + string(term)
		}
		return true
	})
	if got := strings.Join(want, " "); got != terms {
		t.Errorf("%q: Split %q, Each %q", text, terms, got)
	}
	plain := strings.Join(wordsOf(terms), " ")
	if again := split(&s, plain); skipped == 0 && !slices.Equal(wordsOf(again), wordsOf(terms)) {
		t.Errorf("%q: folding again: %q, then %q", text, terms, again)
	}
	found(t, text, plain, skipped, a, b)
}

// boundary reports whether i is no place inside a character.
func boundary(text string, i int) bool {
	return i == len(text) || utf8.RuneStart(text[i]) || !utf8.ValidString(text)
}

// found checks that the piece between a and b, widened to the ends of words, is a phrase of the text and is highlighted.
func found(t *testing.T, text, terms string, skipped int64, a, b int) {
	for a > 0 && !between(text, a) {
		a--
	}
	for b < len(text) && !between(text, b) {
		b++
	}
	for i := nextEscape(text, 0); i < len(text); i = nextEscape(text, i) {
		next := skipEscape(text, i)
		if next > i+1 && i < a && a < next { // a piece of a sequence looks like a word
			a = i
		}
		if next > i+1 && i < b && b < next {
			b = next
		}
		i = next
	}
	query := Words(text[a:b])
	var s Splitter
	if s.Split(nil, text[a:b]); len(query) == 0 || skipped+s.skipped > 0 {
		return
	}
	if !strings.Contains(" "+terms+" ", " "+strings.Join(query, " ")+" ") {
		t.Errorf("%q: %q from %d-%d is not in %q", text, query, a, b, terms)
	}
	spans := Highlight(text, [][]string{query})
	if len(spans) == 0 {
		t.Errorf("%q: %q is not highlighted", text, query)
	}
	if first, _ := s.next(nil, text, a); a < b && first.start == a && first.end-a <= 9 && first.escaped(text) { // short: in one term
		query := Words(text[a+1 : b])
		if spans := Highlight(text, [][]string{query}); len(spans) == 0 {
			t.Errorf("%q: %q behind an escape is not highlighted", text, query)
		}
	}
	for i, sp := range spans {
		if sp.Start >= sp.End || i > 0 && sp.Start < spans[i-1].End || !boundary(text, sp.Start) || !boundary(text, sp.End) {
			t.Errorf("%q: spans %v", text, spans)
		}
	}
	for _, width := range []int{0, 10, 40} {
		start, end := Window(text, spans, width)
		if start < 0 || start > end || end > len(text) || !boundary(text, start) || !boundary(text, end) {
			t.Errorf("%q: window %d-%d", text, start, end)
		}
	}
}

// between is the naive rule for where a text may be cut: beside a character that is no letter, number or mark,
// or beside a Chinese or Japanese one, but not before a mark or joiner.
func between(text string, i int) bool {
	if !utf8.RuneStart(text[min(i, len(text)-1)]) {
		return false
	}
	before, n := utf8.DecodeLastRuneInString(text[:i])
	after, m := utf8.DecodeRuneInString(text[i:])
	if n == 1 && before == utf8.RuneError || m == 1 && after == utf8.RuneError {
		return utf8.ValidString(text)
	}
	word := func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.N, unicode.M) || unicode.Is(unicode.Cf, r)
	}
	ideograph := func(r rune) bool {
		return r >= 0x4e00 && r < 0x9fff || r >= 0x3041 && r <= 0x30ff && !unicode.Is(unicode.M, r) // a voicing mark may stand at any letter
	}
	if unicode.Is(unicode.M, after) || unicode.In(after, unicode.Cf) || unicode.Is(unicode.Cf, before) || after == 0xff9e || after == 0xff9f {
		return false
	}
	return !word(before) || !word(after) || ideograph(before) || ideograph(after)
}

// TestHighlightByChunks compares the matches found chunk by chunk, skipping pieces without the terms, with those
// found in the whole text.
func TestHighlightByChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"parseConfig", "config", "CONFIG", "con", "fig", "Config2", "conf\u0131g", "c\u00f4nfig", "\x1b[31mconfig", "\x1b[3", "HTTPconfigServer",
		"\n", "\n", "\n", " ", " ", "\t", "\\n", "\\tconfig", "\u2192", "\x1b", "\x1b[ 31mconfig", "_", "a", "Z", "9", "\xff", "\u4e2d", "\u212a", "config\u0301", "data:x;base64,", strings.Repeat("aB3", 90), strings.Repeat("x", 300), "config" + strings.Repeat("Y", 60)}
	for range 2000 {
		var b strings.Builder
		for range r.IntN(400) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := b.String()
		phrases := [][][]string{{{"config"}}, {{"con*"}}, {{"config"}, {"fig"}}, {{"k*"}}, {{"config2"}, {"\u4e2d"}}, {{"9"}}, {{"zcon"}}}[r.IntN(7)]
		m := newMatcher(phrases)
		var s Splitter
		s.Each(text, func(term []byte, start, end int, kind Kind) bool {
			m.term(term, Span{start, end}, kind)
			return true
		})
		if want, got := Merge(m.found), Highlight(text, phrases); !slices.Equal(want, got) {
			t.Fatalf("%q in %q: %v, not %v", phrases, text, got, want)
		}
	}
}

func TestHighlight(t *testing.T) {
	for _, c := range []struct {
		text    string
		phrases string // phrases by ';', terms by ' '
		want    []string
	}{
		{"Run src/health.py, then SRC health py", "src health py", []string{"src/health.py", "SRC health py"}},
		{"parseConfig and config", "config", []string{"Config", "config"}},
		{"parseConfig and config", "parse config", nil},
		{"parseConfig and Parse config", "parse config", []string{"Parse config"}},
		{"fileName string", "name string", []string{"Name string"}},
		{"the fileName stringValue", "name string", []string{"Name string"}},
		{"TestReadFile", "readfile", []string{"ReadFile"}},
		{"sha256sum", "sha256", []string{"sha256"}},
		{"a fooFoo b", "foo foo", nil},
		{"fileName string", "file string", nil},
		{"a stringName b", "string b", nil},
		{"a nameString b", "a name", []string{"a name"}},
		{"foo fooFoo bar", "foo foo bar", nil},
		{"a a a b", "a a b", []string{"a a b"}},
		{"a a a", "a a", []string{"a a a"}},
		{"备份数据库失败", "数 据 库;失 败", []string{"数据库失败"[:9], "失败"}},
		{"Cre\u0300me brûlée", "creme brul*", []string{"Cre\u0300me brûlée"}},
		{"nothing here", "zzz", nil},
		{"nothing here", "*", nil},
		{"alpha beta gamma", "beta;alp*;beta gam*", []string{"alpha", "beta gamma"}},
		{"fixed 👍🏽 it", "👍", []string{"👍"}},
	} {
		var phrases [][]string
		for p := range strings.SplitSeq(c.phrases, ";") {
			phrases = append(phrases, strings.Fields(p))
		}
		var got []string
		for _, s := range Highlight(c.text, phrases) {
			got = append(got, c.text[s.Start:s.End])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q %q: %q, want %q", c.text, c.phrases, got, c.want)
		}
	}
	if got := Highlight("text", nil); got != nil {
		t.Errorf("no phrases: %v", got)
	}
}

func TestWindow(t *testing.T) {
	text := "alpha one two three four five six seven eight nine ten alpha beta eleven twelve thirteen fourteen"
	spans := Highlight(text, [][]string{{"alpha"}, {"beta"}})
	for _, c := range []struct {
		width int
		want  string
	}{
		{30, "ten alpha beta eleven"},
		{10, "alpha beta"},
		{1000, text},
	} {
		a, b := Window(text, spans, c.width)
		if got := text[a:b]; !strings.Contains(got, strings.TrimSpace(c.want)) || len(got) > c.width {
			t.Errorf("width %d: %q", c.width, got)
		}
	}
	if a, b := Window(text, nil, 20); a != 0 || text[a:b] != "alpha one two three"[:b] {
		t.Errorf("without spans: %q", text[a:b])
	}
	han := strings.Repeat("数据库备份", 50)
	if a, b := Window(han, Highlight(han, [][]string{{"份", "数"}})[30:31], 40); !utf8.ValidString(han[a:b]) || !strings.Contains(han[a:b], "份数") {
		t.Errorf("%q", han[a:b])
	}
}

func sample() string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "func (s *Server) handleRequest%d(ctx context.Context, id string) error {\n\treturn fmt.Errorf(\"open %%s: %%w\", path, err) // see src/health.py line %d\n}\nThe tests pass now, and nothing else was changed.\n", i, i*7)
	}
	return b.String()
}

var splits = []struct{ name, text string }{{"ascii", sample()}, {"han", strings.Repeat("修复数据库备份失败的问题。", 2000)}, {"accents", strings.Repeat("Crème brûlée übergröße ёлка ", 1000)}}

func TestSplittingAllocatesNothing(t *testing.T) {
	var s Splitter
	var terms []byte
	for _, c := range splits {
		terms = s.Split(terms[:0], c.text)
		if n := testing.AllocsPerRun(5, func() { terms = s.Split(terms[:0], c.text) }); n > 0 {
			t.Errorf("%s: %v allocations for %d bytes", c.name, n, len(c.text))
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	for _, c := range splits {
		b.Run(c.name, func(b *testing.B) {
			var s Splitter
			t := s.Split(nil, c.text)
			terms := strings.Count(string(t), " ") + strings.Count(string(t), string(Same)) + 1
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				t = s.Split(t[:0], c.text)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(terms), "ns/term")
		})
	}
}
