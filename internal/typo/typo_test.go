package typo

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"role", "kind", "cost", "source", "conversation"}
	for word, want := range map[string]string{
		"rol": "role", "rloe": "role", "kinds": "kind", "sorce": "source", "conversatoin": "conversation",
		"sort": "", "file": "", "": "", "r": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"role", "role", 0}, {"role", "rloe", 1}, {"größe", "grösse", 2}, {"kind", "cost", 4}} {
		if got, back := Distance([]rune(c.a), []rune(c.b)), Distance([]rune(c.b), []rune(c.a)); got != c.want || back != c.want {
			t.Errorf("%q and %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}
