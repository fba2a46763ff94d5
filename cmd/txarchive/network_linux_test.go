package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// No command needs a network unless it is asked to use one: in a namespace that has none, not even a loopback, the
// daily work goes as everywhere.
func TestNoNetwork(t *testing.T) {
	dir := t.TempDir()
	bin := program(t)
	runs, err := filepath.Abs("../../testdata/runs")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"ingest", runs}, {"ingest"}, {"search", "error"}, {"list"}, {"stats"}, {"status"}, {"doctor"}, {"cost"}, {"prices", "list"},
		{"sql", "SELECT count(*) FROM v_events"}, {"verify"}, {"reindex"}, {"restore", "--all", "--to", filepath.Join(dir, "restored")}, {"version"},
	} {
		cmd := exec.Command(bin, args...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "TXARCHIVE_DIR="+filepath.Join(dir, "archive"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		if os.Getuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		}
		out, err := cmd.CombinedOutput()
		if os.IsPermission(err) {
			t.Skip("this system gives no network namespace to ", os.Getuid(), ": nothing was looked at")
		}
		if code := cmd.ProcessState.ExitCode(); err != nil && code != exitProblems {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}
