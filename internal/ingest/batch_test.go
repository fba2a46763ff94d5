package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
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
	version := func(path string) blob.Version { return versionOf(path, text) }
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

func versionOf(path, text string) blob.Version {
	ref := blob.RefOf([]byte(text))
	return blob.Version{
		Source: "s", Path: path, Number: 1, Root: ref, Size: int64(len(text)), SHA256: ref, ModTime: time.Unix(1e9, 0), Mode: 0o600,
		Extents: []blob.Extent{{Size: int64(len(text)), SHA256: ref}},
	}
}

// asked counts how often an index is asked for content.
type asked struct {
	Index
	n int
}

func (a *asked) ByRef(ctx context.Context, ref blob.Ref) (index.Stored, error) {
	a.n++
	return a.Index.ByRef(ctx, ref)
}

// TestCopyThatWaits: a copy of content that another worker still has asks the index once, however much comes before it.
func TestCopyThatWaits(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	x := &asked{Index: db}
	g := &Ingester{Packs: blobtest.NewMemory(), Index: x, Writer: "batch1"}
	g.applyDefaults()
	b, builder := &batcher{g: g, ctx: t.Context(), commits: newCommits()}, pack.NewBuilder(pack.Options{})
	deliver := func(text string) {
		t.Helper()
		v := versionOf("of "+text, text)
		if _, err := builder.Put(&v, &v.Extents[0], strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if err := b.add(delivery{unit: builder.Flush(), pieces: []*piece{{version: v}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.add(delivery{pieces: []*piece{{version: versionOf("copy", "late"), copy: true}}}); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		deliver(fmt.Sprint("something else ", i))
	}
	if len(b.waitingCopies) != 1 || x.n != 1 {
		t.Errorf("%d copies wait, and the index was asked %d times", len(b.waitingCopies), x.n)
	}
	if deliver("late"); len(b.waitingCopies) != 0 || len(b.current.pieces) != 7 {
		t.Errorf("%d copies wait, %d pieces", len(b.waitingCopies), len(b.current.pieces))
	}
	if err := b.abort(); err != nil {
		t.Fatal(err)
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
