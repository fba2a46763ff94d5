package cost_test

import (
	"errors"
	"testing"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

func link(kind, from, to string) *transcript.Link {
	return &transcript.Link{Kind: kind, From: transcript.End{Type: "run", ID: from}, To: transcript.End{Type: "run", ID: to}}
}

// A parent with two children, one of which calls the parent back and shares a grandchild with the other.
func TestTree(t *testing.T) {
	const when = "2026-03-01T10:00:00Z"
	db := fill(t,
		file("top", "top", spent(when, "a", 1, 0), link("parent", "top", "left"), link("call", "top", "right"), link("message", "top", "other")),
		file("left", "left", spent(when, "a", 10, 0), link("parent", "left", "top"), link("parent", "left", "low")),
		file("right", "right", spent(when, "a", 100, 0), link("parent", "right", "low"), link("parent", "right", "gone")),
		file("low", "low", spent(when, "a", 1000, 0)),
		file("other", "other", spent(when, "a", 10000, 0)))
	b, err := cost.Tree(t.Context(), db, index.Node{Run: "top"}, cost.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if *b.Own.Cost != 1 || *b.Whole.Cost != 1111 || *b.Whole.Share != 1 || len(b.Children) != 2 {
		t.Errorf("top: %+v", b)
	}
	var sum int64
	var walk func(*cost.Branch)
	walk = func(b *cost.Branch) {
		if b.Own.Cost != nil {
			sum += *b.Own.Cost
		}
		for i := range b.Children {
			walk(&b.Children[i])
		}
	}
	if walk(b); sum != 1111 {
		t.Errorf("what runs spent by themselves is %d in all", sum)
	}
	if _, err := cost.Tree(t.Context(), db, index.Node{Run: "nothing"}, cost.Options{}); !errors.Is(err, index.ErrNotFound) {
		t.Errorf("of no run: %v", err)
	}
}
