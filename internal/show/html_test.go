package show

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// pageTag matches the tags that a page has, with their attributes: none of them loads or runs anything.
var pageTag = regexp.MustCompile(`</?(?:h1|h2|dl|dt|dd|table|tr|th|td|a|article|div|span|details|summary|pre|time|body|title)(?: (?:id|class|href|datetime)="[\w #:.+-]*"| open)*>`)

// FuzzPage puts hostile text wherever a transcript has a say. All of it must be text in the page.
func FuzzPage(f *testing.F) {
	for _, text := range []string{"plain", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "</pre></article><h1>", "a\x1b[31mb\u202e", "&lt;b&gt; ' &#60;", "]]><!--", "\xff\xfe<a>"} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, unfolded bool) {
		var out strings.Builder
		o := Options{Format: "html", Tools: "short"}
		if unfolded {
			o.Tools = "full"
		}
		v := viewer{Printer: &printer.Printer{Out: &out, UTC: true, Color: "never"}, o: o}
		v.sheet = newSheet(v.Printer, &o)
		v.sheet.title(text, "r1")
		v.fields([][2]string{{"project", text}})
		g := &terminal.Table{Columns: []terminal.Column{{Head: "conversation"}, {Head: "what"}}}
		g.Add("c1", text)
		v.sheet.conversations(g)
		v.sheet.(*htmlSheet).section(text, "c1")
		for i, kind := range []transcript.Kind{transcript.KindMessage, transcript.KindReasoning, transcript.KindToolResult, transcript.KindNotice} {
			e := index.Event{ID: fmt.Sprint("c1:", i), Kind: kind, Role: text, Type: text, Tool: text, Time: transcript.Time{UnixMicro: 1700000000000000, Valid: true}}
			result := &search.Piece{Event: index.Event{ID: "c1:9", Kind: transcript.KindToolResult}, Text: text}
			v.piece(t.Context(), &search.Piece{Event: e, Text: text, Result: result})
		}
		v.sheet.end()
		head, page, ok := strings.Cut(out.String(), "</style>")
		ok = ok && strings.HasSuffix(head, pageStyle)
		if rest := pageTag.ReplaceAllString(strings.Replace(page, "</head>", "", 1), ""); !ok || strings.ContainsAny(strings.Replace(strings.Replace(rest, "</body>", "", 1), "</html>", "", 1), "<>\x1b\u202e") || !utf8.ValidString(page) {
			t.Errorf("not only text: %q", rest)
		}
	})
}
