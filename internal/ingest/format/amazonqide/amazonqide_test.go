package amazonqide

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

const testFile = "home/.aws/amazonq/history/chat-history-0123456789abcdef0123456789abcdef.json"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzHistory(f *testing.F) { formattest.Fuzz(f, New(), roleHistory, testFile) }

func TestDetect(t *testing.T) {
	const begin = `{"filename":"chat-history-no-workspace.json","collections":[{"name":"tabs","data":[`
	placed := format.Claim{Strength: format.Certain, Role: roleHistory, Root: "home/.aws/amazonq/history"}
	likely := format.Claim{Strength: format.Likely, Role: roleHistory}
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"home/.aws/credentials", "[default]", skip},
		{".aws/sso/cache/0123.json", "{}", skip},
		{"home/.aws/cli/cache/0123.json", "{}", skip},
		{"home/.aws/login/cache/0123.json", "{}", skip},
		{"home/.aws/config", "[default]", format.Claim{}},
		{"work/sso/cache/0123.json", "{}", format.Claim{}},
		{testFile, "", placed},
		{testFile, begin, placed},
		{".aws/amazonq/history/chat-history-no-workspace.json", "torn", format.Claim{Strength: format.Certain, Role: roleHistory, Root: ".aws/amazonq/history"}},
		{"home/.aws/amazonq/history/chat-history-.json", "", format.Claim{}},
		{"home/.aws/amazonq/history/other.json", "{}", format.Claim{}},
		{"home/.aws/amazonq/history/chat-history-x.json.bak", "{}", format.Claim{}},
		{"home/.aws/amazonq/chat-history-x.json", "{}", format.Claim{}},
		{"desk/copy.json", begin, likely},
		{"desk/copy", "\xef\xbb\xbf {\n \"filename\": \"chat-history-1.json\",\n \"collections\": [", likely},
		{"desk/copy.json", `{"filename":"loki.db","collections":[]}`, format.Claim{}},
		{"desk/copy.json", `{"filename":"chat-history-1.json","collections":{}}`, format.Claim{}},
		{"desk/copy.json", `[` + begin, format.Claim{}},
	})
}

// TestManyImages has a prompt with more values than a document may have, most of them bytes of an image.
func TestManyImages(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"filename":"chat-history-1.json","collections":[{"name":"tabs","data":[{"historyId":"h","conversations":[{"messages":[`)
	b.WriteString(`{"body":"see","type":"prompt","images":[`)
	for i := range 2 {
		b.WriteString(`,{"format":"png","source":{"bytes":{`[1-i:])
		b.WriteString(strings.TrimPrefix(strings.Repeat(`,"7":1`, 4<<20), ","))
		b.WriteString("}}}")
	}
	b.WriteString(`]}]}]}]}]}`)
	got := ""
	for r, err := range New().Parse(format.Input{Path: testFile, Role: roleHistory, Reader: strings.NewReader(b.String())}) {
		switch r := r.(type) {
		case *transcript.Event:
			got += fmt.Sprintf("%s %v ", r.Parts[0].Text, r.Attributes)
		case *transcript.Problem:
			t.Errorf("problem %+v", r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := "see map[images:2] "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
