package ask_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/transcript"
	"github.com/txarchive/txarchive/migrations"
)

// oddOriginal has calls whose ids repeat or are missing, results before their calls, without a call or in another original of
// the conversation, missing times, steps, and partially unknown usage.
func oddOriginal(r *rand.Rand, n int) indextest.Original {
	run := fmt.Sprint("odd-", n/3)
	if n%10 > 2 {
		run = fmt.Sprint("alone-", n)
	}
	o := indextest.Original{Source: "odd", Path: fmt.Sprint(n, ".jsonl"), Format: "awf", Claim: ".", Size: 1000, ChunkSize: 4}
	o.Records = append(o.Records, &transcript.Run{ID: run}, &transcript.Conversation{Run: run, ID: run, Shared: n%2 == 0, Rank: n})
	for i := range 8 {
		place, id := indextest.Place(i), fmt.Sprint(r.IntN(4))
		if n%5 == 0 {
			id = ""
		}
		e := &transcript.Event{Run: run, Conversation: run, Kind: transcript.KindMessage, Origin: place, Time: indextest.At(int64(r.IntN([]int{3000, 2}[n%10/9]))), Parts: []transcript.Part{{Text: "odd"}}}
		if r.IntN(10) == 0 {
			e.Time = transcript.Time{}
		}
		switch r.IntN(4) {
		case 0:
			e.Parts[0].Call = &transcript.Call{ID: id, Name: "Bash"}
		case 1:
			e.Parts[0].Result = &transcript.Result{Call: id}
			if r.IntN(3) == 0 {
				e.Parts[0].Result.Duration = transcript.Known(r.Int64N(3e9))
			}
		case 2:
			some := func() (c transcript.Count) {
				if r.IntN(2) == 0 {
					c = transcript.Known(r.Int64N(1000))
				}
				return c
			}
			u := &transcript.Usage{Run: run, Conversation: run, Key: fmt.Sprint(n, "-", i), Time: e.Time, Input: some(), CacheRead: some(), Output: some(), Origin: place}
			if u.Cost = some(); u.Cost.Known {
				u.Cost.N *= 1e6
			}
			o.Records = append(o.Records, u)
		case 3:
			if r.IntN(8) == 0 {
				o.Records = append(o.Records, &transcript.Step{Run: run, Key: fmt.Sprint("step", i%3), Name: "build", Duration: transcript.Known(r.Int64N(3e9)), Origin: place})
			}
		}
		o.Records = append(o.Records, e)
	}
	return o
}

// numbers are conditions of numbers, with places for an operator and a number.
var numbers = []string{"duration%s%ds", "duration%s%ds", "duration%s%dms", "cost%s0.%03d", "tokens%s%d", "input%s%d", "output%s%d"}

// sameNumbers compares queries for numbers, each with some more conditions, with and without the use of bounds.
func sameNumbers(t *testing.T, db *ask.Reader, r *rand.Rand, numbers []string, more ...string) {
	t.Helper()
	// The key of cached owners includes maxOwnedRows.
	every := db.WithLimits(ask.NewLimits(math.MaxInt32, 1<<41, 5000, 512, math.MaxInt32))
	bounded := db.WithLimits(ask.NewLimits(0, 1<<40, 50, 20, 3))
	for _, field := range numbers {
		for _, op := range []string{"<", "<=", "=", ">=", ">"} {
			n := r.IntN(1000)
			if field[0] == 'd' || field[0] == 't' {
				n *= 3
			}
			for _, with := range more {
				text := fmt.Sprintf(field, op, n) + with
				if got, want := foundIDs(t, bounded, text, 0), foundIDs(t, every, text, 1<<20); !slices.Equal(got, want) {
					t.Fatalf("%s: %d hits, want %d", text, len(got), len(want))
				}
				if with == "" { // rows that do not count are of other owners
					got, err := bounded.Count(t.Context(), indextest.Parse(t, text), index.Page{AllVersions: true})
					want, failed := every.Count(t.Context(), indextest.Parse(t, text), index.Page{AllVersions: true})
					if got != want || err != nil || failed != nil {
						t.Fatalf("%s, all versions: counts %d, want %d (%v, %v)", text, got, want, err, failed)
					}
				}
			}
		}
	}
}

