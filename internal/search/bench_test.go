package search_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/search"
)

var (
	benchArchive = flag.String("bench-archive", "", "archive that benchmarks search in; without one they have nothing to measure")
	benchQueries = flag.Int("bench-queries", 20, "different queries of each class")
	benchSeed    = flag.Uint64("bench-seed", 1, "seed of the queries")
	benchQuery   = flag.String("bench-query", "", "ask this query only")
)

// bench asks an archive. Its queries are made of what stands in random rows.
type bench struct {
	*testing.B
	*rand.Rand
	s      *search.Searcher
	store  *archive.Archive
	oldest int64
	newest int64
	counts map[string]int64
}

// BenchmarkSearch is the newest twenty hits of queries of many classes, with and without snippets from packs, and the
// twenty best without; each query is asked three times and its best time counts.
func BenchmarkSearch(b *testing.B) {
	if *benchArchive == "" {
		b.Skip("no -bench-archive")
	}
	x := openBench(b)
	newest := search.Options{NoSnippets: true, Limit: 20}
	snippets := search.Options{Limit: 20}
	best := search.Options{Sort: search.Relevance, NoSnippets: true, Limit: 20}
	for _, c := range x.classes() {
		b.Run(c.name, func(b *testing.B) {
			queries := c.queries()
			x.latencies(b, "hits", queries, newest)
			x.latencies(b, "snippets", queries, snippets)
			if c.ranked {
				x.latencies(b, "relevance", queries, best)
			}
		})
	}
	x.facets(b)
}

func openBench(b *testing.B) *bench {
	store, err := archive.Open(b.Context(), *benchArchive, archive.Read, archive.Options{Decode: all.Decode, Layer: ingest.Layer(all.Formats())})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	x := &bench{B: b, Rand: rand.New(rand.NewPCG(*benchSeed, 7)), store: store, counts: map[string]int64{},
		s: &search.Searcher{Index: store.Index(), Texts: store, Now: func() time.Time { return indextest.Epoch }}}
	x.newest = x.page("", search.Options{NoSnippets: true, Limit: 1})[0].Near
	x.oldest = x.page("", search.Options{NoSnippets: true, Limit: 1, Sort: search.Oldest})[0].Near
	return x
}

func (x *bench) page(text string, o search.Options) (out []search.Result) {
	a, err := x.s.Find(x.Context(), text, o)
	if err != nil {
		x.Fatalf("%s: %v", text, err)
	}
	for r, err := range a.Results() {
		if err != nil {
			x.Fatalf("%s: %v", text, err)
		}
		out = append(out, r)
	}
	return out
}

// latencies asks each query three times and reports percentiles of the best times, by the clock and of the processor, and of
// the first ones, when connections do not remember the answer.
func (x *bench) latencies(b *testing.B, name string, queries []string, o search.Options) {
	b.Run(name, func(b *testing.B) {
		var times, spent, first []time.Duration
		slowest := 0
		for i, text := range queries {
			least, worked := time.Duration(1<<62), time.Duration(1<<62)
			for n := range 3 {
				began, before := time.Now(), processor()
				x.page(text, o)
				took := processor() - before
				if least, worked = min(least, time.Since(began)), min(worked, took); n == 0 {
					first = append(first, took)
				}
			}
			times = append(times, least)
			if spent = append(spent, worked); worked > spent[slowest] {
				slowest = i
			}
		}
		b.Logf("slowest: %s %v", queries[slowest], spent[slowest])
		report(b, map[string][]time.Duration{"ms": times, "cpu-ms": spent, "first-cpu-ms": first})
	})
}

func report(b *testing.B, times map[string][]time.Duration) {
	b.ReportMetric(0, "ns/op")
	for name, of := range times {
		slices.Sort(of)
		b.ReportMetric(float64(of[len(of)/2].Microseconds())/1000, "p50-"+name)
		b.ReportMetric(float64(of[len(of)*95/100].Microseconds())/1000, "p95-"+name)
	}
}

// facets counts all hits of words by what has them.
func (x *bench) facets(b *testing.B) {
	b.Run("facets", func(b *testing.B) {
		var times, spent []time.Duration
		for range 10 {
			text := x.word(1000, 100_000)
			began, before := time.Now(), processor()
			a, err := x.s.Find(b.Context(), text, search.Options{})
			if err == nil {
				_, err = a.Facets("tool", "project", "month")
			}
			if err != nil {
				b.Fatal(err)
			}
			times, spent = append(times, time.Since(began)), append(spent, processor()-before)
		}
		report(b, map[string][]time.Duration{"ms": times, "cpu-ms": spent})
	})
}

// class is queries of one kind.
type class struct {
	name    string
	queries func() []string
	ranked  bool
}

