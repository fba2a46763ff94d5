package main

import (
	"bytes"
	"os"
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
	const most = 260_000 // 237,000 when this was written; 240,000 more with cobra/doc, 140,000 more with expressions that were compiled at once
	cmd := exec.Command(program(t), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
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
