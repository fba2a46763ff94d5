package lexicon

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/term"
)

// TestInterner interns random words and compares with a map: one number for a word and one word for a number, in the order of
// their first use.
func TestInterner(t *testing.T) {
	r := seedtest.Rand(t)
	v := NewInterner(&Lexicon{})
	if !v.Start() || v.Start() {
		t.Fatal("a list begins at the first Start and goes on at the second")
	}
	list := v.Words()
	numbers := map[string]uint32{}
	for range 300 {
		text, words, same := someText(r)
		got := v.Append(nil, []byte(text))
		if string(list.Append(nil, got)) != text || len(got) != len(words) {
			t.Fatalf("%.80q became %.80q", text, list.Append(nil, got))
		}
		for i, w := range words {
			n, known := numbers[w]
			if !known {
				n = uint32(len(numbers))
				numbers[w] = n
			}
			if same[i] {
				n |= Same
			}
			if got[i] != n {
				t.Fatalf("%.80q has number %x, not %x", w, got[i], n)
			}
		}
		if list.Len() != len(numbers) {
			t.Fatalf("%d terms, want %d", list.Len(), len(numbers))
		}
	}
}

// someText returns terms as term.Split returns them, and which of them have the position of the one before.
func someText(r *rand.Rand) (text string, words []string, same []bool) {
	for i := range r.IntN(60) {
		w := strings.Repeat("abcdefgh", r.IntN(4)) + fmt.Sprintf("%x", r.IntN(3000))
		if r.IntN(2000) == 0 {
			w = strings.Repeat(w, 60000/len(w)) // most of a chunk of a list
		}
		again := i > 0 && r.IntN(4) == 0
		if again {
			text += string(term.Same)
		} else if i > 0 {
			text += " "
		}
		text, words, same = text+w, append(words, w), append(same, again)
	}
	return text, words, same
}

// TestSharedLexicon interns texts concurrently: the numbers of a text decode to it, and no word has two numbers.
func TestSharedLexicon(t *testing.T) {
	seed := seedtest.Seed(t)
	var l Lexicon
	lists := make([]*Words, 4)
	var all sync.WaitGroup
	for i := range lists {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			v := NewInterner(&l)
			v.Start()
			lists[i] = v.Words()
			for range 200 {
				text, _, _ := someText(r)
				if got := v.Append(nil, []byte(text)); string(v.Words().Append(nil, got)) != text {
					t.Errorf("%.80q became %.80q", text, v.Words().Append(nil, got))
					return
				}
			}
		})
	}
	all.Wait()
	words := map[string]bool{}
	for n := range lists[0].Len() {
		words[string(lists[0].At(uint32(n)))] = true
	}
	if len(words) != lists[0].Len() || slices.ContainsFunc(lists, func(w *Words) bool { return w != lists[0] }) {
		t.Errorf("%d words have %d numbers", len(words), lists[0].Len())
	}
}

// TestNextDictionary fills a dictionary: the next Start begins another, empty one, and other interners keep the old one until
// they call Start.
func TestNextDictionary(t *testing.T) {
	var l Lexicon
	v, other := NewInterner(&l), NewInterner(&l)
	v.Start()
	other.Start()
	for i := range MaxTerms {
		v.Append(nil, fmt.Append(nil, "w", i))
	}
	old := v.Words()
	if !v.Start() || v.Words().Len() != 0 || v.Words() == old {
		t.Fatal("no new list after a full one")
	}
	if n := v.Append(nil, []byte("w7 w7")); !slices.Equal(n, []uint32{0, 0}) || string(old.At(7)) != "w7" {
		t.Errorf("numbers %v, and the old list has %q", n, old.At(7))
	}
	if n := other.Append(nil, []byte("w9 new")); !slices.Equal(n, []uint32{9, MaxTerms}) {
		t.Errorf("numbers %v in the old list", n)
	}
	if !other.Start() || other.Words() != v.Words() {
		t.Error("those who share a lexicon use different lists")
	}
}
