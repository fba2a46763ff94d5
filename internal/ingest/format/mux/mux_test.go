package mux

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

const testWorkspace = ".mux/sessions/a1b2c3d4e5/"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzChat(f *testing.F)     { formattest.Fuzz(f, New(), roleChat, testWorkspace+chatName) }
func FuzzHeadless(f *testing.F) { formattest.Fuzz(f, New(), roleHeadless, testWorkspace+headlessName) }
func FuzzChildren(f *testing.F) { formattest.Fuzz(f, New(), roleChildren, testWorkspace+childrenName) }
func FuzzMeta(f *testing.F)     { formattest.Fuzz(f, New(), roleMeta, testWorkspace+metaName) }

func TestDetect(t *testing.T) {
	const root = ".mux/sessions"
	const said = `{"id":"user-1-a","role":"user","parts":[{"type":"text","text":"hello"}],"metadata":{"historySequence":0}}` + "\n"
	const other = `{"id":"user-1-a","role":"user","parts":[{"type":"text","text":"hello"}],"metadata":{}}` + "\n"
	chat := format.Claim{Strength: format.Certain, Role: roleChat, Root: root}
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testWorkspace + chatName, "", chat},
		{testWorkspace + "subagent-transcripts/f1/" + chatName, said, chat},
		{testWorkspace + archiveName, "", format.Claim{Strength: format.Certain, Role: roleArchive, Root: root, Log: true}},
		{testWorkspace + headlessName, "", format.Claim{Strength: format.Certain, Role: roleHeadless, Root: root, Log: true}},
		{testWorkspace + childrenName, "{}", format.Claim{Strength: format.Certain, Role: roleChildren, Root: root}},
		{testWorkspace + metaName, "{}", format.Claim{Strength: format.Certain, Role: roleMeta, Root: root}},
		{testWorkspace + "partial.json", "{}", format.Claim{}},
		{testWorkspace + "session-usage.json", "{}", format.Claim{}},
		{".xum/sessions/w1/" + chatName, "", format.Claim{Strength: format.Certain, Role: roleChat, Root: ".xum/sessions"}},
		{"elsewhere/sessions/w1/" + chatName, "torn\n" + said, format.Claim{Strength: format.Likely, Role: roleChat}},
		{"elsewhere/sessions/w1/" + chatName, other, format.Claim{}},
		{"elsewhere/sessions/w1/" + chatName, "", format.Claim{}},
		{"elsewhere/w1/log.jsonl", said, format.Claim{}},
		{chatName, said, format.Claim{}},
		{"elsewhere/w1/" + metaName, "{}", format.Claim{}},
		{".mux/providers.jsonc", "{}", skip},
		{".xum/secrets.json", "{}", skip},
		{"shop/secrets.json", "{}", format.Claim{}},
	})
}

// TestNestedCalls: what calls without an input say does not grow with how deep a file nests them.
func TestNestedCalls(t *testing.T) {
	const depth = 200
	call := `{"type":"dynamic-tool","state":"input-available","toolCallId":"c","toolName":"code_execution","nestedCalls":[`
	line := `{"id":"a","role":"assistant","parts":[` + strings.Repeat(call, depth) + `{"output":"` + strings.Repeat("words ", 1000) + `"}` + strings.Repeat("]}", depth) + `]}` + "\n"
	size := 0
	for _, r := range formattest.Check(t, New(), formattest.Input{Path: testWorkspace + chatName, Role: roleChat, Bytes: []byte(line)}) {
		if e, ok := r.(*transcript.Event); ok {
			size += len(e.Parts[0].Text)
		}
	}
	if size > 3*len(line) {
		t.Errorf("%d bytes of text in a line of %d", size, len(line))
	}
}
