package archive

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestRawAndText(t *testing.T) {
	w := newWorld(t)
	start, large := text("grows", 3000), text("large", 60000)
	w.put(file{source: "runs", path: "grows", content: start}, file{source: "runs", path: "large", content: large})
	whole := text("grows", 9000)
	w.put(file{source: "runs", path: "grows", content: whole}, file{source: "runs", path: "copy", content: large})
	r := w.open(Read)
	for _, c := range []struct {
		path           string
		offset, length int64
		content        string
	}{
		{"grows", 0, 9000, whole}, {"grows", 2990, 20, whole}, {"grows", 3000, 1, whole}, {"grows", 100, 50, whole},
		{"large", 8000, 17000, large}, {"large", 59999, 1, large}, {"copy", 8190, 10, large}, {"grows", 5, 0, whole},
	} {
		at := w.place(r, "runs", c.path, 1, c.offset, c.length)
		want := c.content[c.offset : c.offset+c.length]
		if got, err := r.Raw(t.Context(), at); err != nil || string(got) != want {
			t.Errorf("%s %d+%d: %v, %d bytes", c.path, c.offset, c.length, err, len(got))
		}
		if got, err := r.Text(t.Context(), at, 2); err != nil || got != "test/log/2:"+want {
			t.Errorf("text of %s %d+%d: %v", c.path, c.offset, c.length, err)
		}
	}
	for _, c := range [][2]int64{{9000, 1}, {8999, 2}, {-1, 2}, {0, -1}, {1 << 62, 1 << 62}} {
		if _, err := r.Raw(t.Context(), w.place(r, "runs", "grows", 1, c[0], c[1])); !errors.Is(err, index.ErrNotFound) {
			t.Errorf("bytes %v: %v", c, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Raw(ctx, w.place(r, "runs", "grows", 1, 0, 9)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestContentChecksItself(t *testing.T) {
	w := newWorld(t)
	content := text("x", 300<<10)
	w.put(file{source: "runs", path: "x", content: content})
	r := w.open(Read)
	r.window = 128 << 10 // so there are two and a piece
	v := onlyVersion(t, r)
	if got := readAll(t, r.Content(t.Context(), v)); string(got) != content {
		t.Errorf("%d bytes came back, not as they were", len(got))
	}
	v.SHA256[0]++
	if _, err := io.Copy(io.Discard, r.Content(t.Context(), v)); !errors.Is(err, blob.ErrCorrupt) {
		t.Errorf("other content: %v", err)
	}
}

func TestInnerLayers(t *testing.T) {
	w := newWorld(t)
	content := strings.Repeat("uryyb jbeyq ", 2000)
	w.put(file{source: "runs", path: "x.rot", content: content})
	for name, limit := range map[string]int64{"whole": layerCache, "streamed": 1000} {
		r := w.open(Read)
		r.layers.maxWhole = limit
		at := w.place(r, "runs", "x.rot", 1, 0, 5)
		at.Inner = "rot"
		// Forward, at the same place again, and backward.
		for _, offset := range []int64{0, 12, 12, 12000, 23988, 24, 1200} {
			ctx, cancel := context.WithCancel(t.Context())
			at.Offset = offset
			if got, err := r.Raw(ctx, at); err != nil || string(got) != "hello" {
				t.Errorf("%s: at %d %q, %v", name, offset, got, err)
			}
			cancel() // the next reader does not depend on it
		}
		at.Offset, at.Length = 23999, 2
		if _, err := r.Raw(t.Context(), at); !errors.Is(err, index.ErrNotFound) {
			t.Errorf("%s: beyond the end: %v", name, err)
		}
		at.Inner = "unknown"
		if _, err := r.Raw(t.Context(), at); err == nil {
			t.Errorf("%s: an unknown layer opens", name)
		}
	}
}

// TestTornLayer: the records before the point where a layer is torn were parsed, and must be readable.
func TestTornLayer(t *testing.T) {
	w := newWorld(t)
	w.put(file{source: "runs", path: "x.rot", content: strings.Repeat("uryyb jbeyq ", 2000)})
	for name, limit := range map[string]int64{"whole": layerCache, "streamed": 1000} {
		r := w.open(Read)
		r.layers.maxWhole = limit
		at := w.place(r, "runs", "x.rot", 1, 0, 5)
		at.Inner = "torn"
		for _, offset := range []int64{0, 11988, 24} {
			at.Offset = offset
			if got, err := r.Raw(t.Context(), at); err != nil || string(got) != "hello" {
				t.Errorf("%s: at %d %q, %v", name, offset, got, err)
			}
		}
		for _, offset := range []int64{11996, 12000, 12012} {
			at.Offset = offset
			if got, err := r.Raw(t.Context(), at); !errors.Is(err, errTorn) {
				t.Errorf("%s: behind the tear, at %d: %q, %v", name, offset, got, err)
			}
		}
	}
}

// TestSoughtLayers reads 200 layers all over an original, the last one first: all of them take about as much as reading the original once.
func TestSoughtLayers(t *testing.T) {
	w := newWorld(t)
	content := text("x", 30<<20) // more than what is cached
	m := w.put(file{source: "runs", path: "x", content: content})
	r := w.open(Read)
	counted := &blobtest.ReadCounter{Store: r.packs}
	r.library = pack.NewLibrary(counted, cacheSizes[Read])
	at := w.place(r, "runs", "x", 1, 10, 50)
	for i := 199; i >= 0; i-- {
		from := i * (len(content) / 200)
		at.Inner = strconv.Itoa(from)
		if got, err := r.Raw(t.Context(), at); err != nil || string(got) != content[from+10:from+60] {
			t.Fatalf("at %d: %.100q, %v", from, got, err)
		}
	}
	info, err := os.Stat(w.packFile(m.Pack))
	w.check(err)
	if got := counted.Bytes.Load(); got > info.Size()*3/2 {
		t.Errorf("%d bytes were read of a pack of %d", got, info.Size())
	}
}

// movingStore is a store in which gc is running: when a pack is first opened, its bytes have just moved to another.
type movingStore struct {
	blob.Store
	move func()
}

func (m *movingStore) Open(ctx context.Context, name string) (blob.Pack, error) {
	if m.move != nil {
		m.move()
		m.move = nil
	}
	return m.Store.Open(ctx, name)
}

func TestPackVanishes(t *testing.T) {
	w := newWorld(t)
	m := w.put(file{source: "runs", path: "a", content: "some bytes"})
	r := w.open(Read)
	at := w.place(r, "runs", "a", 1, 0, 10)
	r.library = pack.NewLibrary(&movingStore{Store: r.packs, move: func() {
		alter(t, r.Index().Path(), "UPDATE packs SET name = '2026/11/another'")
		w.check(os.Rename(w.packFile(m.Pack), w.packFile("2026/11/another")))
	}}, 0)
	if got, err := r.Raw(t.Context(), at); err != nil || string(got) != "some bytes" {
		t.Errorf("after the move: %q, %v", got, err)
	}
	w.check(os.Remove(w.packFile("2026/11/another")))
	_, err := w.open(Read).Raw(t.Context(), at)
	if !errors.Is(err, blob.ErrNotFound) || !strings.Contains(err.Error(), "runs/a") {
		t.Errorf("without the pack: %v", err)
	}
}

func TestReadersAtOnce(t *testing.T) {
	w := newWorld(t)
	content := map[string]string{}
	for _, name := range strings.Split("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "") {
		content[name] = text(name, 2000)
		w.put(file{source: "runs", path: name, content: content[name]})
	}
	r := w.open(Read) // more packs than stay open
	places := map[string]index.Place{}
	for name := range content {
		places[name] = w.place(r, "runs", name, 1, 100, 1000)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for name, at := range places {
				if got, err := r.Raw(t.Context(), at); err != nil || string(got) != content[name][100:1100] {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	all.Wait()
}

func TestConsoleText(t *testing.T) {
	w := newWorld(t)
	single := `{"role":"user","text":"hello"}`
	blocks := `{"blocks":[{"a":1},{"b":2}],"pad":"` + strings.Repeat("x", 70000) + `"}`
	w.withRun("a.jsonl", single+"\n"+blocks+"\n", func(p *index.Parsed) {
		row := index.Row{Labels: &index.Labels{Kind: transcript.KindMessage}, Verdict: transcript.Counted, Near: testTime.UnixMicro()}
		one, first, second := row, row, row
		one.Seq, one.Parts, one.Line, one.Length = 1, 1, 1, int64(len(single))
		first.Seq, first.Parts, first.Line = 2, 2, 2
		second = first
		first.Offset, first.Length = int64(len(single)+1+strings.Index(blocks, `{"a"`)), 7
		second.Part, second.Offset, second.Length = 1, first.Offset+8, 7
		p.Rows = []index.Row{one, first, second}
		p.Conversations[0].LastSeq, p.Conversations[0].TotalRows = 2, 3
	})
	r := w.open(Read)
	var ids []string
	for c, err := range r.Index().Conversations(t.Context(), onlyRun(t, r)) {
		w.check(err)
		ids = append(ids, c.ID)
	}
	for call, want := range map[string]any{
		"event_text('%s:1')": "test/log/0:" + single, "event_json('%s:1')": single, "event_json('%s:2')": blocks,
		"event_json('%s:2.2')": blocks, "event_text('%s:2.2')": `test/log/1:{"b":2}`, "event_text('%s:2')": "test/log/0:{\"a\":1}\ntest/log/1:{\"b\":2}",
		"call_input('%s:1')": "test/log/0:" + single, "event_text('%s:9')": nil,
	} {
		var got any
		q := index.Question{SQL: "SELECT " + strings.ReplaceAll(call, "%s", ids[0])}
		err := r.Index().Query(t.Context(), q, func([]string) error { return nil }, func(row []any) error { got = row[0]; return nil })
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", call, got, err)
		}
	}
}

func onlyRun(t *testing.T, a *Archive) string {
	t.Helper()
	for r, err := range a.Index().Runs(t.Context(), index.Selection{}, index.Page{}) {
		if err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	t.Fatal("the index has no run")
	return ""
}
