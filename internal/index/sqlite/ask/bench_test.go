package ask_test

import (
	"context"
	commandline "flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/transcript"
)

var (
	benchEvents = commandline.Int("bench-events", 200_000, "events of the index that benchmarks ask")
	benchIndex  = commandline.String("bench-index", "", "file that keeps that index for the next time")
)

// benchWord returns the n-th most frequent word.
func benchWord(n uint64) string {
	if n < 20 {
		return []string{"the", "to", "of", "error", "func", "return", "file", "test", "if", "err", "nil", "string", "package", "import",
			"context", "value", "type", "name", "path", "line"}[n]
	}
	return fmt.Sprintf("w%dx", n)
}

// benchOriginal returns a conversation of a hundred events within some hours of a year. Word frequencies are those of prose
// and code.
func benchOriginal(n, events int, r *rand.Rand, words *rand.Zipf) indextest.Original {
	run := fmt.Sprintf("bench-%06d", n)
	o := indextest.Original{Source: "bench", Path: fmt.Sprintf("%02d/%s.jsonl", n%50, run), Format: "awf", Claim: run, Size: int64(events+1) * 100}
	o.Records = append(o.Records, &transcript.Run{ID: run, Project: fmt.Sprintf("/srv/project-%d", n%100), Agent: "coder", Outcome: transcript.Succeeded},
		&transcript.Conversation{Run: run, Model: fmt.Sprintf("model-%d", n%7)})
	at := int64(r.IntN(365 * 24 * 3600))
	for i := range events {
		at += int64(r.IntN(120))
		var text strings.Builder
		for range 10 + r.IntN(60) {
			text.WriteString(benchWord(words.Uint64()))
			text.WriteByte(' ')
		}
		if r.IntN(20_000) == 0 {
			text.WriteString("zebrafish")
		}
		e := &transcript.Event{Run: run, Kind: transcript.KindMessage, Role: "assistant", Time: indextest.At(at - 365*24*3600), Origin: indextest.Place(i)}
		part := transcript.Part{Text: text.String()}
		switch i % 4 {
		case 0:
			e.Role = "user"
		case 1:
			e.Kind = transcript.KindToolCall
			part.Call = &transcript.Call{ID: fmt.Sprint("call-", i), Name: []string{"Bash", "Read", "Edit", "Grep"}[r.IntN(4)], Paths: []string{"src/a.go"}}
		case 2:
			e.Kind, e.Role = transcript.KindToolResult, "tool"
			part.Result = &transcript.Result{Call: fmt.Sprint("call-", i-1), Name: "Bash", Failed: transcript.True(r.IntN(50) == 0)}
		}
		e.Parts = []transcript.Part{part}
		o.Records = append(o.Records, e)
		if i%4 == 3 {
			o.Records = append(o.Records, &transcript.Usage{Run: run, Key: fmt.Sprint(run, i), Time: e.Time, Model: "m", Input: transcript.Known(int64(r.IntN(50_000))),
				Output: transcript.Known(int64(r.IntN(2000))), Cost: transcript.Known(int64(r.IntN(1_000_000_000))), CostSource: "cost", Origin: e.Origin})
		}
	}
	return o
}

var benchDB *sqlite.DB

// openBench builds the index of the benchmarks once, or opens an existing one.
func openBench(b *testing.B) *sqlite.DB {
	b.Helper()
	if benchDB != nil {
		return benchDB
	}
	path, keep := *benchIndex, *benchIndex != ""
	if !keep {
		path = filepath.Join(benchDir, "index.db")
	}
	_, err := os.Stat(path)
	made := keep && err == nil
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	benchDB = db
	if made {
		return db
	}
	r := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(r, 1.1, 4, 300_000)
	const perRun, perBatch = 100, 200
	for n := 0; n*perRun < *benchEvents; n += perBatch {
		var originals []indextest.Original
		for i := n; i < n+perBatch && i*perRun < *benchEvents; i++ {
			originals = append(originals, benchOriginal(i, perRun, r, words))
		}
		if err := db.Commit(b.Context(), indextest.Batch(fmt.Sprintf("bench-%06d", n), originals...)); err != nil {
			b.Fatal(err)
		}
		if err := db.Tidy(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	return db
}

var benchQueries = []string{
	"", "zebrafish", "w2000x", "error", "the", "zebrafish the", "w2000x error", "error func", "the -error",
	"tool:bash", "tool:bash the", "tool:bash w2000x", "role:user error", "kind:tool_result is:error", "is:error error",
	"project:/srv/project-7", "project:/srv/project-7 error", "project:/srv/project-7 w2000x", "project:nothing", "project:nothing error", "project:*ject-7* the",
	"after:2026-11-01 error", "during:2026-03 error", "during:2026-03-05 the", "model:model-3 error", "agent:nobody", "run:bench-000123", "run:bench-000123 the",
	`"the error"`, `"return nil"`, "retu*", "w2000*", "w200*", "w20*", "cost>0.99", "cost>0.99 the", "tokens>49k error", "cost>5", "cost>0.99 role:user", "duration>1h", "duration>118s", "events>1000", "tag:none error", "is:pinned", "path:*bench-000042*",
}

// BenchmarkFind finds the newest twenty hits, without texts.
func BenchmarkFind(b *testing.B) {
	for _, text := range benchQueries {
		b.Run(text, func(b *testing.B) {
			db := openBench(b)
			tree := indextest.Parse(b, text)
			n := 0
			latencies(b, func() {
				n = 0
				for _, err := range db.Find(b.Context(), tree, index.Page{Limit: 20}) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
			})
			b.ReportMetric(float64(n), "hits")
		})
	}
}

// latencies runs something b.N times and reports percentiles instead of the mean.
func latencies(b *testing.B, run func()) {
	var all []time.Duration
	for b.Loop() {
		began := time.Now()
		run()
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(all[len(all)*95/100].Microseconds()), "p95-us")
}

// BenchmarkTerms searches for a rare substring of words.
func BenchmarkTerms(b *testing.B) {
	db := openBench(b)
	latencies(b, func() {
		for _, err := range db.TermsOrCut(b.Context(), "ebraf", 64) {
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
