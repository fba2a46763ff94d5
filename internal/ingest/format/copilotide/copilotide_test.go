package copilotide

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

const (
	testBase     = "home/ada/.config/github-copilot/xcode/0badc0de0badc0de/conversations/00112233445566ff.db"
	testDir      = "home/ada/eclipse-workspace/.metadata/.plugins/com.microsoft.copilot.eclipse.core/conversations"
	testDocument = testDir + "/ada/0e0a0000-0000-4000-8000-000000000001.json"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, testBase+"/0A0A0000-0000-4000-8000-000000000001/turns.ndjson")
}
func FuzzDocument(f *testing.F) { formattest.Fuzz(f, New(), roleDocument, testDocument) }

func TestDetect(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE Conversation (id TEXT, CLSConversationID TEXT); CREATE TABLE Turn (rowID INTEGER, CLSTurnID TEXT)"
	long, other := formattest.DatabaseHead(true), formattest.DatabaseHead(false) // the schema is on other pages; it is here
	const members = `{"conversationId":"x","title":"t","requesterUsername":"ada","responderUsername":"GitHub Copilot","turns":[`
	skip := format.Claim{Strength: format.Certain, Skip: true}
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	likely := database
	likely.Strength = format.Likely
	document := format.Claim{Strength: format.Certain, Role: roleDocument, Root: testDir}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testBase, schema, database},
		{testBase, string(long), database},
		{testBase, string(other), format.Claim{}},
		{testBase, "no database", format.Claim{}},
		{"copies/chats.db", schema, likely},
		{"copies/chats.db", string(long), format.Claim{}},
		{testBase + "-journal", "", format.Claim{}},
		{testDocument, "", document},
		{testDocument, "torn", document},
		{testDir + "/ada/conversation_index.xml", "<user/>", format.Claim{}},
		{testDir + "/notes.json", "{}", format.Claim{}},
		{"desk/chat.json", members, format.Claim{Strength: format.Likely, Role: roleDocument}},
		{"desk/chat.json", `{"responderUsername":"x","initialLocation":"panel","requests":[`, format.Claim{}},
		{"home/.config/github-copilot/apps.json", "{}", skip},
		{"home/.config/github-copilot/hosts.json", "{}", skip},
		{"home/.config/github-copilot/versions.json", "{}", skip},
		{"home/.config/github-copilot/byok.json", "{}", skip},
		{"home/.config/github-copilot/auth.db", schema, skip},
		{"home/.config/github-copilot/auth.db-wal", "", skip},
		{"home/.config/github-copilot/xcode/mcp.json", "{}", skip},
		{"home/.config/github-copilot/xcode/copilot-xcode.db", string(long), skip},
		{"home/.config/github-copilot/xcode/0badc0de0badc0de/appState.json", "{}", format.Claim{}},
		{"project/mcp.json", "{}", format.Claim{}},
	})
}

// TestOneTurn has turns that are prompt and answer in one, as the class of early versions has them, and roles as the plug-in accepts them.
func TestOneTurn(t *testing.T) {
	const document = `{"turns": [
		{"turnId": "1", "role": "user", "message": {"text": "one"}, "reply": {"editAgentRounds": [{"reply": "answer one"}], "followups": []}},
		{"turnId": "2", "message": {"text": "two"}, "reply": {"text": "answer two"}},
		{"turnId": "3", "role": "copilot", "message": {"text": "three"}, "reply": {"text": "answer three"}},
		{"turnId": "4", "role": "user", "message": {"text": "four"}, "reply": {"annotations": [], "text": ""}},
		{"turnId": "5", "role": "Copilot", "message": {"text": ""}, "reply": {"text": "answer five"}},
		{"turnId": "6", "role": "user", "message": {"text": ""}, "reply": {"text": "answer six"}}
	]}`
	var got []string
	for r, err := range New().Parse(format.Input{Path: testDocument, Role: roleDocument, Reader: strings.NewReader(document)}) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.(*transcript.Event); ok {
			got = append(got, fmt.Sprintf("%s %s %s %s", e.ID, e.Kind, e.Role, e.Parts[0].Text))
		}
	}
	want := []string{
		"1/user message user one", "1/assistant/round/0 message assistant answer one", "2/user message user two", "2/assistant message assistant answer two",
		"3/user message user three", "3/assistant message assistant answer three", "4/user message user four", "5/assistant message assistant answer five",
		"6/assistant message assistant answer six",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %s\nwant %s", strings.Join(got, "\n    "), strings.Join(want, "\n     "))
	}
}

// TestLongIDs has ids of a size that must not be in each event's, nor in its attributes.
func TestLongIDs(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	const document = `{"turns": [{"turnId": %q, "role": "copilot", "parentTurnId": "p", "subagentToolCallId": %[1]q, "reply": {"editAgentRounds": [{"reply": "a"},
		{"toolCalls": [{"id": %[1]q, "name": "run_subagent", "status": "running"}], "subAgentRounds": [{"reply": "b"}]}]}}]}`
	n := 0
	for r, err := range New().Parse(format.Input{Path: testDocument, Role: roleDocument, Reader: strings.NewReader(fmt.Sprintf(document, long))}) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.(*transcript.Event); ok {
			n++
			if len(e.ID) == 0 || len(e.ID) > 300 || len(fmt.Sprint(e.Attributes)) > 600 {
				t.Errorf("id of %d bytes, attributes of %d", len(e.ID), len(fmt.Sprint(e.Attributes)))
			}
		}
	}
	if n != 3 {
		t.Errorf("%d events", n)
	}
}
