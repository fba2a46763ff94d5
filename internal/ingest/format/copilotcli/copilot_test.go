package copilotcli

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzEvents(f *testing.F) { formattest.Fuzz(f, New(), roleEvents, "session-state/x/events.jsonl") }

func FuzzWorkspace(f *testing.F) {
	formattest.Fuzz(f, New(), roleWorkspace, "session-state/x/workspace.yaml")
}

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

// TestApart adds up what messages say of their output: as much as the shutdowns, and no part of any total.
func TestApart(t *testing.T) {
	var apart int64
	for _, o := range formattest.Originals(t, New(), "testdata/session") {
		for _, r := range o.Records() {
			if u, ok := r.(*transcript.Usage); ok && u.Verdict == transcript.DerivedTotal {
				apart += u.Output.N
			}
		}
	}
	if want := int64(70 + 12 + 5); apart != want {
		t.Errorf("messages say %d tokens of output, want %d", apart, want)
	}
}
