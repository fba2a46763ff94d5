package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index/indextest"
)

// scripts are texts and queries of all sorts of signs and scripts: what of the text is marked, with bars between the
// places; "" where it must not be found. Each goes through index, query, snippet and highlight.
var scripts = []struct{ text, query, marked string }{
	// Identifiers, whole and by part.
	{"the pane_pid is 12", `pane_pid`, "pane_pid"},
	{"the pane_pid is 12", `pid`, "pid"},
	{"the pane_pid is 12", `pane-pid`, "pane_pid"},
	{"the pane pid is 12", `pane_pid`, "pane pid"},
	{"pid_pane is 12", `pane_pid`, ""},
	{"call parseConfig(x)", `parseConfig`, "parseConfig"},
	{"call parseConfig(x)", `config`, "Config"},
	{"call parseConfig(x)", `parseconfig`, "parseConfig"},
	{"call parseConfig(x)", `onfig`, ""},
	{"call parseConfig(x)", `"parse config"`, ""},
	{"an XMLHttpRequest2 here", `http`, "Http"},
	{"an XMLHttpRequest2 here", `HttpRequest`, "HttpRequest"},
	{"an XMLHttpRequest2 here", `xml*`, "XMLHttpRequest2"},
	{"a fileName string", `"name string"`, "Name string"},
	{"sha256sum of it", `sha256`, "sha256"},
	{"kebab-case-name", `kebab-case-name`, "kebab-case-name"},
	{"kebab-case-name", `case`, "case"},
	{"kebab-case-name", `case-name`, "case-name"},
	{"SCREAMING_SNAKE", `snake`, "SNAKE"},
	{"call obj.method() now", `obj.method`, "obj.method"},
	{"call obj.method() now", `method()`, "method"},
	{"in com.example.App", `example.app`, "example.App"},
	{"open src/health.py now", `src/health.py`, "src/health.py"},
	{"open src/health.py now", `health.py`, "health.py"},
	{"open /src/health.py now", `/src/health.py`, "src/health.py"},
	{"open src/health.pyc now", `src/health.py`, ""},
	{"open src/health.pyc now", `src/health.py*`, "src/health.pyc"},
	{`C:\Users\ann`, `"C:\\Users"`, `C:\Users`},
	{"std::vector<int>", `std::vector`, "std::vector"},
	{"at main.go:42 it", `main.go:42`, "main.go:42"},
	{"see https://example.org/a?b=c#d", `https://example.org/a?b=c`, "https://example.org/a?b=c"},
	// Punctuation.
	{"TypeError: bad", `TypeError:`, "TypeError"},
	{"TypeError: bad", `type`, "Type"},
	{"TypeError: bad", `"TypeError: bad"`, "TypeError: bad"},
	{"v1.2.3 is out", `v1.2.3`, "v1.2.3"},
	{"v1.2.3 is out", `1.2.3`, "1.2.3"},
	{"v1.2.4 is out", `v1.2.3`, ""},
	{"v1.2.30 is out", `v1.2.3`, ""},
	{"v1.2.3-rc.1 is out", `v1.2*`, "v1.2"},
	{"fixes #123", `#123`, "123"},
	{"fixes #1234", `#123`, ""},
	{"at 50% now", `50%`, "50"},
	{"at 50% now", `*50%*`, "50%"},
	{"at 50 now", `*50%*`, ""},
	{"I don't know", `don't`, "don't"},
	{"I don\u2019t know", `don't`, "don\u2019t"},
	{"I dont know", `don't`, ""},
	{"set C++ mode", `*C++*`, "C++"},
	{"set C mode", `*C++*`, ""},
	{"a->b", `*->*`, "->"},
	{"a-b", `*->*`, ""},
	{"x = \"quoted\" y", `"= \"quoted\" y"`, "quoted\" y"},
	{"--no-verify was used", `"--no-verify"`, "no-verify"},
	{"$HOME and ${PATH}", `$HOME`, "HOME"},
	{"user@example.org wrote", `user@example.org`, "user@example.org"},
	{"a NUL \x00 and \x1b[31mred\x1b[0m", `*[31m*`, "[31m"},
	{"a NUL \x00 and \x1b[31mred\x1b[0m", `red`, "red"},
	{"\x1b[1;31mFAILED\x1b[0m tests/x.py", `"failed tests"`, "FAILED\x1b[0m tests"},
	{"\x1b[1;31mFAILED\x1b[0m tests/x.py", "*failed\x1b[0*", "FAILED\x1b[0"},
	{"\x1b[1;31mFAILED\x1b[0m tests/x.py", `/\[1;31mfailed/`, "[1;31mFAILED"},
	{"\x1b[1;31mFAILED\x1b[0m tests/x.py", `*[1;3*`, "[1;3"},
	{"a \xff\xfe broken byte", `broken`, "broken"},
	// Ids.
	{"commit a3f9c1b2e0 of it", `a3f9c1b2e0`, "a3f9c1b2e0"},
	{"commit a3f9c1b2e0 of it", `a3f9*`, "a3f9c1b2e0"},
	{"commit a3f9c1b2e0 of it", `A3F9C1*`, "a3f9c1b2e0"},
	{"commit a3f9c1b2e0 of it", `*9c1b*`, "9c1b"},
	{"0xDEADBEEF there", `0xdeadbeef`, "0xDEADBEEF"},
	{"id 550e8400-e29b-41d4-a716-446655440000", `550e84*`, "550e8400"},
	{"id 550e8400-e29b-41d4-a716-446655440000", `550e8400-e29b*`, "550e8400-e29b"},
	{"id 550e8400-e29b-41d4-a716-446655440000", `550e8400-e29b-41d4-a716-446655440000`, "550e8400-e29b-41d4-a716-446655440000"},
	{"id 550e8400-e29b-41d4-a716-446655440000", `"550e8400-e29b-41"*`, "550e8400-e29b-41d4"},
	{"toolu_01XyZaB3dE5fG", `toolu_01*`, "toolu_01XyZaB3dE5fG"},
	// Case, accents and compatibility forms.
	{"Crème BRÛLÉE", `creme "brulee"`, "Crème|BRÛLÉE"},
	{"Cafe\u0301 au lait", `café`, "Cafe\u0301"},
	{"Cafe au lait", `café`, "Cafe"},
	{"Straße", `strasse`, "Straße"},
	{"STRASSE", `straße`, "STRASSE"},
	{"Łódź, Øresund, Đà", `lodz oresund da`, "Łódź|Øresund|Đà"},
	{"İstanbul ısı", `istanbul isi`, "İstanbul|ısı"},
	{"ΟΔΟΣ Σίσυφος", `οδος σισυφοσ`, "ΟΔΟΣ|Σίσυφος"},
	{"Ёлка й", `елка`, "Ёлка"},
	{"ﬁnal ＦＵＬＬ２ x² №5", `final full2 x2`, "ﬁnal|ＦＵＬＬ２|x²"},
	{"𝔪𝔞𝔱𝔥 and ℌ", `math`, "𝔪𝔞𝔱𝔥"},
	{"soft\u00adhyphen", `softhyphen`, "soft\u00adhyphen"},
	{"שָׁלוֹם", `שלום`, "שָׁלוֹם"},
	{"مُحَمَّد", `محمد`, "مُحَمَّد"},
	{"हिन्दी में", `हिन्दी`, "हिन्दी"},
	{"हिन्दी में", `हिन्द`, ""},
	{"5㎏ of it", `5㎏`, "5㎏"},
	// Chinese, Japanese, Korean.
	{"连接数据库失败", `数据库`, "数据库"},
	{"连接数据库失败", `库`, "库"},
	{"数学依据库", `数据库`, ""},
	{"请修复bug谢谢", `修复bug`, "修复bug"},
	{"请修复bug谢谢", `bug谢*`, "bug谢"},
	{"請修復", `修复`, ""},
	{"エラーが発生しました", `エラー`, "エラー"},
	{"エラーが発生しました", `発生`, "発生"},
	{"がっこう", `か`, ""},
	{"がっこう", `が`, "が"},
	{"か\u3099っこう", `が`, "か\u3099"},
	{"ｶﾞｯｺｳ", `ガッコウ`, "ｶﾞｯｺｳ"},
	{"ぱん", `は`, ""},
	{"한국어 텍스트", `국어`, "국어"},
	{"\u1112\u1161\u11ab\u1100\u116e\u11a8", `한국`, "\u1112\u1161\u11ab\u1100\u116e\u11a8"},
	{"한국어", `하`, ""},
	{"𠮷野家", `𠮷野`, "𠮷野"},
	// Emoji and signs.
	{"done 👍 ok", `👍`, "👍"},
	{"done 👍🏽 ok", `👍`, "👍"},
	{"a 👩‍💻 here", `💻`, "💻"},
	{"flag 🇩🇪 here", `🇩🇪`, "🇩🇪"},
	{"✓ passed ✗ failed", `✓`, "✓"},
	{"❤️ it", `❤`, "❤️"},
	// Expressions.
	{"timed out after 30 s", `/timed? out.*\d+/`, "timed out after 30"},
	{"Timed\nout", `/^out$/`, "out"},
	{"Timed out", `/(?-i)timed/`, ""},
	{"naïve", `/na.ve/`, "naïve"},
	{"a/b/c", `/a\/b/`, "a/b"},
}

