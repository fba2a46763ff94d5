package collect

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/transcript"
)

// TestLongAttributes cuts what a hostile file states at length, between two letters, and leaves the rest as it is.
func TestLongAttributes(t *testing.T) {
	for _, lead := range []string{"", "a", "ab"} {
		long := lead + strings.Repeat("€", 100_000)
		_, _, got := attributes(&transcript.Event{ID: "e", Attributes: transcript.Attributes{"stop": long, "tier": "standard", "n": int64(7)}})
		var all struct {
			Stop, Tier string
			N          int
		}
		if err := json.Unmarshal([]byte(got), &all); err != nil {
			t.Fatal(err)
		}
		cut, isCut := strings.CutSuffix(all.Stop, "…")
		if !isCut || !strings.HasPrefix(long, cut) || !utf8.ValidString(cut) || len(cut) > maxAttribute || len(cut) < maxAttribute-3 {
			t.Errorf("%d bytes: %.20q", len(all.Stop), all.Stop)
		}
		if all.Tier != "standard" || all.N != 7 {
			t.Errorf("%+v", all)
		}
	}
}
