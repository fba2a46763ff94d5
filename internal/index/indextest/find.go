package indextest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
)

// modelRow is a generated row, in the model that Find is compared with.
type modelRow struct {
	id, conversation string
	run              string // native id
	seq              int64
	part             int
	at               int64
	kind, role, tool string
	words            [][]string // by position: the parts of the word, then the word
}

var vocabulary = []string{"alpha", "beta", "gamma", "delta", "parse", "config", "parseConfig", "HTTPServer", "café", "数据库", "x1", "alphabet", "42"}

// randomWorld makes runs whose events have a few words each; several are at the same instant and some have two parts.
func randomWorld(r *rand.Rand, runs, events int) ([]Original, []modelRow) {
	var originals []Original
	var rows []modelRow
	for i := range runs {
		run := fmt.Sprintf("run-%02d", i)
		format := []string{"awf", "leslie"}[i%2]
		o := Original{Source: "src", Path: run + ".jsonl", Format: format, Claim: ".", Size: int64(events) * 100}
		o.Records = append(o.Records, &transcript.Run{ID: run}, &transcript.Conversation{Run: run})
		for n := range events {
			e := &transcript.Event{Run: run, Kind: transcript.KindMessage, Role: []string{"user", "assistant"}[r.IntN(2)],
				Origin: Place(n), Time: At(int64(r.IntN(20)) * 600)}
			if r.IntN(10) == 0 {
				e.Kind = transcript.KindNotice
			}
			parts := 1 + r.IntN(5)/4
			for p := range parts {
				part, row := randomPart(r, e, fmt.Sprint(n))
				row.run, row.seq, row.part, row.at = run, int64(n+1), p, e.Time.UnixMicro
				e.Parts = append(e.Parts, part)
				rows = append(rows, row)
			}
			o.Records = append(o.Records, e)
		}
		originals = append(originals, o)
	}
	return originals, rows
}

func randomPart(r *rand.Rand, e *transcript.Event, call string) (transcript.Part, modelRow) {
	var text []string
	for range 1 + r.IntN(6) {
		text = append(text, vocabulary[r.IntN(len(vocabulary))])
	}
	part := transcript.Part{Text: strings.Join(text, " ")}
	row := modelRow{kind: string(e.Kind), role: e.Role}
	if r.IntN(5) == 0 {
		row.tool = []string{"Bash", "Read File"}[r.IntN(2)]
		row.kind = string(transcript.KindToolCall)
		part.Kind, part.Call = transcript.KindToolCall, &transcript.Call{ID: "call-" + call, Name: row.tool}
	}
	for _, w := range text {
		var parts []string
		switch w {
		case "parseConfig":
			parts = []string{"parse", "config"}
		case "HTTPServer":
			parts = []string{"http", "server"}
		case "café":
			w = "cafe"
		case "数据库":
			row.words = append(row.words, []string{"数"}, []string{"据"})
			w = "库"
		}
		row.words = append(row.words, append(parts, strings.ToLower(w)))
	}
	return part, row
}

// matches evaluates a query on the row.
func (k *modelRow) matches(n query.Node) bool {
	switch n := n.(type) {
	case query.And:
		return !slices.ContainsFunc(n.Of, func(n query.Node) bool { return !k.matches(n) })
	case query.Or:
		return slices.ContainsFunc(n.Of, k.matches)
	case query.Not:
		return !k.matches(n.Of)
	case query.Word:
		return k.phrase(strings.Fields(n.Text), false)
	case query.Phrase:
		return k.phrase(strings.Fields(n.Text), false)
	case query.Prefix:
		return k.phrase(strings.Fields(n.Text), true)
	case query.Near:
		return k.near(strings.Fields(n.Text), n.Within, nil)
	case query.Range:
		at := time.UnixMicro(k.at)
		return (n.From.IsZero() || !at.Before(n.From)) && (n.To.IsZero() || at.Before(n.To))
	case query.Field:
		have := map[string]string{"kind": k.kind, "role": k.role, "tool": k.tool, "run": k.run}[n.Name]
		return slices.ContainsFunc(n.Values, func(v query.Value) bool {
			switch have, text := strings.ToLower(have), strings.ToLower(v.Text); v.Match {
			case query.Starts:
				return have != "" && strings.HasPrefix(have, text)
			case query.Contains:
				return have != "" && strings.Contains(have, text)
			default:
				return have == text
			}
		})
	}
	panic(fmt.Sprintf("no rule for %T", n))
}

// phrase reports whether terms are at consecutive positions. Each must be a whole word; the first may also be the last
// part of a word, the last one the first part, and a single term any part. open makes the last one a prefix.
func (k *modelRow) phrase(terms []string, open bool) bool { return len(k.places(terms, open)) > 0 }

// places returns where phrase holds.
func (k *modelRow) places(terms []string, open bool) (at []int) {
	last := len(terms) - 1
	for i := 0; i+last < len(k.words); i++ {
		fits := true
		for j, term := range terms {
			w := k.words[i+j]
			fits = fits && slices.ContainsFunc(w, func(have string) bool {
				whole := len(have) == len(w[len(w)-1])
				return (have == term || open && j == last && strings.HasPrefix(have, term)) &&
					(whole || (j == 0 || have == w[0]) && (j == last || have == w[len(w)-2]))
			})
		}
		if fits {
			at = append(at, i)
		}
	}
	return at
}

