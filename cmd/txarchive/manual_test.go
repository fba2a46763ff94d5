package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra/doc"

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
