package search_test

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/search"
)

var benchArchive = flag.String("bench-archive", "", "archive that benchmarks search in; without one they have nothing to measure")

// BenchmarkSearch is a page of twenty hits of an archive, with snippets from its packs, with and without coverage.
func BenchmarkSearch(b *testing.B) {
	if *benchArchive == "" {
		b.Skip("no -bench-archive")
	}
	store, err := archive.Open(b.Context(), *benchArchive, archive.Read, archive.Options{Decode: all.Decode, Layer: ingest.Layer(all.Formats())})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	s := &search.Searcher{Index: store.Index(), Texts: store, Now: func() time.Time { return indextest.Epoch }}
	for _, text := range []string{"error", "the", "func error", "tool:bash error", `"return nil"`, "pars*", "*tring*", "*arseConf*", `/err(or)? != nil/`, "nowhere123"} {
		for _, o := range []struct {
			name    string
			options search.Options
			cover   bool
		}{{"hits", search.Options{NoSnippets: true}, false}, {"snippets", search.Options{}, false}, {"all", search.Options{}, true},
			{"relevance", search.Options{Sort: search.Relevance}, false}} {
			b.Run(text+"/"+o.name, func(b *testing.B) {
				var times []time.Duration
				for b.Loop() {
					began := time.Now()
					page(b, s, text, o.options, o.cover)
					times = append(times, time.Since(began))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-us")
				b.ReportMetric(float64(times[len(times)*95/100].Microseconds()), "p95-us")
			})
		}
	}
}

func page(b *testing.B, s *search.Searcher, text string, o search.Options, cover bool) {
	o.Limit = 20
	a, err := s.Find(b.Context(), text, o)
	if err != nil {
		b.Fatal(err)
	}
	for _, err := range a.Results() {
		if err != nil {
			b.Fatal(err)
		}
	}
	if cover {
		if _, err := a.Coverage(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
