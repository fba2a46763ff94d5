package search_test

import (
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/search"
)

func BenchmarkCold(b *testing.B) {
	for b.Loop() {
		store, err := archive.Open(b.Context(), *benchArchive, archive.Read, archive.Options{Decode: all.Decode, Layer: ingest.Layer(all.Formats())})
		if err != nil {
			b.Fatal(err)
		}
		s := &search.Searcher{Index: store.Index(), Texts: store, Now: func() time.Time { return indextest.Epoch }}
		page(b, s, "error", search.Options{}, true)
		store.Close()
	}
}
