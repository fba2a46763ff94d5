package format

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/transcript"
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

func TestPromptRank(t *testing.T) {
	at := func(seconds int64) transcript.Time {
		return transcript.Time{UnixMicro: seconds * 1_000_000, Valid: true}
	}
	ranks := []int{transcript.RankHistory, PromptRank(at(-5)), PromptRank(at(1_790_000_000)), PromptRank(at(1_790_000_001)), PromptRank(at(1 << 40))}
	for i := 1; i < len(ranks); i++ {
		if ranks[i] >= ranks[i-1] {
			t.Errorf("rank %d is %d, not below %d", i, ranks[i], ranks[i-1])
		}
	}
	if got := PromptRank(transcript.Time{}); got != ranks[len(ranks)-1] {
		t.Errorf("without a time: %d", got)
	}
}
