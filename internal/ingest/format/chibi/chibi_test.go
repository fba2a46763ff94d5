package chibi

import (
	"runtime"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzLog(f *testing.F) {
	formattest.Fuzz(f, New(), roleTranscript, ".chibi/contexts/fuzz/transcript/active.jsonl")
}

func FuzzOldest(f *testing.F) {
	formattest.Fuzz(f, New(), roleOldest, ".chibi/contexts/fuzz/context.json")
}

func FuzzReadable(f *testing.F) {
	formattest.Fuzz(f, New(), roleReadable, ".chibi/contexts/fuzz/transcript.md")
}

func FuzzUsage(f *testing.F) {
	formattest.Fuzz(f, New(), roleUsage, ".chibi/contexts/fuzz/response_meta.jsonl")
}

func FuzzInbox(f *testing.F) {
	formattest.Fuzz(f, New(), roleInbox, ".chibi/contexts/fuzz/inbox.jsonl")
}

func FuzzStray(f *testing.F) { formattest.Fuzz(f, New(), roleStray, "backup/export.jsonl") }

// TestOldestCalls: reading a message takes memory in proportion to its calls, of which there may be many.
func TestOldestCalls(t *testing.T) {
	doc := `{"messages":[{"role":"assistant","tool_calls":[` + strings.Repeat(`{"id":"a","function":{"name":"saw","arguments":"{}"}},`, 5000) + `{}]}]}`
	in := format.Input{Path: ".chibi/contexts/a/context.json", Role: roleOldest, Size: int64(len(doc)), Reader: strings.NewReader(doc)}
	parts := 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for r := range New().Parse(in) {
		if e, ok := r.(*transcript.Event); ok {
			parts += len(e.Parts)
		}
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; parts != 5001 || taken > 100*uint64(len(doc)) {
		t.Errorf("%d parts, %d bytes for a document of %d", parts, taken, len(doc))
	}
}
