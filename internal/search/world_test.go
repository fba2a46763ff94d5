package search

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/index/sqlite/sqlitetest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// world is an index with the texts that belong to it.
type world struct {
	t     *testing.T
	db    *sqlite.DB
	texts map[string]string // by path, offset and part
	rows  []row
	packs int
	reads atomic.Int64
	fail  map[string]error // texts that cannot be read
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := sqlitetest.Open(t, filepath.Join(t.TempDir(), "index.db"))
	return &world{t: t, db: db, texts: map[string]string{}, fail: map[string]error{}}
}

func textKey(path string, version int, offset int64, part int) string {
	return fmt.Sprint(path, "|", version, "|", offset, "|", part)
}

// Text is what the archive does.
func (w *world) Text(ctx context.Context, p index.Place, part int) (string, error) {
	w.reads.Add(1)
	key := textKey(p.Path, p.Number, p.Offset, part)
	if err := w.fail[key]; err != nil {
		return "", err
	}
	text, ok := w.texts[key]
	if !ok {
		return "", fmt.Errorf("no text at %s", key)
	}
	return text, ctx.Err()
}

// Placed is Text.
func (w *world) Placed(context.Context, []index.Place) func(context.Context, index.Place, int) (string, error) {
	return w.Text
}

var now = indextest.Epoch.Add(24 * time.Hour)

func (w *world) searcher() *Searcher {
	return &Searcher{Index: w.db, Texts: w, Now: func() time.Time { return now }}
}

// take commits originals of one run each, and remembers their rows.
func (w *world) take(originals ...indextest.Original) {
	w.t.Helper()
	w.packs++
	from := len(w.rows)
	for _, o := range originals {
		w.rows = append(w.rows, naiveRows(&o)...)
		for _, r := range o.Records {
			if e, ok := r.(*transcript.Event); ok {
				for i, p := range e.Parts {
					w.texts[textKey(o.Path, max(o.Number, 1), e.Origin.Offset+p.Offset, i)] = p.Text
				}
			}
		}
	}
	b := indextest.Batch(fmt.Sprintf("pack-%03d", w.packs), originals...)
	if err := w.db.Commit(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
	w.name(w.rows[from:])
}

// name puts the public ids of conversations before what tells the rows of one apart.
func (w *world) name(rows []row) {
	type key struct{ run, conversation string }
	ids, runs := map[key]string{}, map[string]string{}
	for i := range rows {
		r := &rows[i]
		if runs[r.run] == "" {
			run, err := w.db.Run(w.t.Context(), r.run)
			if err != nil {
				w.t.Fatal(err)
			}
			runs[r.run] = run.ID
			for c, err := range w.db.Conversations(w.t.Context(), run.ID) {
				if err != nil {
					w.t.Fatal(err)
				}
				if k := (key{r.run, c.NativeID}); ids[k] == "" {
					ids[k] = c.ID
				}
			}
		}
		r.runID = runs[r.run]
		r.id = ids[key{r.run, r.conversation}] + r.id
	}
}

// talk is an original with one run, one conversation and a message for each text, a minute apart.
func talk(run string, texts ...string) indextest.Original {
	o := indextest.Original{Source: "src", Path: run + ".jsonl", Format: "awf", Claim: ".", Size: int64(len(texts)+1) * 100}
	o.Records = append(o.Records, &transcript.Run{ID: run, Title: "talk of " + run, Agent: "tester", Project: "/home/" + run},
		&transcript.Conversation{Run: run})
	for i, text := range texts {
		o.Records = append(o.Records, &transcript.Event{Run: run, Kind: transcript.KindMessage, Role: []string{"user", "assistant"}[i%2],
			Time: indextest.At(int64(i) * 60), Origin: indextest.Place(i), Parts: []transcript.Part{{Text: text}}})
	}
	return o
}

// find returns the results of a query and its coverage.
func find(t *testing.T, s *Searcher, text string, o Options) ([]Result, *Coverage) {
	t.Helper()
	a, err := s.Find(t.Context(), text, o)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var out []Result
	for r, err := range a.Results() {
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out = append(out, r)
	}
	c, err := a.Coverage(t.Context())
	if err != nil {
		t.Fatalf("%s: coverage: %v", text, err)
	}
	return out, c
}

func ids(results []Result) []string {
	out := make([]string, len(results))
	for i := range results {
		out[i] = results[i].ID
	}
	return out
}
