package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/txarchive/txarchive/docs"
)

// TestManual makes the manual pages of all commands and compares them with those that the program has in it; -update writes them.
func TestManual(t *testing.T) {
	root := newRootCommand(newApp(), "")
	configureCompletion(root)
	root.DisableAutoGenTag = true
	made, kept := t.TempDir(), "../../docs/man"
	must(t, doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "txarchive", Manual: "txarchive", Date: new(time.Time)}, made))
	pages, err := os.ReadDir(made)
	must(t, err)
	for _, p := range pages {
		cmd, _, err := root.Find(strings.Split(strings.TrimSuffix(p.Name(), ".1"), "-")[1:])
		must(t, err)
		nameValues(t, cmd, filepath.Join(made, p.Name()))
	}
	if *update {
		must(t, os.RemoveAll(kept))
		must(t, os.CopyFS(kept, os.DirFS(made)))
		return
	}
	have, err := docs.Manual.ReadDir("man")
	must(t, err)
	if len(have) != len(pages) {
		t.Errorf("%d pages are kept for %d commands: make golden", len(have), len(pages))
	}
	for _, p := range pages {
		want, err := os.ReadFile(filepath.Join(made, p.Name()))
		must(t, err)
		got, err := docs.Manual.ReadFile("man/" + p.Name())
		if err != nil || !bytes.Equal(got, want) || !bytes.Contains(got, []byte(undated)) {
			t.Errorf("%s is not what its command says now: make golden", p.Name())
		}
	}
}

// manualFlag matches a flag in a page as cobra writes it, with its default, and what it does.
var manualFlag = regexp.MustCompile(`(\\fB--([a-z-]+)\\fP)(?:\[=.*\]|=.*)\n(\t.*)`)

// nameValues gives the flags in the page of a command the names of their values, as help does: cobra has their defaults there.
func nameValues(t *testing.T, cmd *cobra.Command, page string) {
	t.Helper()
	text, err := os.ReadFile(page)
	must(t, err)
	text = manualFlag.ReplaceAllFunc(text, func(match []byte) []byte {
		m := manualFlag.FindSubmatch(match)
		f := cmd.Flag(string(m[2]))
		value, _ := pflag.UnquoteUsage(f)
		shown, what := string(m[1]), string(m[3])
		if value != "" {
			shown += ` \fI` + value + `\fP`
		}
		if usual := strings.Trim(f.DefValue, "[]"); usual != "" && usual != "0" && usual != "false" {
			what += " (default " + usual + ")"
		}
		return []byte(shown + "\n" + what)
	})
	must(t, os.WriteFile(page, text, 0o644))
}
