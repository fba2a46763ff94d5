package payload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestPayloadPlaces finds tool output and base64, and nothing that a user or a model wrote.
func TestPayloadPlaces(t *testing.T) {
	long, code := strings.Repeat("a \\\"word\\\" ", 20), strings.Repeat("QUJD", 40)
	for _, c := range []struct {
		doc  string
		rows []index.Row
		want string // the places, with the string that is there
	}{
		{`{"content":"` + long + `","short":"x"}`, []index.Row{{Labels: &index.Labels{Kind: transcript.KindToolResult}}}, long},
		{`{"content":"` + long + `"}`, []index.Row{{Labels: &index.Labels{Kind: transcript.KindMessage, Role: "user"}}}, ""},
		{`{"data":"` + code + `"}`, []index.Row{{Labels: &index.Labels{Kind: transcript.KindMessage, Role: "user"}}}, code},
		{`{"data":"data:image/png;base64,` + code + `"}`, []index.Row{{Labels: &index.Labels{Kind: transcript.KindMessage, Role: "user"}}}, "data:image/png;base64," + code},
		{`{"signature":"` + code + `"}`, []index.Row{{Labels: &index.Labels{Kind: transcript.KindReasoning}}}, ""},
		{`{"text":"` + code + `"}`, []index.Row{{Labels: &index.Labels{Kind: transcript.KindMessage, Role: "assistant"}}}, ""},
		{`{"input":"` + long + `"}`, []index.Row{{Labels: &index.Labels{Kind: transcript.KindToolCall}, Call: &transcript.Call{}}}, ""},
		{`{"input":{"output":1,"a":"` + long + `"},"state":{"output":["` + code + `"]}}`, []index.Row{
			{Labels: &index.Labels{Kind: transcript.KindToolCall}, Call: &transcript.Call{}}, {Labels: &index.Labels{Kind: transcript.KindToolResult}, Result: &transcript.Result{}}}, code},
		{`{"` + long + `":"key"}`, []index.Row{{Labels: &index.Labels{Kind: transcript.KindToolResult}}}, ""},
		{`{"content":"` + long, []index.Row{{Labels: &index.Labels{Kind: transcript.KindToolResult}}}, ""},
	} {
		p := &index.Parsed{Rows: c.rows, Conversations: []index.Transcript{{Conversation: transcript.Conversation{Run: "r"}}}}
		for i := range p.Rows {
			p.Rows[i].Length = int64(len(c.doc))
		}
		want := "[]"
		if c.want != "" {
			want = fmt.Sprint([][2]int64{{int64(strings.LastIndex(c.doc, c.want)), int64(len(c.want))}})
		}
		if got := fmt.Sprint(findPlaces(p, "", []byte(c.doc), map[string]int64{"r": 100})); got != want {
			t.Errorf("%.60s: %s, want %s", c.doc, got, want)
		}
		if got := findPlaces(p, "", []byte(c.doc), map[string]int64{"other": 100}); len(got) > 0 {
			t.Errorf("%.60s: of another run %v", c.doc, got)
		}
	}
}
