package ingest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index/sqlite"
)

// TestCopyOfWhatIsBeingCommitted adds a copy of content whose pack is sealed but not committed yet.
func TestCopyOfWhatIsBeingCommitted(t *testing.T) {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "index.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	g := &Ingester{Packs: blobtest.NewMemory(), Index: db, Writer: "batch1"}
	g.applyDefaults()
	const text = "said twice"
	version := func(path string) blob.Version {
		ref := blob.RefOf([]byte(text))
		return blob.Version{
			Source: "s", Path: path, Number: 1, Root: ref, Size: int64(len(text)), SHA256: ref, ModTime: time.Unix(1e9, 0), Mode: 0o600,
			Extents: []blob.Extent{{Size: int64(len(text)), SHA256: ref}},
		}
	}
	commits := &commits{batches: make(chan *batch, 2)}
	b := &batcher{g: g, ctx: ctx, commits: commits}
	builder, first := pack.NewBuilder(pack.Options{}), version("first")
	if _, err := builder.Put(&first, &first.Extents[0], strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if err := b.add(delivery{unit: builder.Flush(), pieces: []*piece{{version: first}}}); err != nil {
		t.Fatal(err)
	}
	if err := b.seal(); err != nil {
		t.Fatal(err)
	}
	if err := b.add(delivery{pieces: []*piece{{version: version("second"), copy: true}}}); err != nil {
		t.Fatal(err)
	}
	if len(b.waitingCopies) > 0 {
		t.Fatal("a copy waits for what is stored already")
	}
	if err := b.seal(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := g.commit(ctx, <-commits.batches); err != nil {
			t.Fatal(err)
		}
	}
	one, err := db.Newest(ctx, "s", "first")
	if err != nil {
		t.Fatal(err)
	}
	two, err := db.Newest(ctx, "s", "second")
	if err != nil || len(two.Extents) != 1 || two.Extents[0].CopyOf == nil || *two.Extents[0].CopyOf != *one.Extents[0].CopyOf {
		t.Errorf("%+v, %v, want %+v", two.Extents, err, one.Extents)
	}
}

// TestSealStale: an old batch grows while another one is committed, and is sealed after that.
func TestSealStale(t *testing.T) {
	g := &Ingester{Packs: blobtest.NewMemory(), Writer: "batch1"}
	g.applyDefaults()
	b := &batcher{g: g, ctx: t.Context(), commits: newCommits()}
	go func() {
		b.commits.batches <- &batch{}
		close(b.commits.batches)
	}()
	sealed := func() bool {
		if err := b.sealStale(); err != nil {
			t.Error(err)
		}
		return b.current == nil
	}
	if err := b.ensureBatch(); err != nil {
		t.Fatal(err)
	}
	if sealed() {
		t.Error("a new batch was sealed")
	}
	b.current.started = time.Now().Add(-2 * batchMaxAge)
	for range b.commits.each {
		if sealed() {
			t.Error("sealed beside another commit")
		}
	}
	<-b.commits.done
	if !sealed() {
		t.Error("not sealed when nothing was committed")
	}
}
