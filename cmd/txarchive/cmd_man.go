package main

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/docs"
)

// newManCommand writes manual pages of all commands, which a test has generated. Generating them takes a library of cobra and two more
// modules, which would add half a millisecond to the start of every command.
func newManCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write man pages to a directory",
		Long: "Write one man page for each command to a directory, for packagers." +
			exitCodes("4 no such directory"),
		Example: "  txarchive man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    argCount(1, 1),
		RunE:    func(_ *cobra.Command, v []string) error { return writeManual(a, v[0]) },
	}
}

// undated is the date of a generated page, which is replaced.
const undated = "Jan 0001"

func writeManual(a *app, dir string) error {
	pages, err := docs.Manual.ReadDir("man")
	if err != nil {
		return err
	}
	month := []byte(a.Now().UTC().Format("Jan 2006"))
	for _, p := range pages {
		page, err := docs.Manual.ReadFile("man/" + p.Name())
		if err != nil {
			return err
		}
		page = bytes.Replace(page, []byte(undated), month, 1)
		if err := os.WriteFile(filepath.Join(dir, p.Name()), page, 0o644); err != nil {
			return err
		}
	}
	return nil
}
