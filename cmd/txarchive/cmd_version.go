package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/printer"
)

// version and commit are set by the linker; see the Makefile.
var (
	version = ""
	commit  = ""
)

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of txarchive and its parsers",
		Long: "Print the version of txarchive, and all known formats with the versions of their parsers." +
			exitCodes(),
		Example: "  txarchive version\n  txarchive version --json | jq .formats",
		Args:    argCount(0, 0),
		RunE:    func(*cobra.Command, []string) error { return runVersion(a) },
	}
}

func runVersion(a *app) error {
	v, c := buildVersion()
	formats := map[string]int{}
	var names []string
	for _, f := range all.Formats() {
		formats[f.Name()] = f.Version()
		names = append(names, fmt.Sprintf("%s %d", f.Name(), f.Version()))
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"version": v, "commit": printer.OrNull(c), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "formats": formats})
	}
	fmt.Fprintf(a.Out, "txarchive %s", v)
	if c != "" {
		fmt.Fprintf(a.Out, " (%s)", c)
	}
	fmt.Fprintf(a.Out, "\n%s, %s/%s\n%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		a.Wrap("", "formats and their parsers: "+strings.Join(names, ", "), "  "))
	return nil
}

// buildVersion returns version and commit: what the linker was told, else what the build info says.
func buildVersion() (v, c string) {
	v, c = version, commit
	info, ok := debug.ReadBuildInfo()
	if v == "" && ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	if v == "" {
		v = "(devel)"
	}
	if c == "" && ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				c = s.Value
			}
		}
	}
	return v, c
}
