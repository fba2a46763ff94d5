package openclaw

import (
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

const live = "agents/main/sessions/0a000000-0000-4000-8000-00000000000a.jsonl"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzSession(f *testing.F) { formattest.Fuzz(f, New(), roleSession, live) }

func FuzzPacked(f *testing.F) {
	formattest.Fuzz(f, New(), roleCompressed, live+".reset.2026-11-03T11-00-00.000Z.zst")
}

func FuzzCold(f *testing.F) {
	formattest.Fuzz(f, New(), roleCold, "agents/main/sessions/cold/"+strings.Repeat("0", 64)+".jsonl.zst")
}

func FuzzChats(f *testing.F) {
	formattest.Fuzz(f, New(), roleChats, "agents/main/sessions/sessions.json")
}

// TestDetect has sources that begin in the home of a program, whose agents may be in no directory agents.
func TestDetect(t *testing.T) {
	const header = `{"type":"session","version":3,"id":"01a60000-0000-7000-8000-000000000001","timestamp":"2026-11-06T09:00:00.000Z","cwd":"/home/ada/shop"}` + "\n"
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"main/sessions/chat-1.jsonl", header, format.Claim{Strength: format.Certain, Role: roleSession, Root: "main/sessions", Log: true}},
		{"agent/sessions/01a60000-0000-7000-8000-000000000001.jsonl", header, format.Claim{}}, // in ~/.prime
	})
}

// TestSpawner finds the session of a chat that spawned another one: the last that was there already, in whatever order the chats are stated.
func TestSpawner(t *testing.T) {
	const rows = `{"session_key":"main","session_id":"m3","created_at":30}
{"session_key":"main","session_id":"m1","created_at":10}
{"session_key":"main","session_id":"m2","created_at":20}
{"session_key":"a","session_id":"early","spawned_by":"main","created_at":5}
{"session_key":"b","session_id":"between","spawned_by":"main","created_at":20}
{"session_key":"c","session_id":"late","spawned_by":"main","created_at":99}
{"session_key":"d","session_id":"some time","spawned_by":"main"}
{"session_key":"e","session_id":"nobody's","spawned_by":"gone","created_at":99}
`
	var got []string
	for record, err := range storedChats(format.Input{Reader: strings.NewReader(rows)}) {
		if err != nil {
			t.Fatal(err)
		}
		if l, ok := record.(*transcript.Link); ok {
			got = append(got, l.From.ID+" "+l.To.ID)
		}
	}
	want := []string{"m1 early", "m2 between", "m3 late", "m3 some time"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
