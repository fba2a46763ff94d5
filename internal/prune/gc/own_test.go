package gc

import (
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
)

// TestKeysAreNoMatches: a word of the program in a fact is no reason to drop it.
func TestKeysAreNoMatches(t *testing.T) {
	for _, c := range []struct {
		fact blob.Fact
		want bool
	}{
		{blob.Fact{Kind: "tombstone", Key: "ab", Value: []byte(`{"version":3,"redacted":{"version":[1,{"version":"2"}]},"path":"x"}`)}, false},
		{blob.Fact{Kind: "version", Key: "ab", Value: []byte(`null`)}, false},
		{blob.Fact{Kind: "tag", Key: "ab/version", Value: []byte(`null`)}, true},
		{blob.Fact{Kind: "tombstone", Key: "ab", Value: []byte(`{"version":3,"path":"a version"}`)}, true},
		{blob.Fact{Kind: "tombstone", Key: "ab", Value: []byte(`{"x":["a",{},[],"version"]}`)}, true},
		{blob.Fact{Kind: "tombstone", Key: "ab", Value: []byte(`{"x":{"a":"b"},"y":"version"}`)}, true},
		{blob.Fact{Kind: "tombstone", Key: "ab", Value: []byte(`{"v\u0065rsion":"b"}`)}, true},
		{blob.Fact{Kind: "policy", Key: "", Value: []byte(`"version: 1"`)}, true},
		{blob.Fact{Kind: "report", Key: "ab", Value: []byte(`{"parameters":{"version":"x"}}`)}, true},
		{blob.Fact{Kind: "pin", Key: "ab", Value: []byte(`version`)}, true}, // no JSON
	} {
		if got := (&Forget{Pattern: pattern(t, "version")}).inFact(c.fact); got != c.want {
			t.Errorf("%s %s %s: %v", c.fact.Kind, c.fact.Key, c.fact.Value, got)
		}
	}
}
