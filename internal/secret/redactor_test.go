package secret

import (
	"strings"
	"testing"
)

// TestRedactor: a credential is found however a line is written in pieces, and in a last line without a line feed.
func TestRedactor(t *testing.T) {
	text := "one\nkey " + githubToken + " here\nlast " + awsKey
	want := Redact(text)
	if want == text || strings.Contains(want, githubToken) {
		t.Fatalf("nothing is redacted: %s", want)
	}
	for _, size := range []int{1, 7, len(text)} {
		var b strings.Builder
		r := &Redactor{W: &b}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := r.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := r.Flush(); err != nil || b.String() != want {
			t.Errorf("pieces of %d bytes: %q, %v, want %q", size, b.String(), err, want)
		}
	}
}
