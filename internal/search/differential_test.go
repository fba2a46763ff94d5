package search

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// scribe writes random texts out of what transcripts are made of.
type scribe struct{ *rand.Rand }

var (
	plainWords = strings.Fields(`the error timeout permission denied def main return config parse health run step model retry second seconds
		Straße Crème brûlée naïve Übergröße señor Łódź привет Ёлка мир Σίσυφος ΟΔΟΣ déjà vu Cafe\u0301 connection refused`)
	identifiers = strings.Fields(`parseConfig HTTPServer2 pane_pid kebab-case-name src/health.py v1.2.3 TypeError: #123 50% don't obj.method()
		C++ std::vector main.go:42 XMLHttpRequest getUserById2 a3f9c1b2 550e8400-e29b-41d4 toolu_01XyZaB3dE5fG https://example.org/a?b=c&d=1 /usr/local/bin`)
	cjkTexts = []string{"数据库连接失败", "修复bug", "日本語のテキスト", "エラーが発生しました", "한국어 텍스트", "权限被拒绝", "がぎぐ", "👍", "✓"}
)

func (s scribe) word() string {
	switch s.IntN(12) {
	case 0, 1:
		return identifiers[s.IntN(len(identifiers))]
	case 2:
		return cjkTexts[s.IntN(len(cjkTexts))]
	case 3: // something new
		var b strings.Builder
		for range 3 + s.IntN(8) {
			b.WriteByte("abcdefghijklmnopqrstuvwxyz"[s.IntN(26)])
		}
		return b.String()
	case 4:
		if s.IntN(3) == 0 { // a word that is cut into several terms
			return strings.Repeat("zqxj", 17+s.IntN(6)) + []string{"tail", "end", "seconf"}[s.IntN(3)] + strings.Repeat("x", s.IntN(30))
		}
	}
	return strings.ReplaceAll(plainWords[s.IntN(len(plainWords))], `\u0301`, "\u0301")
}

func (s scribe) text() string {
	var b strings.Builder
	for range 1 + s.IntN(14)*(1+s.IntN(8)/7*3) {
		b.WriteString(s.word())
		b.WriteString([]string{" ", " ", " ", "\n", ", ", "(", " = ", "/", "\t", `"`, "_", ""}[s.IntN(12)])
	}
	return b.String()
}

func (s scribe) original(run string, events int) indextest.Original {
	o := talk(run)
	o.Size = int64(events+1) * 100
	for i := range events {
		e := &transcript.Event{Run: run, Kind: transcript.KindMessage, Role: []string{"user", "assistant"}[s.IntN(2)],
			Time: indextest.At(int64(s.IntN(400)) * 60), Origin: indextest.Place(i)}
		for p := range 1 + s.IntN(4)/3 {
			part := transcript.Part{Text: s.text()}
			if s.IntN(4) == 0 {
				part.Kind, part.Call = transcript.KindToolCall, &transcript.Call{ID: fmt.Sprint(i, p), Name: []string{"Bash", "Read"}[s.IntN(2)]}
			}
			e.Parts = append(e.Parts, part)
		}
		o.Records = append(o.Records, e)
	}
	return o
}

// asked is a random question: its text, and what the naive scanner says.
type asked struct {
	text  string
	holds func(*row) bool
}

// stretch cuts a random piece out of a text.
func (s scribe) stretch(text string, least, most int) string {
	runes := []rune(text)
	from := s.IntN(len(runes))
	to := min(len(runes), from+least+s.IntN(most))
	return string(runes[from:to])
}

