package main

import (
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/query"
)

func TestLoosened(t *testing.T) {
	for in, want := range map[string]string{
		"project:acme":               "project:*acme*",
		"word model:opus,gpt-5":      "word model:*opus*,gpt-5",
		"project:*acme* format:cod":  "project:*acme* format:*cod*",
		"project:*acme*":             "",
		`project:""`:                 "",
		"word":                       "",
		"":                           "",
		"role:user kind:message x":   "",
		"project:acme OR model:opus": "",
	} {
		tree, err := query.Parse(in, time.Time{}, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if got := loosened(tree); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestReportFits: a report gives up figures before it cuts what it is grouped by to pieces.
func TestReportFits(t *testing.T) {
	g := &grid{columns: []column{{head: "model", flex: true}, {head: "cost", right: true}}}
	g.add("claude-sonnet-4-5-20250929", "$0.2797")
	for _, c := range []struct {
		width int
		cut   bool
		want  bool
	}{{80, false, true}, {35, false, true}, {34, false, false}, {34, true, true}, {29, true, true}, {28, true, false}} {
		if got := g.legible(c.width, c.cut); got != c.want {
			t.Errorf("width %d, cut %v: %v", c.width, c.cut, got)
		}
	}
}
