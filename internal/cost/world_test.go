package cost_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/index/sqlite/sqlitetest"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/transcript"
)

// book has round prices: a token of model a costs 1000 nano-USD in and 5000 out, cached 100; one of b 333 and 777.
func book() *price.Book {
	rate := func(c price.Class, nano int64) price.Rate { return price.Rate{Class: c, Pico: nano * 1000} }
	return price.New(price.Table{Date: "2020-01-01", Source: "test", Entries: []price.Entry{
		{Key: "a", Provider: "x", Rates: []price.Rate{rate(price.Input, 1000), rate(price.Output, 5000), rate(price.CacheRead, 100),
			rate(price.CacheWrite, 1250), rate(price.CacheWrite1h, 2000)}},
		{Key: "b", Provider: "x", Rates: []price.Rate{rate(price.Input, 333), rate(price.Output, 777)}},
		{Key: "free", Provider: "x", Rates: []price.Rate{rate(price.Input, 0), rate(price.Output, 0)}},
	}})
}

// fill makes an index of originals, each in a pack of its own.
func fill(t testing.TB, originals ...indextest.Original) *sqlite.DB {
	t.Helper()
	db := sqlitetest.Open(t, filepath.Join(t.TempDir(), "index.db"))
	for _, o := range originals {
		commit(t, db, o)
	}
	return db
}

func commit(t testing.TB, db *sqlite.DB, originals ...indextest.Original) {
	t.Helper()
	b := indextest.Batch(originals[0].Source+"/"+originals[0].Path, originals...)
	b.Prices = book()
	if err := db.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// file is an original of a run that holds one conversation and its usage, a record every 100 bytes.
func file(run, path string, records ...transcript.Record) indextest.Original {
	o := indextest.Original{Source: "src", Path: path, Format: "awf", Claim: ".", Size: int64(len(records)+1) * 100}
	o.Records = append(o.Records, &transcript.Run{ID: run}, &transcript.Conversation{Run: run})
	for i, r := range records {
		switch r := r.(type) {
		case *transcript.Usage:
			r.Run, r.Origin = run, indextest.Place(i)
		case *transcript.Event:
			r.Run, r.Origin = run, indextest.Place(i)
		case *transcript.Link:
			r.Origin = indextest.Place(i)
		}
		o.Records = append(o.Records, r)
	}
	return o
}

func at(s string) transcript.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return transcript.Time{UnixMicro: t.UnixMicro(), Valid: true}
}

// spent is usage of tokens in and out.
func spent(when, model string, in, out int64) *transcript.Usage {
	return &transcript.Usage{Time: at(when), Model: model, Input: transcript.Known(in), Output: transcript.Known(out)}
}

// paid is usage that reports a cost and no tokens.
func paid(when string, nano int64) *transcript.Usage {
	return &transcript.Usage{Time: at(when), Cost: transcript.Known(nano), CostSource: "total_cost_usd"}
}

func run(t testing.TB, x index.Accounts, o cost.Options) *cost.Report {
	t.Helper()
	r, err := cost.Run(t.Context(), x, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// asMaps is a report as scripts read it.
func asMaps(t testing.TB, r *cost.Report) (rows []map[string]any, totals map[string]any) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Rows   []map[string]any
		Totals map[string]any
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all.Rows, all.Totals
}

// table is the cost of each row by its first key; "-" is no value and -1 no cost.
func table(r *cost.Report) map[string]int64 {
	out := map[string]int64{}
	for _, row := range r.Rows {
		key, n := "-", int64(-1)
		if row.Keys[0].Value != nil {
			key = *row.Keys[0].Value
		}
		if row.Cost != nil {
			n = *row.Cost
		}
		out[key] = n
	}
	return out
}