// words takes some consecutive words of a text.
func (s scribe) words(text string) string {
	fields := strings.Fields(text)
	from := s.IntN(len(fields))
	return strings.Join(fields[from:min(len(fields), from+1+s.IntN(3))], " ")
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// ask makes a question about one of the rows that can be answered with yes.
func (s scribe) ask(rows []row, depth int) asked {
	if depth > 0 && s.IntN(3) == 0 {
		a, b := s.ask(rows, depth-1), s.ask(rows, depth-1)
		switch s.IntN(3) {
		case 0:
			return asked{"(" + a.text + ") OR (" + b.text + ")", func(r *row) bool { return a.holds(r) || b.holds(r) }}
		case 1:
			return asked{"(" + a.text + ") NOT (" + b.text + ")", func(r *row) bool { return a.holds(r) && !b.holds(r) }}
		}
		return asked{"(" + a.text + ") (" + b.text + ")", func(r *row) bool { return a.holds(r) && b.holds(r) }}
	}
	text := rows[s.IntN(len(rows))].text
	switch kind := s.IntN(12); kind {
	case 0, 1, 2:
		return s.phrase(s.words(text), "", false)
	case 3:
		if s.IntN(8) == 0 { // longer than what an index is asked for
			return s.phrase(text, "", false)
		}
		words := naiveWords(text)
		if len(words) == 0 {
			break
		}
		w := words[s.IntN(len(words))]
		if n := len(w.parts); n > 0 && s.IntN(2) == 0 {
			return s.phrase(w.parts[s.IntN(n)], "", false)
		}
		return s.phrase(w.text, "", false)
	case 4, 5:
		whole := s.words(text)
		if words := naiveWords(whole); len(words) > 0 && strings.HasSuffix(naiveFold(whole), words[len(words)-1].text) {
			runes := []rune(whole)
			return s.phrase(string(runes[:len(runes)-s.IntN(min(3, len(runes)))]), "*", true)
		}
		return s.phrase(whole, "", false)
	case 6, 7, 8:
		if part := s.stretch(text, 2, 12); naiveFold(part) != "" {
			return asked{"*" + quoted(part) + "*", func(r *row) bool { return naiveContains(r.text, part) }}
		}
	case 9:
		return s.expression(text)
	case 10:
		role := []string{"user", "assistant"}[s.IntN(2)]
		return asked{"role:" + role, func(r *row) bool { return r.role == role }}
	case 11:
		tool := []string{"bash", "READ"}[s.IntN(2)]
		return asked{"tool:" + tool, func(r *row) bool { return strings.EqualFold(r.tool, tool) }}
	}
	return s.ask(rows, 0)
}

func (s scribe) phrase(text, star string, open bool) asked {
	words := naiveWords(text)
	if len(words) == 0 { // says nothing
		return asked{"role:user,assistant", func(*row) bool { return true }}
	}
	if last := words[len(words)-1].text; open && (len(last) > 40 || strings.ContainsAny(last, "👍✓")) {
		star, open = "", false
		text = "timeout"
	}
	return asked{quoted(text) + star, func(r *row) bool { return naivePhrase(r.text, text, open) }}
}

func (s scribe) expression(text string) asked {
	expr := regexp.QuoteMeta(s.stretch(text, 3, 8))
	switch s.IntN(5) {
	case 0:
		expr = `\b` + expr
	case 1:
		expr += `\w*`
	case 2:
		expr = "(?:" + expr + "|" + regexp.QuoteMeta(s.stretch(text, 3, 8)) + ")"
	case 3:
		expr += `[ .,(]+\w`
	}
	re, err := regexp.Compile("(?im)" + expr)
	if err != nil {
		return s.expression(text)
	}
	return asked{"/" + strings.ReplaceAll(expr, "/", `\/`) + "/", func(r *row) bool { return re.MatchString(r.text) }}
}

// TestFindsEverything compares answers with a naive scan of all texts, for random texts and questions.
func TestFindsEverything(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for corpus := range uint64(3) {
		s := scribe{rand.New(rand.NewPCG(seed, corpus))}
		w := newWorld(t)
		for i := range 6 {
			w.take(s.original(fmt.Sprintf("run-%d", i), 40))
		}
		searcher := w.searcher()
		switch corpus {
		case 1:
			searcher.Index = half{w.db, full{w.db}}
		case 2:
			searcher.Index = plain{w.db}
		}
		for range 150 {
			q := s.ask(w.rows, 2)
			w.compare(searcher, q)
		}
	}
}

func (w *world) compare(s *Searcher, q asked) {
	w.t.Helper()
	a, err := s.Find(w.t.Context(), q.text, Options{NoSnippets: true})
	if err != nil {
		w.t.Fatalf("%s: %v", q.text, err)
	}
	got := map[string]bool{}
	for r, err := range a.ordered(w.t.Context()) {
		if err != nil {
			w.t.Fatalf("%s: %v", q.text, err)
		}
		if got[r.ID] {
			w.t.Fatalf("%s: %s twice", q.text, r.ID)
		}
		got[r.ID] = true
	}
	for i := range w.rows {
		r := &w.rows[i]
		if got[r.id] != q.holds(r) {
			w.t.Fatalf("%s: row %s found %v\ntext %q\nunderstood as %s\nalternatives %v", q.text, r.id, got[r.id], r.text, a.Tree(), a.alternatives)
		}
	}
}

// TestSubstringsOfLongWords looks for every stretch of words that are cut into several terms.
func TestSubstringsOfLongWords(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("abcdefghij", 7) + "klmnop"
	accents := strings.Repeat("éa", 40) + "zz"
	w.take(talk("long", "see "+long+" there", accents, "unrelated text", "x"+long+"/"+long))
	for _, idx := range []Index{full{w.db}, half{w.db, full{w.db}}, plain{w.db}} {
		s := w.searcher()
		s.Index = idx
		for _, text := range []string{long, naiveFold(accents), " " + long + " there"} {
			for from := 50; from < 70; from++ {
				for _, n := range []int{3, 8, 20} {
					if from+n > len(text) {
						continue
					}
					part := text[from : from+n]
					q := asked{"*" + quoted(part) + "*", func(r *row) bool { return naiveContains(r.text, part) }}
					w.compare(s, q)
				}
			}
		}
	}
}

var scripts = []struct {
	text, query string
	found       bool
}{
	{"open src/health.py now", `src/health.py`, true},
	{"open src/health.pyc now", `src/health.py`, false},
	{"open src/health.pyc now", `src/health.py*`, true},
	{"the pane_pid is 12", `pane_pid`, true},
	{"the pane_pid is 12", `pid`, true},
	{"TypeError: bad", `TypeError:`, true},
	{"TypeError: bad", `type`, true},
	{"v1.2.3 is out", `v1.2.3`, true},
	{"v1.2.4 is out", `v1.2.3`, false},
	{"fixes #123", `#123`, true},
	{"at 50% now", `50%`, true},
	{"I don't know", `don't`, true},
	{"连接数据库失败", `数据库`, true},
	{"数学依据库", `数据库`, false},
	{"请修复bug谢谢", `修复bug`, true},
	{"がっこう", `か`, false},
	{"Crème BRÛLÉE", `creme "brulee"`, true},
	{"id 550e8400-e29b-41d4-a716-446655440000", `550e84*`, true},
	{"done 👍 ok", `👍`, true},
	{"set C++ mode", `*C++*`, true},
	{"set C mode", `*C++*`, false},
	{"a->b", `*->*`, true},
	{"a-b", `*->*`, false},
	{"timed out after 30 s", `/timed? out.*\d+/`, true},
	{"Timed\nout", `/^out$/`, true},
	{"Timed out", `/(?-i)timed/`, false},
	{"5㎏ of it", `5㎏`, true},
	{"tokens [31m red", `*[31m*`, true},
}

func TestScripts(t *testing.T) {
	for _, c := range scripts {
		w := newWorld(t)
		w.take(talk("one", c.text, "nothing of interest"))
		got, coverage := find(t, w.searcher(), c.query, Options{})
		if found := slices.ContainsFunc(got, func(r Result) bool { return r.Snippet.Text == c.text }); found != c.found || len(got) > 1 {
			t.Errorf("%q in %q: %v, %d hits, %+v", c.query, c.text, found, len(got), coverage)
		}
		for _, r := range got {
			if len(r.Snippet.Highlights) == 0 {
				t.Errorf("%q in %q: nothing is marked", c.query, c.text)
			}
		}
	}
}
