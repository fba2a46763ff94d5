package main

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/transcript"
)

// piece prints one part of an event for people, with the result of a call below it.
func (v *viewer) piece(p *search.Piece) {
	tool := p.Kind == transcript.KindToolCall || p.Kind == transcript.KindToolResult
	if tool && v.o.tools == "none" {
		return
	}
	fmt.Fprintln(v.a.out)
	v.heading(p)
	v.body(p, tool)
	if p.Result != nil && p.Result.ID != p.ID {
		v.result(p.Result)
	}
}

func (v *viewer) heading(p *search.Piece) {
	head := describe(&p.Event)
	if p.Failed == transcript.Yes {
		head += ", failed"
	}
	if !p.Counted && p.Part == 0 && p.Verdict != "" && p.Verdict != transcript.Counted {
		head += ", " + string(p.Verdict)
	}
	if v.o.format == "markdown" {
		fmt.Fprintf(v.a.out, "## %s\n\n`%s` %s\n\n", markdown(line(head)), p.ID, v.a.when(p.Time))
		return
	}
	marker := ""
	if p.Marked {
		marker = "> "
	}
	head = cut(marker+strings.Join(said(p.ID, v.a.when(p.Time), head), "  "), v.width)
	switch {
	case p.Kind == transcript.KindError || p.Failed == transcript.Yes:
		head = v.ink.red(head)
	case p.Role == "user":
		head = v.ink.green(head)
	case p.Role == "assistant" && p.Kind == transcript.KindMessage:
		head = v.ink.cyan(head)
	default:
		head = v.ink.dim(head)
	}
	fmt.Fprintln(v.a.out, head)
}

// result prints what a call gave.
func (v *viewer) result(p *search.Piece) {
	word := "result"
	switch p.Failed {
	case transcript.Yes:
		word = "failed"
	case transcript.No:
		word = "succeeded"
	}
	if v.o.format == "markdown" {
		fmt.Fprintf(v.a.out, "`%s` %s %s\n\n", p.ID, v.a.when(p.Time), word)
	} else {
		head := cut(strings.Join(said(p.ID, v.a.when(p.Time), word), "  "), max(v.width-2, 0))
		if p.Failed == transcript.Yes {
			head = v.ink.red(head)
		} else {
			head = v.ink.dim(head)
		}
		fmt.Fprintln(v.a.out, "  "+head)
	}
	v.body(p, true)
}

// shortText is how much of a tool's input or output is shown unless all is wanted.
const shortText = 160

func (v *viewer) body(p *search.Piece, tool bool) {
	if p.Err != nil {
		fmt.Fprintln(v.a.out, v.ink.red("    cannot be read: "+line(p.Err.Error())))
		return
	}
	body := clean(p.Text)
	if strings.TrimSpace(body) == "" {
		return
	}
	if tool && v.o.tools == "short" {
		short := line(body)
		if whole := widthOf(short); whole > shortText {
			short = cut(short, shortText) + "  (" + size(int64(len(p.Text))) + ", --tools full shows all)"
		}
		body = short
	}
	if v.o.format == "markdown" { // as code: nothing in it is a heading, a tag or a picture to fetch
		fmt.Fprintf(v.a.out, "%s\n\n", fence(body))
		return
	}
	margin := "  "
	if tool {
		margin = "    "
	}
	if v.width > 20 {
		body = folded(body, v.width-len(margin)-1)
	}
	fmt.Fprintln(v.a.out, indent(body, margin))
}

// fence puts text into a block of code that nothing in it can end.
func fence(s string) string {
	ticks := "```"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	return ticks + "\n" + strings.TrimRight(s, "\n") + "\n" + ticks
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", "&lt;", "&", "&amp;")

// markdown keeps one line of text from being read as markup.
func markdown(s string) string { return markdownEscapes.Replace(s) }