// TestBounds: the stored bounds of the numbers of versions are never too narrow, however they were computed.
func TestBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 5))
	db := newWorld(t)
	const originals = 120
	for n := 0; n < originals; n += 10 {
		var all []indextest.Original
		for i := range 10 {
			all = append(all, oddOriginal(r, n+i))
		}
		b := indextest.Batch(fmt.Sprint("odd", n), all...)
		for i, of := range slices.Collect(slices.Chunk(b.Parsed, 1+n/10%13)) {
			if b.Parsed = of; i > 0 {
				b = index.Batch{Parsed: of}
			}
			if err := db.Commit(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	sameNumbers(t, db.Reader, r, numbers, "", " odd -tool:bash", " OR duration>2990s", " -tool:bash", " kind:message", " odd has:cost")
	var versions, wide int
	if err := db.raw.QueryRow("SELECT count(*), sum(duration_most > 3000000000) FROM bounds").Scan(&versions, &wide); err != nil || versions > originals || versions < originals/2 || wide > 0 {
		t.Errorf("bounds of %d versions, %d that say nothing (%v)", versions, wide, err)
	}
	if _, err := db.raw.Exec("UPDATE usage SET calculated = id * 7919 % 1000 * 1000000 WHERE id % 2 = 0"); err != nil { // other prices
		t.Fatal(err)
	}
	sameNumbers(t, db.Reader, r, []string{"cost%s0.%03d", "cost%s0.%03d", "input%s%d"}, "")
	// An index of an earlier schema version, which the migration fills in.
	script, err := migrations.SQLite.ReadFile("sqlite/00007_bounds.sql")
	if err != nil {
		t.Fatal(err)
	}
	up, _, _ := strings.Cut(string(script), "-- +goose Down")
	if _, err := db.raw.Exec("DROP TABLE bounds; DROP TRIGGER usage_repriced; " + up); err != nil {
		t.Fatal(err)
	}
	again, err := sqlite.Open(t.Context(), db.Path(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	sameNumbers(t, again.Reader, r, numbers, "")
}

// TestPaths: files are found by parts of their paths under both plans: testing the path of each row, and listing all files.
func TestPaths(t *testing.T) {
	db := newWorld(t)
	names := []string{"a%b_c\\d", "axb-c-d", "Kelvin-\u212a", "kelvin-K", "\u017fharp", "Sharp ss", "\xffbad-kS", "\u00e9t\u00c9", "deep/Kelvin/s"}
	var all []indextest.Original
	for i, name := range names {
		run := fmt.Sprint("run-", i)
		all = append(all, indextest.Original{Source: []string{"home", "Work"}[i%2], Path: name, Format: "awf", Claim: ".", Size: 100, Records: []transcript.Record{
			&transcript.Run{ID: run}, &transcript.Conversation{Run: run}, &transcript.Event{Run: run, Kind: transcript.KindMessage, Time: indextest.At(int64(i)), Origin: indextest.Place(0),
				Parts: []transcript.Part{{Text: "odd"}}}}})
	}
	if err := db.Commit(t.Context(), indextest.Batch("paths", all...)); err != nil {
		t.Fatal(err)
	}
	every := db.WithLimits(ask.NewLimits(math.MaxInt32, 1<<41, 5000, 512, math.MaxInt32))
	found := 0
	for _, value := range []string{"k", "S", "%", "_", "a%B", "b_C\\\\d", "elvin", "KELVIN", "\u212a", "\u017f", "harp", "sS", "\u00c9", "-", "nothing", "bad-ks"} {
		for _, text := range []string{`path:*"` + value + `"*`, `path:"` + value + `"*`, `path:"` + value + `"`, `-path:*"` + value + `"*`, `path:*"` + value + `"* OR source:home`, `source:work path:*"` + value + `"*`} {
			want := foundIDs(t, every, text, 1<<20)
			if got := foundIDs(t, db.Reader, text, 0); !slices.Equal(got, want) {
				t.Errorf("%s: %d hits, want %d", text, len(got), len(want))
			}
			runs := 0
			for _, err := range db.Runs(t.Context(), index.Selection{Query: indextest.Parse(t, text)}, index.Page{}) {
				if runs++; err != nil {
					t.Fatal(err)
				}
			}
			if runs != len(want) {
				t.Errorf("%s: %d runs, want %d", text, runs, len(want))
			}
			found += len(want)
		}
	}
	if found < 100 {
		t.Errorf("%d hits in all", found)
	}
}
