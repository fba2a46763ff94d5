package show

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestBareEvents expects no lines between events that say nothing: agents write many of them between two messages.
func TestBareEvents(t *testing.T) {
	var out strings.Builder
	v := viewer{Printer: &printer.Printer{Out: &out, UTC: true, Color: "never"}}
	v.sheet = newSheet(v.Printer, &v.o)
	for _, text := range []string{"", "", "hello", "", ""} {
		v.piece(t.Context(), &search.Piece{Event: index.Event{ID: "c:1", Kind: transcript.KindSystem, Verdict: transcript.Counted}, Text: text})
	}
	if want := "\nc:1  system\nc:1  system\n\nc:1  system\n  hello\n\nc:1  system\nc:1  system\n"; out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}
}

func TestShorten(t *testing.T) {
	long := strings.Repeat("x", 2*maxShortText)
	for _, tc := range []struct{ name, in, want string }{
		{"lines stay", "M file1\n M file2\n", "M file1\n M file2"},
		{"as many as are shown", strings.Repeat("a\n", maxShortLines), strings.TrimSuffix(strings.Repeat("a\n", maxShortLines), "\n")},
		{"one more", strings.Repeat("a\n", maxShortLines+1), strings.Repeat("a\n", maxShortLines) + "…  (13 B, --tools full shows all)"},
		{"a long line", "a\n" + long, "a\n" + long[:maxShortText-2] + "…  (642 B, --tools full shows all)"},
		{"a line after as much as is shown", long[:maxShortText] + "\nb", long[:maxShortText] + "\n…  (322 B, --tools full shows all)"},
	} {
		if got := shorten(tc.in); got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, got, tc.want)
		}
	}
}