// near reports whether each of some words, whose parts a slash separates, is somewhere, so that from the end of none of them to the
// beginning of the last there are more than so many others. chosen is where some are.
func (k *modelRow) near(words []string, within int, chosen [][2]int) bool {
	if len(words) == 0 {
		last := 0
		for _, place := range chosen {
			last = max(last, place[0])
		}
		return !slices.ContainsFunc(chosen, func(place [2]int) bool { return last-place[1] > within })
	}
	terms := strings.Split(words[0], "/")
	return slices.ContainsFunc(k.places(terms, false), func(at int) bool {
		return k.near(words[1:], within, append(slices.Clone(chosen), [2]int{at, at + len(terms)}))
	})
}

func randomNode(r *rand.Rand, depth int) query.Node {
	if depth > 0 && r.IntN(2) == 0 {
		of := []query.Node{randomNode(r, depth-1), randomNode(r, depth-1)}
		switch r.IntN(4) {
		case 0:
			return query.Or{Of: of}
		case 1:
			return query.Not{Of: of[0]}
		}
		return query.And{Of: of}
	}
	terms := []string{"alpha", "beta", "parse", "config", "server", "parseconfig", "cafe", "库", "nothing", "42"}
	switch r.IntN(9) {
	case 8:
		var words []string
		for range 2 + r.IntN(query.MaxNearWords-1) {
			words = append(words, []string{"alpha", "beta", "config", "server", "parse", "库", "alpha/beta", "beta/parse"}[r.IntN(8)])
		}
		return query.Near{Text: strings.Join(words, " "), Within: r.IntN(4)}
	case 0:
		return query.Phrase{Text: terms[r.IntN(3)] + " " + terms[r.IntN(3)]}
	case 1:
		return query.Prefix{Text: []string{"alph", "par", "h", "beta alph"}[r.IntN(4)]}
	case 2:
		from := Epoch.Add(time.Duration(r.IntN(200)) * time.Minute)
		return []query.Node{query.Range{From: from}, query.Range{To: from}, query.Range{From: from, To: from.Add(time.Hour)}}[r.IntN(3)]
	case 3:
		return []query.Node{field("role", "user"), field("kind", "message"), field("kind", "tool_call"), field("tool", "bash"), field("tool", "read file"),
			field("run", "run-01"), field("role", "user", "assistant"), field("tool", ""),
			query.Field{Name: "tool", Values: []query.Value{{Text: "re", Match: query.Starts}}},
			query.Field{Name: "tool", Values: []query.Value{{Text: "as", Match: query.Contains}, {Text: "read", Match: query.Starts}}}}[r.IntN(10)]
	}
	return query.Word{Text: terms[r.IntN(len(terms))]}
}

func field(name string, values ...string) query.Field {
	f := query.Field{Name: name}
	for _, v := range values {
		f.Values = append(f.Values, query.Value{Text: v})
	}
	return f
}

// testFind compares Find with an evaluation of every row, for random rows and queries. A soak repeats it.
func testFind(t *testing.T, open func(*testing.T) Index) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	x := open(t)
	originals, rows := randomWorld(r, 12, 40)
	for i := 0; i < len(originals); i += 3 {
		commit(t, x, Batch(fmt.Sprint("pack", i), originals[i:i+3]...))
	}
	assignIDs(t, x, rows)
	for i := range 20 {
		q := &query.Tree{Root: randomNode(r, 3)}
		if i == 0 {
			q = nil
		}
		var want []string
		for _, k := range rows {
			if q == nil || k.matches(q.Root) {
				want = append(want, k.id)
			}
		}
		var got []string
		for _, h := range all(t, x.Find(t.Context(), q, index.Page{})) {
			got = append(got, h.ID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v: %d hits, want %d\n%v\n%v", q, len(got), len(want), got, want)
		}
		if paged := findPaged(t, x, q, 1+r.IntN(30)); !slices.Equal(paged, want) {
			t.Fatalf("%v by pages: %d hits, want %d", q, len(paged), len(want))
		}
	}
	for range x.Find(t.Context(), nil, index.Page{}) { // leaving a range early must release its resources
		break
	}
	for _, bad := range []string{"x", "1/2", "-1/2/c:1.1", "1/2/c"} {
		if err := firstError(x.Find(t.Context(), nil, index.Page{After: bad})); err == nil {
			t.Errorf("cursor %q is taken", bad)
		}
	}
}

// assignIDs gives every row its public id and sorts the rows as search does.
func assignIDs(t *testing.T, x Index, rows []modelRow) {
	t.Helper()
	conversations := map[string]string{}
	parts := map[string]int{}
	for _, k := range rows {
		parts[fmt.Sprint(k.run, k.seq)]++
	}
	for i := range rows {
		k := &rows[i]
		if conversations[k.run] == "" {
			run, err := x.Run(t.Context(), k.run)
			if err != nil {
				t.Fatal(err)
			}
			conversations[k.run] = all(t, x.Conversations(t.Context(), run.ID))[0].ID
		}
		k.conversation = conversations[k.run]
		k.id = fmt.Sprintf("%s:%d", k.conversation, k.seq)
		if parts[fmt.Sprint(k.run, k.seq)] > 1 {
			k.id += fmt.Sprintf(".%d", k.part+1)
		}
	}
	slices.SortFunc(rows, func(a, b modelRow) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.conversation, b.conversation), cmp.Compare(b.seq, a.seq), cmp.Compare(a.part, b.part))
	})
}

func findPaged(t *testing.T, x Index, q *query.Tree, limit int) (ids []string) {
	t.Helper()
	page := index.Page{Limit: limit}
	for {
		hits := all(t, x.Find(t.Context(), q, page))
		for _, h := range hits {
			ids = append(ids, h.ID)
			page.After = h.Cursor
		}
		if len(hits) < limit {
			return ids
		}
	}
}

func firstError[T any](seq func(func(T, error) bool)) (err error) {
	for _, err = range seq {
		break
	}
	return err
}
