package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/term"
)

// TestNumbering numbers random words and compares with a map: one number a word and one word a number, in the order of
// their first use, and lists that were handed out stay as they were.
func TestNumbering(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	var v Numbering
	if !v.Start() || v.Start() {
		t.Fatal("a series begins at the first Start and goes on at the second")
	}
	numbers, told := map[string]uint32{}, map[string]bool{}
	var early *Words
	var wanted string
	for round := range 300 {
		var words []string
		for range r.IntN(60) {
			words = append(words, strings.Repeat("abcdefgh", r.IntN(4))+fmt.Sprintf("%x", r.IntN(3000)))
		}
		same := make([]bool, len(words)+1) // in the place of the word before
		var text string
		for i, w := range words {
			if same[i] = i > 0 && r.IntN(4) == 0; same[i] {
				text += string(term.Same)
			} else if i > 0 {
				text += " "
			}
			text += w
		}
		var fresh []uint32
		speak := r.IntN(3) > 0
		to := &fresh
		if !speak {
			to = nil
		}
		got := v.Add(nil, []byte(text), to)
		list := v.Words()
		if string(list.Append(nil, got)) != text || len(got) != len(words) {
			t.Fatalf("seed %d: %q became %q", seed, text, list.Append(nil, got))
		}
		var want []uint32
		for i, w := range words {
			n, known := numbers[w]
			if !known {
				n = uint32(len(numbers))
				numbers[w] = n
			}
			number := n
			if same[i] {
				number |= Same
			}
			if got[i] != number {
				t.Fatalf("seed %d: %q has number %x, not %x", seed, w, got[i], number)
			}
			if speak && !told[w] && !same[i] {
				told[w] = true
				want = append(want, n)
			}
		}
		if !slices.Equal(fresh, want) {
			t.Fatalf("seed %d: fresh %v, want %v", seed, fresh, want)
		}
		if list.Len() != len(numbers) {
			t.Fatalf("seed %d: %d terms, want %d", seed, list.Len(), len(numbers))
		}
		if round == 100 {
			early, wanted = list, printed(list)
		}
	}
	if got := printed(early); got != wanted || early.Series() != v.Words().Series() {
		t.Errorf("seed %d: what was handed out has changed", seed)
	}
}

func printed(w *Words) string {
	var all []uint32
	for n := range w.Len() {
		all = append(all, uint32(n))
	}
	return string(w.Append(nil, all))
}

// TestSeries fills a series: the next Start begins another, which knows nothing.
func TestSeries(t *testing.T) {
	var v Numbering
	v.Start()
	for i := range maxSeries {
		v.Add(nil, fmt.Append(nil, "w", i), nil)
	}
	old := v.Words()
	if !v.Start() || v.Words().Len() != 0 || v.Words().Series() == old.Series() {
		t.Fatal("no new series after a full one")
	}
	if n := v.Add(nil, []byte("w7 w7"), nil); !slices.Equal(n, []uint32{0, 0}) || string(old.At(7)) != "w7" {
		t.Errorf("numbers %v, and the old list has %q", n, old.At(7))
	}
}
