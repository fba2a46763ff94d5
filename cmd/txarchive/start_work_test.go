package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// initialised is a line that the runtime prints of a package: its name, and how many bytes it allocates before main.
var initialised = regexp.MustCompile(`(?m)^init (\S+) @.*, (\d+) bytes, `)

// TestStartWork counts what all packages together allocate before main, in every command. Most of it is page faults, a millisecond for
// two megabytes; regular expressions of packages are what it grows by.
func TestStartWork(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates, too")
	}
	// 274,000 when this was last looked at, give or take 400 by where the maps' entries fall, with 60 formats, which have 600 to 5,000 each; 240,000 more
	// with cobra/doc, 30,000 more with one expression that is compiled at once, 2,000 to 7,000 more with a map of thirty names.
	const most = 285_000
	cmd := exec.Command(program(t), "version")
	cmd.Env = []string{"GODEBUG=inittrace=1"} // packages keep what the environment holds
	var trace bytes.Buffer
	cmd.Stderr = &trace
	must(t, cmd.Run())
	total := 0
	lines := initialised.FindAllStringSubmatch(trace.String(), -1)
	for _, m := range lines {
		n, err := strconv.Atoi(m[2])
		must(t, err)
		total += n
	}
	if len(lines) < 50 || total > most {
		t.Errorf("%d packages allocate %d bytes before main, at most %d is right\n%s", len(lines), total, most, trace.String())
	}
}
