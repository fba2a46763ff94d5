package ask_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestFrequencies compares Frequencies with counts in the texts, over several segments.
func TestFrequencies(t *testing.T) {
	db := newWorld(t)
	r := rand.New(rand.NewPCG(3, 9))
	words := []string{"alpha", "beta", "gammaDelta", "zeta", "alphabet", "数"}
	texts := map[string]string{} // by run and seq
	for n := range 12 {
		run := fmt.Sprintf("run-%02d", n)
		o := indextest.Original{Source: "s", Path: run + ".jsonl", Format: "awf", Claim: run, Size: 10_000}
		o.Records = append(o.Records, &transcript.Run{ID: run}, &transcript.Conversation{Run: run})
		for i := range 40 {
			var text []string
			for range 1 + r.IntN(30) {
				text = append(text, words[r.IntN(len(words))])
			}
			texts[fmt.Sprint(run, ":", i+1)] = strings.Join(text, " ")
			o.Records = append(o.Records, &transcript.Event{Run: run, Kind: transcript.KindMessage, Role: "user",
				Time: indextest.At(int64(r.IntN(100_000))), Origin: indextest.Place(i), Parts: []transcript.Part{{Text: strings.Join(text, " ")}}})
		}
		if err := db.Commit(t.Context(), indextest.Batch(run, o)); err != nil {
			t.Fatal(err)
		}
	}
	var rows []int64
	var of []string
	for h, err := range db.Find(t.Context(), &query.Tree{}, index.Page{}) {
		if err != nil {
			t.Fatal(err)
		}
		run := strings.TrimSuffix(h.Place.Path, ".jsonl")
		rows, of = append(rows, h.Row), append(of, texts[fmt.Sprint(run, ":", h.Seq)])
	}
	phrases := map[string]string{"alpha": "alpha", "delta": "gammaDelta", "gammadelta": "gammaDelta", "alphabet": "alphabet", "数": "数", "nothing": "nothing"}
	for term, word := range phrases {
		counts, having, err := db.Frequencies(t.Context(), rows, [][]string{{term}, {"alpha", "beta"}})
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for i, text := range of {
			want := strings.Count(" "+strings.ReplaceAll(text, " ", "  ")+" ", " "+word+" ")
			if counts[0][i] != want {
				t.Fatalf("%q stands %d times in %q", term, counts[0][i], text)
			}
			if want > 0 {
				n++
			}
			if strings.Contains(text, "alpha beta") && counts[1][i] == 0 {
				t.Fatalf("no phrase in %q", text)
			}
		}
		if having[0] != n {
			t.Errorf("%q: %d rows, not %d", term, having[0], n)
		}
		if term == "delta" { // a part
			n = 0
		}
		if whole, err := db.Having(t.Context(), []string{term}); err != nil || whole[0] != n {
			t.Errorf("%q: %d rows have it whole, not %d (%v)", term, whole, n, err)
		}
	}
	if counts, _, err := db.Frequencies(t.Context(), nil, nil); err != nil || len(counts) != 0 {
		t.Errorf("of nothing: %v, %v", counts, err)
	}
}
