package sqlite

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestOneOfEachRequestCounts: of requests that are told several times, under a key of their own or under one that others speak
// for, the same record counts in whatever order originals come, and another one when it goes.
func TestOneOfEachRequestCounts(t *testing.T) {
	r := seedtest.Rand(t)
	var files []indextest.Original
	for i := range 12 {
		var usage []*transcript.Usage
		for range 1 + r.IntN(6) {
			message := fmt.Sprint("m", r.IntN(8))
			u := &transcript.Usage{Key: message, Rank: r.Int64N(3), Input: transcript.Known(1), Time: indextest.At(r.Int64N(1000))}
			if r.IntN(3) > 0 {
				u.Key, u.Alias = fmt.Sprint(message, " r", r.IntN(2)), message
			}
			if u.Alias != "" && r.IntN(4) == 0 { // another version of the file calls the request that it speaks for otherwise
				u.Alias = fmt.Sprint("m", r.IntN(8))
			}
			usage = append(usage, u)
		}
		files = append(files, usageFile(fmt.Sprintf("file-%02d", i), usage...))
	}
	first := judgedIn(t, files, r)
	writetest.Same(t, "another order", writetest.Dump(t, judgedIn(t, files, r).r, verdictsSQL), writetest.Dump(t, first.r, verdictsSQL))
	for len(files) > 0 {
		gone := r.IntN(len(files))
		bury(t, first, files[gone])
		files = append(files[:gone:gone], files[gone+1:]...)
		writetest.Same(t, "after one has gone", writetest.Dump(t, first.r, verdictsSQL), writetest.Dump(t, judgedIn(t, files, r).r, verdictsSQL))
	}
}

const verdictsSQL = `SELECT f.path, u.offset, u.usage_id, u.verdict, ` + schema.UsageOf + ` FROM usage u JOIN versions v ON v.id = u.version JOIN files f ON f.id = v.file
	LEFT JOIN usage o ON o.id = u.of ORDER BY 1, 2`

// judgedIn is an index to which originals came in some order, several at a time, in which exactly those count that should.
func judgedIn(t *testing.T, files []indextest.Original, r *rand.Rand) *DB {
	t.Helper()
	db := newDB(t)
	order := r.Perm(len(files))
	for i := 0; i < len(order); {
		var some []indextest.Original
		for n := 1 + r.IntN(4); n > 0 && i < len(order); n, i = n-1, i+1 {
			some = append(some, files[order[i]])
		}
		if err := db.Commit(t.Context(), indextest.Batch(fmt.Sprint("pack-", i), some...)); err != nil {
			t.Fatal(err)
		}
	}
	told, spoken := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		for _, record := range f.Records {
			if u, ok := record.(*transcript.Usage); ok {
				told[u.Key] = true
				spoken[u.Alias] = true
			}
		}
	}
	want := 0
	for key := range told {
		if !spoken[key] {
			want++
		}
	}
	var counted int
	if err := db.r.Get(&counted, "SELECT count(*) FROM usage WHERE verdict = 0"); err != nil {
		t.Fatal(err)
	}
	if counted != want {
		t.Fatalf("%d records count, %d should", counted, want)
	}
	return db
}