func TestScripts(t *testing.T) {
	w := newWorld(t)
	var originals []indextest.Original
	for i, c := range scripts {
		originals = append(originals, talk("run-"+string(rune('a'+i/26))+string(rune('a'+i%26)), c.text, "nothing of interest"))
	}
	w.take(originals...)
	for i, c := range scripts {
		got, coverage := find(t, w.searcher(), c.query, Options{})
		at := slices.IndexFunc(got, func(r Result) bool { return r.Event.Conversation == w.rows[2*i].conversationID() })
		if at < 0 {
			if c.marked != "" {
				t.Errorf("%q in %q: not found, %+v", c.query, c.text, coverage)
			}
			continue
		}
		s := got[at].Snippet
		var marks []string
		for _, h := range s.Highlights {
			marks = append(marks, s.Text[h.Start:h.End])
		}
		if text := strings.ToValidUTF8(c.text, "\ufffd"); s.Text != text {
			t.Errorf("%q: snippet %q of %q", c.query, s.Text, text)
		}
		if marked := strings.Join(marks, "|"); marked != c.marked {
			t.Errorf("%q in %q: marked %q, want %q", c.query, c.text, marked, c.marked)
		}
		if got, _ := find(t, w.searcher(), quotedUnless(c.query), Options{Limit: 1}); len(got) == 0 {
			t.Errorf("%q in %q: not found in quotes", c.query, c.text)
		}
	}
}

