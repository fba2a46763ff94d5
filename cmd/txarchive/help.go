package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// help prints what a command does and how it is used. In a pipe the lines are as they were written; a terminal gets
// them no longer than it is wide, broken between words.
func (a *app) help(cmd *cobra.Command, _ []string) {
	about := cmp.Or(cmd.Long, cmd.Short)
	usage := cmd.UsageString()
	if width := a.width(); width > 0 {
		about, usage = a.flowed(about, width), a.hung(usage, width)
	}
	fmt.Fprintf(a.out, "%s\n\n%s", strings.TrimSpace(about), usage)
}

// flowed joins the lines of each paragraph, and breaks them anew where one is too long. What is set in is left alone.
func (a *app) flowed(s string, width int) string {
	paragraphs := strings.Split(s, "\n\n")
	for i, p := range paragraphs {
		long := false
		for _, l := range strings.Split(p, "\n") {
			long = long || len(l) > width
		}
		if long && !strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = a.wrapped("", strings.ReplaceAll(p, "\n", " "), "")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// described is a line of a list: a flag, a command or an example, and behind it what it does.
var described = lazyregexp.New(`^(?:( +\S.*?\S {2,})(\S.*)|( +[a-z]+ )([A-Z].*))$`)

// hung breaks the descriptions of flags and commands that are too long; they go on below themselves.
func (a *app) hung(s string, width int) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		m := described.FindStringSubmatch(l)
		if len(l) <= width || m == nil {
			continue
		}
		lead, words := m[1]+m[3], m[2]+m[4]
		lines[i] = a.wrapped(lead, words, strings.Repeat(" ", min(len(lead), 2*width/3)))
	}
	return strings.Join(lines, "\n")
}
