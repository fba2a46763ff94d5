package term

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPlainParts compares the two ways to the parts of identifiers of ASCII.
func TestPlainParts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	words := []string{"HTTPServerName", "aB", "A1", "x86", "parseHTTP2", "a1b1c1d1e1", "ABCdefGHI", "fooFooFoo", "T12", "12ms", "aBcDeFgHiJkLmN"}
	for range 20_000 {
		b := make([]byte, 1+r.IntN(30))
		for i := range b {
			b[i] = "aabcXYZ019Q"[r.IntN(11)]
		}
		words = append(words, string(b))
	}
	mixed := 0
	for _, text := range words {
		var s Splitter
		w, whole := s.next(nil, text, 0)
		if !w.ascii || w.end != len(text) {
			t.Fatalf("%s: %+v", text, w)
		}
		if !w.mixed() {
			continue
		}
		mixed++
		want := string(s.appendParts(whole, 0, text, w, 1, 1))
		if got := string(s.appendPlainParts(whole[:len(text):len(text)], 0, text, w)); got != want {
			t.Fatalf("%s: %q, want %q", text, got, want)
		}
	}
	if mixed < len(words)/2 {
		t.Errorf("%d words with parts", mixed)
	}
}

// TestLongIdentifier splits a word with very many parts: each run of parts occurs once. When each run was searched
// for among all others, and each piece of the word looked up all runs, this took minutes.
func TestLongIdentifier(t *testing.T) {
	const parts = 20_000
	var text strings.Builder
	for i := range parts {
		text.Write([]byte{'X', 'x', 'a' + byte(i%26), 'a' + byte(i/26%26), 'a' + byte(i/676%13)}) // each twice and more
	}
	var s Splitter
	seen := map[string]bool{}
	for term := range strings.FieldsFuncSeq(string(s.Split(nil, text.String())), func(r rune) bool { return r == ' ' || r == rune(Same) }) {
		if strings.HasPrefix(term, string(Inner)) && seen[term] {
			t.Fatalf("%s stands there twice", term)
		}
		seen[term] = true
	}
	different := 26 * 26 * 13
	if want := maxParts / 2 * different; len(seen) < want || len(seen) > want+parts {
		t.Fatalf("%d runs, want %d and the pieces of the word", len(seen), want)
	}
}
