package prune

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/sqlitetest"
	"github.com/txarchive/txarchive/internal/policy"
)

// asked is an index that records what inventories are asked for.
type asked struct {
	Index
	options []index.InventoryOptions
}

func (a *asked) Inventory(ctx context.Context, o index.InventoryOptions) (index.Inventory, error) {
	a.options = append(a.options, o)
	return a.Index.Inventory(ctx, o)
}

// TestLooksOnlyAtWhatDecides checks that versions are compared only for the tier versions, and costs summed only for conditions on them: both take
// longer than the rest of a plan.
func TestLooksOnlyAtWhatDecides(t *testing.T) {
	x := &asked{Index: sqlitetest.Open(t, filepath.Join(t.TempDir(), "index.db"))}
	p := &Pruner{Index: x, Now: time.Now}
	for text, want := range map[string]index.InventoryOptions{
		"{name: a, max_age: 1d, action: prune}":                                                            {},
		"{name: a, max_age: 1d, action: thin, tier: ledger}":                                               {},
		"{name: a, max_age: 1d, action: thin, tier: versions}":                                             {Superseded: true},
		"{name: a, tiers: [{after: 1d, action: thin, tier: versions}, {after: 9d, action: prune}]}":        {Superseded: true},
		`{name: a, match: {cost: "<1"}, max_age: 1d, action: thin, tier: search}`:                          {Costs: true},
		`{name: a, match: {not: {cost: "<1"}}, max_age: 1d, action: thin, tier: versions, ledger: "keep"}`: {Costs: true, Superseded: true},
	} {
		pol, err := policy.Parse([]byte("version: 1\nrules: [" + text + "]\n"))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.Make(t.Context(), Choice{Policy: pol})
		if err != nil {
			t.Fatal(err)
		}
		if got := x.options[len(x.options)-1]; got != want {
			t.Errorf("%s asks for %+v, want %+v", text, got, want)
		}
		if err := plan.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for tier, want := range map[policy.Tier]bool{policy.TierVersions: true, policy.TierSearch: false} {
		plan, err := p.Make(t.Context(), Choice{Action: policy.Thin, Tier: tier})
		if got := x.options[len(x.options)-1].Superseded; err != nil || got != want {
			t.Errorf("by hand, %s asks for earlier versions: %v, %v", tier, got, err)
		}
		if err := plan.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