// quotedUnless is a query of one word in quotes.
func quotedUnless(query string) string {
	if strings.ContainsAny(query, `"*/ `) {
		return query
	}
	return quoted(query)
}

// TestLongTexts looks into a text that is larger than what some engines index as one: more than 16 MiB, and millions of
// words. It stays one row; nothing of it is lost, and phrases are found wherever they stand.
func TestLongTexts(t *testing.T) {
	const border = 16 << 20
	filler := func(n int) string { return strings.Repeat("lorem ipsum dolor ", n/18+1)[:n-1] + "\n" }
	long := "first words " + filler(1<<20) + "at one megabyte " + filler(border-1<<20-60) + "these words stand across the border of it " + filler(1<<10) + "last words"
	if at := strings.Index(long, "across"); at > border || at < border-100 {
		t.Fatalf("across stands at %d", at)
	}
	w := newWorld(t)
	w.take(talk("long", long, "another text"))
	for _, c := range []struct{ query, marked string }{
		{`"words stand across the border of it"`, "words stand across the border of it"}, {`"last words"`, "last words"}, {"megaby*", "megabyte"},
		{`*"order of"*`, "order of"}, {`"ipsum last"`, ""}, {`"megabyte these"`, ""},
	} {
		got, coverage := find(t, w.searcher(), c.query, Options{})
		if len(got) != min(1, len(c.marked)) || coverage.Partial != nil {
			t.Errorf("%s: %d hits, %+v", c.query, len(got), coverage)
			continue
		}
		for _, r := range got {
			s := r.Snippet
			if len(s.Text) > 2*snippetWidth || len(s.Highlights) == 0 || s.Text[s.Highlights[0].Start:s.Highlights[0].End] != c.marked {
				t.Errorf("%s: %q, marked %v", c.query, s.Text, s.Highlights)
			}
		}
	}
}
