package main

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/docs"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/terminal"
)

func newDocsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "docs [PAGE]",
		Short: "Print the documentation",
		Long: "Print a page of the documentation, which is Markdown, or list all pages. Where help and messages refer to\n" +
			"docs/cost.md, `txarchive docs cost` prints that page." +
			exitCodes("4 no such page"),
		Example: "  txarchive docs\n  txarchive docs query-language\n  txarchive docs formats/codex",
		Args:    argCount(0, 1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return pageNames(), noFiles
		},
		RunE: func(_ *cobra.Command, v []string) error {
			if len(v) == 0 {
				return listPages(a)
			}
			return printPage(a, v[0])
		},
	}
}

const pageSuffix = ".md"

// pageNames returns the names of all pages, in order.
func pageNames() (names []string) {
	for _, pattern := range []string{"*" + pageSuffix, "*/*" + pageSuffix} {
		files, _ := fs.Glob(docs.Pages, pattern) // the patterns are well formed
		for _, file := range files {
			names = append(names, strings.TrimSuffix(file, pageSuffix))
		}
	}
	return names
}

func listPages(a *app) error {
	g := &terminal.Table{Columns: []terminal.Column{{Head: "page"}, {Head: "about", Shorten: terminal.TruncateMiddle}}}
	for _, name := range pageNames() {
		text, err := docs.Pages.ReadFile(name + pageSuffix)
		if err != nil {
			return err
		}
		title, _, _ := strings.Cut(string(text), "\n")
		g.Add(name, strings.TrimPrefix(title, "# "))
	}
	fmt.Fprintln(a.Out, a.Fit(g))
	return nil
}

// listItem matches the beginning of an item of a list.
var listItem = lazyregexp.New(`^(- |\d+\. )`)

// fitPage wraps what is wider than the terminal: paragraphs and items of lists anew, rows of tables between words, descriptions of commands
// below themselves. Sessions and code stay as they are.
func (a *app) fitPage(text string) string {
	width := a.Width()
	if width == 0 {
		return text
	}
	var out, paragraph []string
	flush := func() {
		if slices.ContainsFunc(paragraph, func(l string) bool { return terminal.Width(l) > width }) {
			margin := strings.Repeat(" ", len(listItem.FindString(paragraph[0])))
			first, rest, _ := strings.Cut(strings.Join(strings.Fields(strings.Join(paragraph, " ")), " "), " ")
			paragraph = []string{a.Wrap(first+" ", rest, margin)} // a sentence that begins with txarchive is no command line
		}
		out, paragraph = append(out, paragraph...), nil
	}
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		fence := strings.HasPrefix(line, "```")
		switch {
		case fence || fenced:
			flush()
			fenced = fenced != fence
			out = append(out, line)
		case line == "" || line[0] == '#' || line[0] == '|':
			flush()
			out = append(out, terminal.Wrap(line, width))
		case strings.HasPrefix(line, "    "):
			flush()
			out = append(out, a.hangDescriptions(line, width))
		case listItem.MatchString(line):
			flush()
			paragraph = []string{line}
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// printPage prints a page by its name, or by its path as texts cite it: docs/cost.md.
func printPage(a *app, name string) error {
	page := strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), pageSuffix)
	for _, file := range []string{page + pageSuffix, "formats/" + page + pageSuffix} {
		if text, err := docs.Pages.ReadFile(file); err == nil {
			_, err = io.WriteString(a.Out, a.fitPage(string(text)))
			return err
		}
	}
	return failure.NotFound(fmt.Sprintf("no documentation page %s", terminal.OneLine(name)), "txarchive docs lists the pages")
}
