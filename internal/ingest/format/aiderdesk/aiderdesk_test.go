package aiderdesk

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const testTask = "shop/.aider-desk/tasks/a1de0000-0000-4000-8000-00000000000a/"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzContext(f *testing.F)  { formattest.Fuzz(f, New(), roleContext, testTask+"context.json") }
func FuzzSettings(f *testing.F) { formattest.Fuzz(f, New(), roleSettings, testTask+"settings.json") }
func FuzzTodos(f *testing.F)    { formattest.Fuzz(f, New(), roleTodos, testTask+"todos.json") }

func TestDetect(t *testing.T) {
	const document = `{"version":2,"contextMessages":[`
	claim := func(role string, strength format.Strength) format.Claim {
		return format.Claim{Strength: strength, Role: role}
	}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testTask + "context.json", "", claim(roleContext, format.Certain)},
		{testTask + "settings.json", "{}", claim(roleSettings, format.Certain)},
		{testTask + "todos.json", "{}", claim(roleTodos, format.Certain)},
		{testTask + "other.json", "{}", format.Claim{}},
		{testTask + "worktree/settings.json", "{}", format.Claim{}},
		{"shop/.aider-desk/sessions/.autosaved.json", "", claim(roleContext, format.Certain)},
		{"shop/.aider-desk/settings.json", "{}", format.Claim{}},
		{"shop/tasks/a/context.json", "{}", format.Claim{}},
		{"x/saved.json", document, claim(roleContext, format.Likely)},
		{"x/saved.json", "{\n  \"contextMessages\": [", claim(roleContext, format.Likely)},
		{"x/saved.json", `{"a":[{"contextMessages":[`, format.Claim{}},
		{"x/saved.json", `{"contextMessages":7`, format.Claim{}},
		{"x/saved.txt", document, format.Claim{}},
	})
}
