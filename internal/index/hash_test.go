package index

import (
	"math/rand/v2"
	"testing"
)

// TestIDNumbers: ParseID inverts FormatID, ids order as their numbers, and ParseID accepts nothing else.
func TestIDNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	last, text := int64(0), FormatID("u", 0)
	for range 1000 {
		n := r.Int64N(1 << 60)
		id := FormatID("u", n)
		if back, ok := ParseID("u", id); back != n || !ok {
			t.Fatalf("%d: %s is %d (%v)", n, id, back, ok)
		}
		if n != last && (n < last) != (id < text) {
			t.Fatalf("%d and %d are %s and %s", n, last, id, text)
		}
		last, text = n, id
	}
	if PublicID("u", "a", "b") != FormatID("u", IDNumber("a", "b")) {
		t.Error("a public id is not that of its number")
	}
	for _, id := range []string{"", "u", text[1:], text + "0", "v" + text[1:], "u" + text[2:] + "l", "u" + text[2:] + "é"} {
		if n, ok := ParseID("u", id); ok {
			t.Errorf("%q is %d", id, n)
		}
	}
}
