package prune

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
)

// TestBuryInTheOrderOfTheIndex wants originals to go in the order in which the index met them, not in that of their names: of a million,
// each would bring other pages into its cache and write them.
func TestBuryInTheOrderOfTheIndex(t *testing.T) {
	x, plan := &read{}, &Plan{}
	w := &work{plan: plan, now: time.Unix(0, 0)}
	w.Pruner = &Pruner{Index: x, Now: time.Now, Room: 1, Write: func(context.Context, []blob.Fact) error { return nil }}
	for i := range 100 {
		id := fmt.Sprintf("r%02d", i)
		plan.runs = append(plan.runs, planned{id: id})
		err := plan.Runs.add(&PlannedRun{})
		if err == nil {
			err = w.versions.add(&PlannedVersion{Source: "s", Path: id, Number: 1, Goes: true, Runs: []string{id}})
		}
		if err != nil {
			t.Fatal(err)
		}
		w.held = append(w.held, held{id: int64(i*37%100 + 1)})
	}
	if err := w.bury(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if len(x.asked) != 100 || !slices.IsSorted(x.asked) {
		t.Errorf("they go in the order %v", x.asked)
	}
}
