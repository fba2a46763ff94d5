package show

import (
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestUsed expects the tokens from and to a cache beside the others: they are most of what a session of a coding agent costs. What
// nothing states is not 0.
func TestUsed(t *testing.T) {
	known := transcript.Known
	for _, c := range []struct {
		used         index.Used
		tokens, cost string
	}{
		{},
		{index.Used{Input: known(0), Output: known(20), CacheRead: known(0), CostUsed: known(0)}, "0 in, 20 out", "$0.0000"},
		{index.Used{Output: known(20)}, "- in, 20 out", ""},
		{index.Used{Input: known(3), Output: known(13), CacheRead: known(11515), CacheCreation: known(13835), CostUsed: known(144448)}, "3 in, 13 out; cache: 11,515 read, 13,835 written", "$0.1444"},
		{index.Used{CacheRead: known(7)}, "cache: 7 read", ""},
	} {
		if tokens, cost := used(&c.used); tokens != c.tokens || cost != c.cost {
			t.Errorf("%+v: %q, %q, want %q, %q", c.used, tokens, cost, c.tokens, c.cost)
		}
	}
}
