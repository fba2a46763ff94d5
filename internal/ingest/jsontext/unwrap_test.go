package jsontext

import (
	"strings"
	"testing"
)

// TestUnwrapText unwraps texts that are no JSON. A document of many has no second copy of each.
func TestUnwrapText(t *testing.T) {
	for text, want := range map[string]string{
		`"plain text"`: `"plain text"`, `"12"`: `"12"`, `" true"`: `" true"`, `""`: `""`, `7`: `7`, `" [1]"`: `[1]`, `"\n{}"`: `{}`, `"\u007b}"`: `{}`, `"{"`: `"{"`,
	} {
		v, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(v.UnwrapContainer().Raw())); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	v, _ := Parse([]byte(`"plain text"`))
	if n := testing.AllocsPerRun(10, func() { v.UnwrapContainer() }); n > 0 {
		t.Errorf("%v allocations for a text", n)
	}
}
