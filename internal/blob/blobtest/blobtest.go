// Package blobtest is the conformance suite of blob.Store, which the test of every store runs. It also has a store in
// memory for the tests of other packages.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
)

// Run runs the suite. open returns a fresh, empty store each time.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	tests := []struct {
		name string
		run  func(*testing.T, blob.Store)
	}{
		{"whole", testWhole},
		{"invisible before commit", testInvisible},
		{"never over a name", testNeverOver},
		{"commit ends the upload", testEnds},
		{"bad names", testBadNames},
		{"listed in order", testOrder},
		{"list stops", testListStops},
		{"not found", testNotFound},
		{"parallel create", testParallel},
		{"race for a name", testRace},
		{"cancelled", testCancelled},
		{"readable after remove", testReadableAfterRemove},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

// Put stores data under name.
func Put(t *testing.T, store blob.Store, name string, data []byte) {
	t.Helper()
	if err := put(store, name, data); err != nil {
		t.Fatal(err)
	}
}

func put(store blob.Store, name string, data []byte) error {
	up, err := store.Create(context.Background())
	if err != nil {
		return err
	}
	// In pieces, as packs are written.
	for piece := range slices.Chunk(data, 1000) {
		if n, err := up.Write(piece); err != nil || n != len(piece) {
			return errors.Join(fmt.Errorf("wrote %d of %d: %w", n, len(piece), err), up.Abort())
		}
	}
	return up.Commit(context.Background(), name)
}

// Read returns the bytes of a pack.
func Read(t *testing.T, store blob.Store, name string) []byte {
	t.Helper()
	pack, err := store.Open(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(io.NewSectionReader(pack, 0, pack.Size()))
	if err := errors.Join(err, pack.Close()); err != nil {
		t.Fatal(err)
	}
	return data
}

// Names returns the names that store lists, in its order.
func Names(t *testing.T, store blob.Store) []string {
	t.Helper()
	var names []string
	for info, err := range store.List(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, info.Name)
	}
	return names
}

func wantNames(t *testing.T, store blob.Store, want ...string) {
	t.Helper()
	if got := Names(t, store); !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

func testWhole(t *testing.T, store blob.Store) {
	for i, size := range []int{0, 1, 999, 1000, 100_000} {
		name := fmt.Sprintf("2026/11/pack-%d", i)
		data := bytes.Repeat([]byte{byte(i), 0, 255, '\n', '\r'}, size/5+1)[:size]
		Put(t, store, name, data)
		if !bytes.Equal(Read(t, store, name), data) {
			t.Errorf("%s came back different", name)
		}
	}
	for info, err := range store.List(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if got := len(Read(t, store, info.Name)); int64(got) != info.Size {
			t.Errorf("%s is listed with %d bytes and has %d", info.Name, info.Size, got)
		}
	}
	pack, err := store.Open(context.Background(), "2026/11/pack-3")
	if err != nil {
		t.Fatal(err)
	}
	if pack.Size() != 1000 {
		t.Errorf("size %d, want 1000", pack.Size())
	}
	if n, err := pack.ReadAt(make([]byte, 10), 995); n != 5 || err != io.EOF {
		t.Errorf("read over the end: %d, %v", n, err)
	}
	if err := pack.Close(); err != nil {
		t.Error(err)
	}
}

func testInvisible(t *testing.T, store blob.Store) {
	ctx := context.Background()
	wantNames(t, store)
	up, err := store.Create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := up.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	wantNames(t, store)
	if err := up.Abort(); err != nil {
		t.Errorf("abort: %v", err)
	}
	if err := up.Abort(); err != nil {
		t.Errorf("abort again: %v", err)
	}
	wantNames(t, store)
	if err := up.Commit(ctx, "2026/11/aborted"); err == nil {
		t.Error("an aborted upload was committed")
	}
	wantNames(t, store)
}

func testNeverOver(t *testing.T, store blob.Store) {
	Put(t, store, "2026/11/a", []byte("first"))
	if err := put(store, "2026/11/a", []byte("second")); !errors.Is(err, blob.ErrExists) {
		t.Errorf("over a name: %v", err)
	}
	if got := Read(t, store, "2026/11/a"); string(got) != "first" {
		t.Errorf("now it holds %q", got)
	}
	wantNames(t, store, "2026/11/a")
}

func testEnds(t *testing.T, store blob.Store) {
	ctx := context.Background()
	up, err := store.Create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := up.Write([]byte("content")); err != nil {
		t.Fatal(err)
	}
	if err := up.Commit(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if err := up.Abort(); err != nil {
		t.Errorf("abort after commit: %v", err)
	}
	if err := up.Commit(ctx, "b"); err == nil {
		t.Error("committed twice")
	}
	if _, err := up.Write([]byte("more")); err == nil {
		t.Error("written after commit")
	}
	if got := Read(t, store, "a"); string(got) != "content" {
		t.Errorf("now it holds %q", got)
	}
	wantNames(t, store, "a")
}

func testBadNames(t *testing.T, store blob.Store) {
	for _, name := range []string{"", "/a", "../a", "a/../b", "a/", ".a", "a//b", "a b", "a\\b", "a/.b"} {
		if err := put(store, name, []byte("x")); err == nil {
			t.Errorf("%q was taken for a name", name)
		}
		if _, err := store.Open(context.Background(), name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("open %q: %v", name, err)
		}
	}
	wantNames(t, store)
}

func testOrder(t *testing.T, store blob.Store) {
	names := []string{"a", "a-b/c", "a/b", "a/b-c", "a/b.c", "a0", "b/2026/11/x", "b/2026/12/a", "b/2027/01/a", "c"}
	slices.Sort(names)
	for _, i := range []int{3, 9, 0, 5, 1, 8, 2, 7, 4, 6} {
		Put(t, store, names[i], []byte(names[i]))
	}
	wantNames(t, store, names...)
}

func testListStops(t *testing.T, store blob.Store) {
	for _, name := range []string{"a", "b/x", "b/y", "c"} {
		Put(t, store, name, nil)
	}
	for stop := 1; stop <= 4; stop++ {
		n := 0
		for range store.List(context.Background()) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("got %d packs, wanted to stop at %d", n, stop)
		}
	}
}

func testNotFound(t *testing.T, store blob.Store) {
	ctx := context.Background()
	for _, name := range []string{"none", "2026/11/none"} {
		if _, err := store.Open(ctx, name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("open %s: %v", name, err)
		}
		if err := store.Remove(ctx, name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("remove %s: %v", name, err)
		}
	}
	Put(t, store, "2026/11/a", []byte("x"))
	if err := store.Remove(ctx, "2026/11/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(ctx, "2026/11/a"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("open what is removed: %v", err)
	}
	wantNames(t, store)
}

func testParallel(t *testing.T, store blob.Store) {
	var wg sync.WaitGroup
	var want []string
	for i := range 16 {
		name := fmt.Sprintf("2026/%02d/pack-%d", i%3+1, i)
		want = append(want, name)
		wg.Go(func() {
			if err := put(store, name, bytes.Repeat([]byte(name), 500)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	slices.Sort(want)
	wantNames(t, store, want...)
	for _, name := range want {
		if !bytes.Equal(Read(t, store, name), bytes.Repeat([]byte(name), 500)) {
			t.Errorf("%s has the bytes of another", name)
		}
	}
}

func testRace(t *testing.T, store blob.Store) {
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = put(store, "2026/11/same", []byte{byte(i)}) })
	}
	wg.Wait()
	winner := Read(t, store, "2026/11/same")
	for i, err := range errs {
		switch {
		case err == nil && !bytes.Equal(winner, []byte{byte(i)}):
			t.Errorf("writer %d was told that it won, the pack is %v", i, winner)
		case err != nil && !errors.Is(err, blob.ErrExists):
			t.Errorf("writer %d: %v", i, err)
		}
	}
}

func testCancelled(t *testing.T, store blob.Store) {
	up, err := store.Create(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := up.Commit(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("commit: %v", err)
	}
	wantNames(t, store)
	Put(t, store, "b", nil)
	for _, err := range store.List(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("list: %v", err)
		}
	}
}

func testReadableAfterRemove(t *testing.T, store blob.Store) {
	ctx := context.Background()
	Put(t, store, "a", []byte("still here"))
	pack, err := store.Open(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Remove(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	if _, err := pack.ReadAt(buf, 0); (err != nil && err != io.EOF) || string(buf) != "still here" {
		t.Errorf("read %q, %v", buf, err)
	}
	if err := pack.Close(); err != nil {
		t.Error(err)
	}
}
