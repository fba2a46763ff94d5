package continuedev

import (
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzSession(f *testing.F) {
	formattest.Fuzz(f, New(), roleSession, "home/.continue/sessions/e0000000-0000-4000-8000-000000000001.json")
}
func FuzzList(f *testing.F) {
	formattest.Fuzz(f, New(), roleList, "home/.continue/sessions/sessions.json")
}
func FuzzLog(f *testing.F) {
	formattest.Fuzz(f, New(), roleLog, "home/.continue/dev_data/0.2.0/tokensGenerated.jsonl")
}

func TestDetect(t *testing.T) {
	const session = `{"sessionId":"s","title":"t","workspaceDirectory":"/home/ada/shop","history":[]}`
	const list = `[{"sessionId":"s","title":"t","dateCreated":"1790000000000","workspaceDirectory":""}]`
	skip := format.Claim{Strength: format.Certain, Skip: true}
	log := format.Claim{Strength: format.Certain, Role: roleLog, Log: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"home/.continue/sessions/s.json", "", format.Claim{Strength: format.Certain, Role: roleSession, Root: "home/.continue/sessions"}},
		{"home/.continue/sessions/sessions.json", "[]", format.Claim{Strength: format.Certain, Role: roleList, Root: "home/.continue/sessions"}},
		{"s.json", session, format.Claim{Strength: format.Likely, Role: roleSession}},
		{"s.json", session[:60], format.Claim{Strength: format.Likely, Role: roleSession}},
		{"s.json", strings.Replace(session, "workspaceDirectory", "cwd", 1), format.Claim{}},
		{"sessions.json", list, format.Claim{Strength: format.Likely, Role: roleList}},
		{"sessions.json", "[]", format.Claim{}},
		{"home/.continue/sessions/notes.txt", session, format.Claim{}},
		{".continue/dev_data/0.2.0/tokensGenerated.jsonl", "", log},
		{"dev_data/tokens_generated.jsonl", "", log},
		{"dev_data/0.2.0/chatInteraction.jsonl", "", log},
		{"dev_data/0.2.0/autocomplete.jsonl", "", format.Claim{}},
		{"tokensGenerated.jsonl", "", format.Claim{}},
		{".continue/config.yaml", "models:", skip},
		{".continue/auth.json", session, skip},
		{"config.yaml", "models:", format.Claim{}},
	})
}

func TestTimeOf(t *testing.T) {
	want := time.Date(2026, 9, 21, 14, 13, 20, 0, time.UTC).UnixMicro()
	for _, text := range []string{`"1790000000000"`, `1790000000000`, `1790000000`, `"1790000000.75"`, `1790000000.5`, `"2026-09-21T14:13:20Z"`} {
		v, err := jsontext.Parse([]byte(text))
		if got := timeOf(v); err != nil || got.UnixMicro != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{`null`, `""`, `"then"`, `-5`, `0`, `{}`} {
		if v, err := jsontext.Parse([]byte(text)); err != nil || timeOf(v).Valid {
			t.Errorf("%s: %+v, %v", text, timeOf(v), err)
		}
	}
}
