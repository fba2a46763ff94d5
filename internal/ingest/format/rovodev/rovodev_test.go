package rovodev

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const testDir = "home/.rovodev/sessions/7c0d0000-0000-4000-8000-000000000001/"

func TestGolden(t *testing.T)   { formattest.Golden(t, New()) }
func FuzzContext(f *testing.F)  { formattest.Fuzz(f, New(), roleContext, testDir+contextName) }
func FuzzMetadata(f *testing.F) { formattest.Fuzz(f, New(), roleMetadata, testDir+metadataName) }

func TestDetect(t *testing.T) {
	const id, moved = "7c0d0000-0000-4000-8000-000000000001/", "moved/7c0d0000-0000-4000-8000-000000000001"
	const context, noted = `{"id":"7c0d","deps":{"artifacts":{"a`, `{"title":null,"fork_data":null,"workspace_path":"/x"`
	const root, newRoot = "home/.rovodev/sessions", "home/.rovo/sessions"
	claim := func(strength format.Strength, role, root string) format.Claim {
		return format.Claim{Strength: strength, Role: role, Root: root}
	}
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testDir + contextName, "", claim(format.Certain, roleContext, root)},
		{testDir + metadataName, "torn", claim(format.Certain, roleMetadata, root)},
		{newRoot + "/named/" + contextName, "{}", claim(format.Certain, roleContext, newRoot)},
		{newRoot + "/named/" + metadataName, "{}", claim(format.Certain, roleMetadata, newRoot)},
		{testDir + id + contextName, "{}", claim(format.Certain, roleContext, root)},
		{testDir + id + metadataName, "{}", claim(format.Certain, roleMetadata, root)},
		{testDir + "artifacts/" + metadataName, noted, format.Claim{}},
		{testDir + "log.txt", "", format.Claim{}},
		{root + "/" + contextName, "{}", format.Claim{}},
		{moved + "/" + contextName, context, claim(format.Likely, roleContext, moved)},
		{moved + "/" + contextName, `{"message_history":[`, claim(format.Likely, roleContext, moved)},
		{moved + "/" + metadataName, noted, claim(format.Likely, roleMetadata, moved)},
		{moved + "/" + metadataName, `{"title":"x"}`, format.Claim{}},
		{"moved/named/" + metadataName, noted, format.Claim{}},
		{"moved/named/" + contextName, context, claim(format.Likely, roleContext, "")},
		{"trial/agent/" + savedName, context, claim(format.Likely, roleContext, "")},
		{"trial/" + id + savedName, context, claim(format.Likely, roleContext, "")},
		{"project/.claude/" + contextName, `{"session_id":"x","git_branch":"main"}`, format.Claim{}},
		{"home/.rovodev/mcp.json", "{}", skip},
		{"home/.rovo/mcp_config.json", "{}", skip},
		{"home/.rovodev/config.yml", "", format.Claim{}},
		{"project/mcp.json", "{}", format.Claim{}},
	})
}
