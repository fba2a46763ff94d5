package librechat

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzExport(f *testing.F) { formattest.Fuzz(f, New(), roleExport, "downloads/Willows.json") }

func TestDetect(t *testing.T) {
	const head = `{"conversationId":"c","endpoint":"openAI","title":"t","exportAt":"16:33:32 GMT+0200","branches":true,"recursive":false`
	export := format.Claim{Strength: format.Likely, Role: roleExport}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"downloads/Willows.json", head + `,"messages":[]}`, export},
		{"downloads/Willows (1).JSON", head + `,"messagesTree":[{"mess`, export},
		{"downloads/Willows.txt", head + `}`, format.Claim{}},
		{"downloads/Willows.json", `[` + head + `}]`, format.Claim{}},
		{"downloads/Willows.json", `{"conversationId":"c","messages":[]}`, format.Claim{}},
		{"downloads/Willows.json", `{"x":{"conversationId":"c","exportAt":"x","branches":true,"recursive":true}}`, format.Claim{}},
		{"downloads/Willows.json", "", format.Claim{}},
	})
}
