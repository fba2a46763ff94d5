package format

import (
	"strings"
	"testing"
)

func TestTitle(t *testing.T) {
	for _, c := range []struct{ prompt, want string }{
		{"", ""},
		{" \n\t", ""},
		{"\n  Mend the build \r\nand then", "Mend the build"},
		{strings.Repeat("é", titleRunes), strings.Repeat("é", titleRunes)},
		{strings.Repeat("é", titleRunes+1), strings.Repeat("é", titleRunes-1) + "…"},
		{strings.Repeat("a ", titleRunes) + "\nb", strings.Repeat("a ", titleRunes/2-1) + "a…"},
	} {
		if got := Title(c.prompt); got != c.want {
			t.Errorf("Title(%q) = %q, want %q", c.prompt, got, c.want)
		}
	}
}
