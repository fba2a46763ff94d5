package show

import (
	"cmp"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// htmlSheet writes a page that needs nothing but itself: no script, no picture, no font. Everything that comes from a transcript is
// escaped, and the page forbids what it does not need. Thoughts, and what tools got and gave, are folded.
type htmlSheet struct {
	*printer.Printer
	unfolded bool
}

const pageStyle = `:root { color-scheme: light dark; --line: #8884; --dim: #777; --user: #1a7f37; --assistant: #0969da; --tool: #8884; --failed: #cf222e }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem; overflow-wrap: anywhere } h2 { font-size: 1.15rem; margin-top: 3rem; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; font-size: 13px } dt, .at { color: var(--dim) } dd { margin: 0; overflow-wrap: anywhere }
table { border-collapse: collapse; font-size: 13px } th, td { padding: .1rem .9rem .1rem 0; text-align: left; vertical-align: top } .n { text-align: right }
article { border-left: 3px solid var(--line); margin: .8rem 0; padding: 0 0 0 .8rem } article:target { background: #8882 }
.user { border-color: var(--user) } .assistant { border-color: var(--assistant) } .failed { border-color: var(--failed) } .failed > .head, .failed > div > .head, .failed > details > summary > .head { color: var(--failed) }
.head { font-weight: 600; font-size: 13px } .at { font-size: 12px; margin-left: .6rem; text-decoration: none } .brief { color: var(--dim); font: 12px ui-monospace, monospace }
summary { cursor: pointer; overflow: hidden; white-space: nowrap; text-overflow: ellipsis } details[open] .brief { display: none }
pre { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: .2rem 0 .4rem } .tool pre { font: 12.5px/1.45 ui-monospace, monospace }
`

func (s *htmlSheet) title(title, id string) {
	text := cmp.Or(terminal.OneLine(title), id)
	fmt.Fprintf(s.Out, "%s<body>\n<h1 id=\"%s\">%s</h1>\n", rows.PageHead(text, pageStyle), html.EscapeString(id), rows.EscapeHTML(text))
}

func (s *htmlSheet) fields(fields [][2]string) {
	fmt.Fprint(s.Out, "<dl>")
	for _, f := range fields {
		fmt.Fprintf(s.Out, "<dt>%s</dt><dd>%s</dd>\n", f[0], rows.EscapeHTML(f[1]))
	}
	fmt.Fprint(s.Out, "</dl>\n")
}

func (s *htmlSheet) conversations(all *terminal.Table) {
	fmt.Fprint(s.Out, "<table>\n<tr>")
	class := func(i int) string {
		if all.Columns[i].Right {
			return ` class="n"`
		}
		return ""
	}
	for i, c := range all.Columns {
		fmt.Fprintf(s.Out, "<th%s>%s</th>", class(i), c.Head)
	}
	for _, cells := range all.Rows {
		fmt.Fprint(s.Out, "</tr>\n<tr>")
		for i, cell := range cells {
			cell = rows.EscapeHTML(terminal.OneLine(cell))
			if i == 0 {
				cell = fmt.Sprintf(`<a href="#%s">%[1]s</a>`, html.EscapeString(cells[0]))
			}
			fmt.Fprintf(s.Out, "<td%s>%s</td>", class(i), cell)
		}
	}
	fmt.Fprint(s.Out, "</tr>\n</table>\n")
}

// section begins a conversation of a run.
func (s *htmlSheet) section(title, id string) {
	fmt.Fprintf(s.Out, "<h2 id=\"%s\">%s</h2>\n", html.EscapeString(id), rows.EscapeHTML(cmp.Or(terminal.OneLine(title), id)))
}

func (s *htmlSheet) event(e, result *shown) {
	class := "other"
	switch {
	case e.Kind == transcript.KindError || e.Failed == transcript.Yes:
		class = "failed"
	case e.Kind == transcript.KindMessage && (e.Role == "user" || e.Role == "assistant"):
		class = e.Role
	}
	if e.tool {
		class += " tool"
	}
	id := html.EscapeString(e.ID)
	head := fmt.Sprintf(`<span class="head">%s</span><a class="at" href="#%s">%s %[2]s</a>`, rows.EscapeHTML(e.head), id, s.at(e))
	fmt.Fprintf(s.Out, "<article class=\"%s\" id=\"%s\">", class, id)
	folds := (e.tool || e.Kind == transcript.KindReasoning) && (e.body != "" || result != nil)
	if !folds {
		fmt.Fprintf(s.Out, "<div>%s</div>", head)
		s.print(e)
		fmt.Fprint(s.Out, "</article>\n")
		return
	}
	open := ""
	if s.unfolded || e.Marked {
		open = " open"
	}
	fmt.Fprintf(s.Out, "<details%s><summary>%s <span class=\"brief\">%s</span></summary>", open, head, rows.EscapeHTML(terminal.Truncate(terminal.OneLine(beginning(e.body)), 100)))
	s.print(e)
	if result != nil {
		class := ""
		if result.Failed == transcript.Yes {
			class = ` class="failed"`
		}
		fmt.Fprintf(s.Out, `<div%s><span class="head">%s</span><a class="at" id="%s" href="#%[3]s">%s %[3]s</a></div>`, class, result.head, html.EscapeString(result.ID), s.at(result))
		s.print(result)
	}
	fmt.Fprint(s.Out, "</details></article>\n")
}

// beginning returns enough of a text for a line of it.
func beginning(text string) string {
	const enough = 1000
	if len(text) <= enough {
		return text
	}
	return strings.ToValidUTF8(text[:enough], "")
}

func (s *htmlSheet) at(e *shown) string {
	if !e.Time.Valid {
		return ""
	}
	at := time.UnixMicro(e.Time.UnixMicro)
	return fmt.Sprintf(`<time datetime="%s">%s</time>`, at.UTC().Format(time.RFC3339Nano), s.FormatTime(e.Time))
}

func (s *htmlSheet) print(e *shown) {
	if e.body != "" {
		fmt.Fprintf(s.Out, "<pre>%s</pre>", rows.EscapeHTML(e.body))
	}
}

func (s *htmlSheet) end() { fmt.Fprint(s.Out, "</body></html>\n") }
