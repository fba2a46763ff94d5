package lechat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestOdd reads messages that the samples do not have. Each event is shown as its id and its first text.
func TestOdd(t *testing.T) {
	const n = 20000
	var content strings.Builder
	var pieces []string
	for i := range n {
		fmt.Fprintf(&content, "%0200d ", i)
		pieces = append(pieces, fmt.Sprintf(`{"type":"text","text":"%0200d "}`, i))
	}
	all := strings.Join(pieces, ",")
	const head = `"chatId":"c","createdAt":"2026-01-01T00:00:00Z","role":`
	for name, c := range map[string]struct{ messages, want string }{
		"what was said is JSON": {
			`{"id":"a",` + head + `"user","content":"{\"unit\": \"km\"}"},` +
				`{"id":"b",` + head + `"assistant","content":"[1]","contentChunks":[{"type":"text","text":"[2, 3]"},` +
				`{"type":"tool_call","id":"t","name":"n","publicArguments":"{\"unit\": \"mile\"}"}]},` +
				`{"id":"d",` + head + `"user","content":"","contentChunks":[{"type":"text","text":"[4]"}]}`,
			`a={"unit": "km"} b/0=[2, 3] b/1=mile b=[1] d=[4]`,
		},
		"no ids": {
			`{` + head + `"assistant","content":"a","contentChunks":[{"type":"text","text":"b"}]},` +
				`{` + head + `"assistant","content":"c","contentChunks":[{"type":"text","text":"d"}]}`,
			"#0/0=b #0=a #1/0=d #1=c",
		},
		// A minute, when each was searched from the start of the content.
		"many chunks that the content has": {`{"id":"m",` + head + `"assistant","content":"` + content.String() + `","contentChunks":[` + all + `]}`, "m=" + content.String()},
		"chunks in another order": {
			`{"id":"m",` + head + `"assistant","content":"one two","contentChunks":[{"type":"text","text":"two"},{"type":"text","text":"one"}]}`, "m=one two",
		},
	} {
		var got []string
		for r, err := range New().Parse(format.Input{Path: "x.json", Role: roleChat, Reader: strings.NewReader("[" + c.messages + "]")}) {
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := r.(*transcript.Event); ok {
				got = append(got, e.ID+"="+e.Parts[0].Text)
			}
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s: %.300s, want %.300s", name, all, c.want)
		}
	}
}
