package copilotvscode

import (
	"runtime"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/copilotcli"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const fuzzed = "User/workspaceStorage/0123456789abcdef0123456789abcdef/chatSessions/5e000000-0000-4000-8000-00000000000f.json"

func TestGolden(t *testing.T) { formattest.Golden(t, New(copilotcli.New())) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New(copilotcli.New())) }

func FuzzDocument(f *testing.F) { formattest.Fuzz(f, New(copilotcli.New()), roleDocument, fuzzed) }

func FuzzExport(f *testing.F) {
	formattest.Fuzz(f, New(copilotcli.New()), roleDocument, "Downloads/chat.json")
}

func FuzzLog(f *testing.F) { formattest.Fuzz(f, New(copilotcli.New()), roleLog, fuzzed+"l") }

func FuzzTranscript(f *testing.F) {
	formattest.Fuzz(f, New(copilotcli.New()), roleTranscript+"events", "GitHub.copilot-chat/transcripts/5e000000-0000-4000-8000-00000000000f.jsonl")
}

func FuzzDebug(f *testing.F) {
	formattest.Fuzz(f, New(copilotcli.New()), roleDebug, "GitHub.copilot-chat/debug-logs/5e000000-0000-4000-8000-00000000000f/main.jsonl")
}

func FuzzChildLog(f *testing.F) {
	formattest.Fuzz(f, New(copilotcli.New()), roleChildLog, "GitHub.copilot-chat/debug-logs/5e000000-0000-4000-8000-00000000000f/title-1.jsonl")
}

// TestNotes: what a reference states is searched once, and takes memory in proportion to it.
func TestNotes(t *testing.T) {
	reference := func(name, path string) string {
		return `{"kind":"inlineReference","name":"` + name + `","inlineReference":{"scheme":"file","path":"` + path + `"}}`
	}
	twice := reference("rim.go", `/ada/rim.go`) + "," + reference("rim", `/ada/rim.go`) + "," + reference("/ada/hub.go", `/ada/hub.go`)
	if got, err := textOf([]byte(twice), 1); err != nil || got != "/ada/rim.go" {
		t.Errorf("%q, %v", got, err)
	}
	long := []byte(reference(strings.Repeat("rim ", 500), strings.Repeat(`\n`, 5000)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := textOf(long, 1); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 100*uint64(len(long)) {
		t.Errorf("%d bytes for a reference of %d", taken, len(long))
	}
}
