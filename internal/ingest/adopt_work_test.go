package ingest_test

import (
	"fmt"
	"testing"

	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// TestAdoptWork reindexes many small files whose order by name differs from that by time: each member
// is read about once, although the cache holds hardly any members.
func TestAdoptWork(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const files = 200
	for i := range files {
		run := fmt.Sprintf("%08x-1111-4111-8111-111111111111", uint32(i)*2654435761)
		s.write("storage/transcripts/"+run+".jsonl", awfLines(run, 1, 60))
	}
	w.ingest("runs", s.dir, ".")
	want := w.dump()

	packs := &blobtest.ReadCounter{Store: w.Packs}
	var stored int64
	for info, err := range packs.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		stored += info.Size
	}
	w.open("again.db")
	w.Packs, w.Originals = packs, pack.NewLibrary(packs, 1<<20)
	if _, err := w.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.compareDumps("made again", w.dump(), want)
	if read := packs.Bytes.Load(); read < stored/2 || read > 2*stored {
		t.Errorf("%d bytes of packs were read, which hold %d", read, stored)
	}
}
