package geminicli

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzLog(f *testing.F) {
	formattest.Fuzz(f, New(), roleLog, "shop/chats/session-2026-05-06T07-00-11111111.jsonl")
}

func FuzzDocument(f *testing.F) {
	formattest.Fuzz(f, New(), roleDocument, "shop/chats/session-2026-05-06T07-00-11111111.json")
}

func FuzzPrompts(f *testing.F) { formattest.Fuzz(f, New(), rolePrompts, "shop/logs.json") }

func FuzzStream(f *testing.F) { formattest.Fuzz(f, New(), roleStream, "runs/mend.jsonl") }
func FuzzOutput(f *testing.F) { formattest.Fuzz(f, New(), roleOutput, "runs/answer.json") }

// TestGrowth excepts saved output of messages in pieces, the last of which grows.
func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "mend.log", "shelf") }

func FuzzSaved(f *testing.F) {
	formattest.Fuzz(f, New(), roleSaved, ".gemini/tmp/shop/checkpoint-x.json")
}

func FuzzShell(f *testing.F) {
	formattest.Fuzz(f, New(), roleShell, ".gemini/tmp/shop/shell_history")
}

func TestDecodeTag(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "glaze%20test": "glaze test", "%E4%BD%A0%E5%A5%BD": "你好", "100%": "100%", "%zz": "%zz", "%ff": "%ff", "a%2": "a%2",
	} {
		if got := decodeTag(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}
