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

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }
