package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

const tutorialDoc = "../../docs/tutorial.md"

var (
	// sessionBlock is a block of commands, each behind a $, with what they print.
	sessionBlock = regexp.MustCompile("(?s)```\n(\\$ .*?)```\n")
	// varies is what may be another way each time: how long something took, and sizes of packs, whose names and times
	// differ. Columns are as wide as that.
	varies  = regexp.MustCompile(` *[0-9.]+ ?(ms|µs|s|KiB)\b`)
	columns = regexp.MustCompile(`(?m)(^|\S)  +`)
)

// alike is a text without what may be another way each time.
func alike(s string) string {
	return columns.ReplaceAllString(varies.ReplaceAllString(s, " N"), "$1  ")
}

// TestTutorial runs the session of docs/tutorial.md with the real program and compares; -update writes what it prints.
func TestTutorial(t *testing.T) {
	b, err := os.ReadFile(tutorialDoc)
	must(t, err)
	var script, files strings.Builder
	script.WriteString("env TXARCHIVE_DIR=$WORK/archive\nmkdir work\ncopytree $RUNS work/runs\ncd work\n")
	var commands []string
	for _, block := range sessionBlock.FindAllStringSubmatch(string(b), -1) {
		for _, s := range strings.Split(block[1], "\n") {
			if command, ok := strings.CutPrefix(s, "$ "); ok {
				fmt.Fprintf(&script, "exec sh $WORK/step%d\ntold\n", len(commands))
				fmt.Fprintf(&files, "-- step%d --\nexec 2>&1\n%s\n", len(commands), command) // results and messages in their order
				commands = append(commands, command)
			}
		}
	}
	if len(commands) < 10 {
		t.Fatalf("the session has %d commands", len(commands))
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "session.txtar"), []byte(script.String()+files.String()), 0o600))
	var said []string
	params := scriptParams(t, dir)
	params.Cmds["told"] = func(ts *testscript.TestScript, _ bool, _ []string) {
		said = append(said, strings.NewReplacer(ts.Getenv("WORK"), "~").Replace(ts.ReadFile("stdout")))
	}
	t.Run("session", func(t *testing.T) { testscript.Run(t, params) })
	compareTutorial(t, string(b), commands, said)
}

func compareTutorial(t *testing.T, doc string, commands, said []string) {
	if len(said) != len(commands) {
		t.Errorf("%d of %d commands ran", len(said), len(commands))
		return
	}
	n := 0
	got := sessionBlock.ReplaceAllStringFunc(doc, func(block string) string {
		var out strings.Builder
		for _, s := range strings.Split(block, "\n") {
			if strings.HasPrefix(s, "$ ") {
				out.WriteString("$ " + commands[n] + "\n" + said[n])
				n++
			}
		}
		return "```\n" + out.String() + "```\n"
	})
	switch {
	case alike(got) == alike(doc):
	case *update:
		must(t, os.WriteFile(tutorialDoc, []byte(got), 0o644))
	default:
		t.Errorf("the session prints\n%s\n%s has\n%s", got, tutorialDoc, doc)
	}
}