func (x *bench) classes() []class {
	few := func() string { return x.word(20, 200) }
	common := func() string { return x.word(2000, 20_000) }
	most := func() string { return x.word(50_000, 1<<40) }
	made := func(name string, ranked bool, one func() string) class {
		return class{name, func() []string { return x.several(one) }, ranked}
	}
	if *benchQuery != "" {
		return []class{{"asked", func() []string { return []string{*benchQuery, *benchQuery, *benchQuery} }, true}}
	}
	return []class{
		made("rare", true, few),
		made("common", true, common),
		made("very common", true, most),
		made("two words", true, func() string { return few() + " " + most() }),
		made("two common words", true, func() string { return common() + " " + most() }),
		made("tool", true, func() string { return "tool:" + x.pick("bash", "read", "edit", "shell", "grep") + " " + common() }),
		made("role", true, func() string { return "role:" + x.pick("user", "assistant", "tool") + " " + common() }),
		made("month", true, func() string { return "during:" + time.UnixMicro(x.at()).UTC().Format("2006-01") + " " + common() }),
		made("project", true, func() string { return x.project() + " " + x.word(200, 1<<40) }),
		made("project alone", false, x.project),
		made("phrase", true, func() string { return `"` + x.stretch(2+x.IntN(2)) + `"` }),
		made("prefix", true, func() string { w := x.word(1, 1<<40); return w[:min(4, len(w))] + "*" }),
		made("substring", false, func() string { w := x.long(8); i := 1 + x.IntN(3); return "*" + w[i:i+4+x.IntN(2)] + "*" }),
		made("expression", false, x.expression),
		{"unmatched", func() []string {
			return []string{"duration>900h", "attr:nothing=1", "attr:nothing", "cost>90000", "from:nobody", "touches:no/such/file", "is:truncated", "model:nobody", "agent:nobody error", "project:nothing error", "tag:none"}
		}, false},
	}
}

func (x *bench) several(one func() string) (out []string) {
	for range *benchQueries {
		out = append(out, one())
	}
	return out
}

func (x *bench) pick(of ...string) string { return of[x.IntN(len(of))] }

// at is a time of the archive.
func (x *bench) at() int64 { return x.oldest + x.Int64N(max(1, x.newest-x.oldest)) }

// row is a random row that has a text, more or less.
func (x *bench) row() search.Result {
	for {
		before := query.Range{To: time.UnixMicro(x.at()).UTC()}
		for _, r := range x.page(before.String(), search.Options{NoSnippets: true, Limit: 1}) {
			if r.TextBytes > 100 {
				return r
			}
		}
	}
}

var wordsOf = regexp.MustCompile(`[A-Za-z]{3,30}`)

func (x *bench) words() []string {
	for {
		r := x.row()
		text, err := x.store.Text(x.Context(), r.Place, r.Part)
		if err != nil {
			x.Fatal(err)
		}
		if all := wordsOf.FindAllString(text, -1); len(all) > 10 {
			return all
		}
	}
}

// word is one that so many rows have.
func (x *bench) word(least, most int64) string {
	for {
		words := x.words()
		for range 20 {
			w := strings.ToLower(words[x.IntN(len(words))])
			n, ok := x.counts[w]
			if !ok {
				var err error
				if n, err = x.store.Index().Count(x.Context(), &query.Tree{Root: query.Word{Text: w}}, index.Page{AllVersions: true, Limit: 100_000}); err != nil {
					x.Fatal(err)
				}
				x.counts[w] = n
			}
			if least <= n && n <= most {
				return w
			}
		}
	}
}

// long is a word of at least n letters.
func (x *bench) long(n int) string {
	for {
		if w := strings.ToLower(x.word(1, 1<<40)); len(w) >= n {
			return w
		}
	}
}

// stretch is some words that follow each other.
func (x *bench) stretch(n int) string {
	for {
		r := x.row()
		text, err := x.store.Text(x.Context(), r.Place, r.Part)
		if err != nil {
			x.Fatal(err)
		}
		if words := strings.Fields(text); len(words) > n {
			i := x.IntN(len(words) - n)
			if s := strings.Join(words[i:i+n], " "); wordsOf.MatchString(s) && !strings.ContainsAny(s, `"\`) && len(s) < 80 {
				return s
			}
		}
	}
}

func (x *bench) project() string {
	for {
		r := x.row()
		if p := r.Project(); p != "" {
			return query.Field{Name: "project", Values: []query.Value{{Text: p}}}.String()
		}
	}
}

func (x *bench) expression() string {
	w := x.long(6)
	switch x.IntN(4) {
	case 0:
		return fmt.Sprintf(`/%s\w+\(/`, w[:5])
	case 1:
		return fmt.Sprintf(`/(%s|%s)\s*=/`, w, x.long(6))
	case 2:
		return fmt.Sprintf(`/\b%s.*%s/`, w, x.long(5))
	}
	return fmt.Sprintf(`/%s[a-z]* [0-9]+/`, w)
}
