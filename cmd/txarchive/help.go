package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/terminal"
)

// help prints what a command does and how it is used. A terminal gets lines wrapped to its width; a pipe gets them as they are written.
func (a *app) help(cmd *cobra.Command, _ []string) {
	about := cmp.Or(cmd.Long, cmd.Short)
	usage := cmd.UsageString()
	if width := a.Width(); width > 0 {
		about, usage = a.reflow(about, width), a.hangDescriptions(usage, width)
	}
	fmt.Fprintf(a.Out, "%s\n\n%s", strings.TrimSpace(about), usage)
}

// helpWidth is how wide help texts are where no terminal says otherwise.
const helpWidth = 120

// breakLines breaks a text that is put together from parts into lines of helpWidth.
func breakLines(text string) string { return terminal.WrapHanging("", text, "", helpWidth) }

// reflow wraps each paragraph that has a line wider than width anew. Paragraphs with indented lines stay as they are.
func (a *app) reflow(s string, width int) string {
	paragraphs := strings.Split(s, "\n\n")
	for i, p := range paragraphs {
		long := false
		for _, l := range strings.Split(p, "\n") {
			long = long || len(l) > width
		}
		if long && !strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = a.Wrap("", strings.ReplaceAll(p, "\n", " "), "")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// descriptionLine matches a line of a list: a flag, command or example, and its description.
var descriptionLine = lazyregexp.New(`^(?:( +\S.*?\S {2,})(\S.*)|( +[a-z]+ )([A-Z].*))$`)

// hangDescriptions wraps descriptions of flags and commands that are too long, indented below themselves.
func (a *app) hangDescriptions(s string, width int) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		m := descriptionLine.FindStringSubmatch(l)
		if len(l) <= width || m == nil {
			continue
		}
		lead, words := m[1]+m[3], m[2]+m[4]
		lines[i] = a.Wrap(lead, words, strings.Repeat(" ", min(len(lead), 2*width/3)))
	}
	return strings.Join(lines, "\n")
}
