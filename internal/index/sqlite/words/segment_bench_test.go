package words

import (
	"runtime"
	"testing"

	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
)

// BenchmarkWords compares what FTS5 takes to index a batch with what segments take, both with the commit. With -cpu 1
// the time is nearly all CPU.
func BenchmarkWords(b *testing.B) {
	c := newCorpus(1, 100_000)
	rows := c.rows(30_000)
	terms := 0
	for i := range rows {
		rows[i] = c.row(rows[i].ID, c.text(20+c.IntN(100)), ":kind:message")
		terms += len(rows[i].T) + 1
	}
	for name, write := range map[string]func(*write.Tx) error{
		"native":   func(x *write.Tx) error { return writeNative(x, rows) },
		"segments": func(x *write.Tx) error { return writeBulk(x, rows, bulkMemory) },
	} {
		b.Run(name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				b.StopTimer()
				db := newIndex(b)
				b.StartTimer()
				writetest.In(b, db.w, write)
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(b.N)/float64(terms), "allocs/term")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(terms), "ns/term")
		})
	}
}
