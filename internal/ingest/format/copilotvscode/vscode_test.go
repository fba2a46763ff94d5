package copilotvscode

import (
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
