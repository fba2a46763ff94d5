package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newManCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write manual pages into a directory",
		Long:    "Write one manual page for each command into a directory, for packagers." + exits("4 no such directory"),
		Example: "  txarchive man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, v []string) error {
			return writeMan(cmd.Root(), filepath.Clean(v[0]), a.now().UTC().Format("Jan 2006"))
		},
	}
}

// writeMan writes the manual pages of a command and of all below it.
func writeMan(cmd *cobra.Command, dir, date string) error {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := writeMan(c, dir, date); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, manName(cmd)+".1"), []byte(manPage(cmd, date)), 0o644)
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is a page in roff. cobra's own generator goes by way of Markdown: three modules, which every start of the program would pay for.
func manPage(cmd *cobra.Command, date string) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".nh\n.TH \"%s\" \"1\" \"%s\" \"txarchive\" \"txarchive\"\n", strings.ToUpper(manName(cmd)), date)
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n.SH %s\n%s\n", title, text)
		}
	}
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	section("NAME", manName(cmd)+" - "+roff(cmd.Short)+"\n")
	section("SYNOPSIS", bold(cmd.UseLine())+"\n")
	section("DESCRIPTION", manText(strings.TrimSpace(about))+"\n")
	section("OPTIONS", manFlags(cmd.NonInheritedFlags()))
	section("OPTIONS INHERITED FROM PARENT COMMANDS", manFlags(cmd.InheritedFlags()))
	if cmd.Example != "" {
		section("EXAMPLE", ".EX\n"+roffEscapes.Replace(cmd.Example)+"\n.EE\n")
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, bold(manName(cmd.Parent())+"(1)"))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			also = append(also, bold(manName(c)+"(1)"))
		}
	}
	section("SEE ALSO", strings.Join(also, ", "))
	return b.String()
}

// manText is what a command does. In the texts that are cobra's own there are headings and examples, too.
func manText(about string) string {
	var b strings.Builder
	lead := "" // the line before a paragraph
	for i, p := range strings.Split(about, "\n\n") {
		title, heading := strings.CutPrefix(p, "#### ")
		example, shown := strings.CutPrefix(p, "\t")
		switch {
		case heading:
			fmt.Fprintf(&b, "\n.SS %s\n", roff(title))
		case shown:
			fmt.Fprintf(&b, "%s.EX\n%s\n.EE\n", lead, roffEscapes.Replace(example))
		case i > 0:
			fmt.Fprintf(&b, "\n.PP\n%s\n", roff(p))
		default:
			fmt.Fprintf(&b, "%s\n", roff(p))
		}
		if lead = "\n"; heading {
			lead = ""
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func manFlags(flags *pflag.FlagSet) string {
	var all []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, value := bold("--"+f.Name), "="+roffEscapes.Replace(f.DefValue)
		if f.Shorthand != "" {
			name = bold("-"+f.Shorthand) + ", " + name
		}
		if f.Value.Type() == "string" {
			value = fmt.Sprintf("=%q", f.DefValue)
		}
		if f.NoOptDefVal != "" {
			value = "[" + value + "]"
		}
		all = append(all, name+value+"\n\t"+roff(f.Usage)+"\n")
	})
	return strings.Join(all, "\n.PP\n")
}

var roffEscapes = strings.NewReplacer(`\`, `\\`)

// roff is a text in which what stands in backquotes is bold. A line that begins with a full stop would be a request, so
// one that follows on something says so.
func roff(s string) string {
	parts := strings.Split(roffEscapes.Replace(s), "`")
	for i := 1; i < len(parts)-1; i += 2 {
		parts[i] = `\fB` + parts[i] + `\fR`
		if strings.HasPrefix(parts[i+1], ".") {
			parts[i] += `\&`
		}
	}
	return strings.Join(parts, "")
}

func bold(s string) string { return `\fB` + roffEscapes.Replace(s) + `\fP` }
