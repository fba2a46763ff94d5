package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// onSmallDisk runs a test once more, in a process that has a small file system mounted on a directory, which is then in
// the environment as smallDisk. It says why not where this system does not let one mount it.
func onSmallDisk(t *testing.T, name string, bytes int, flags ...string) (why string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append(flags, "-test.run=^"+name+"$", "-test.v", "-test.timeout=0")...)
	cmd.Env = append(os.Environ(), smallDisk+"="+t.TempDir(), smallDisk+"_SIZE="+strconv.Itoa(bytes), builtProgram+"="+program(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		t.Logf("%s", out)
	case cmd.ProcessState == nil: // no such namespace
		return err.Error()
	case cmd.ProcessState.ExitCode() == notMounted:
		return string(out)
	default:
		t.Errorf("%s", out)
	}
	return ""
}

// notMounted is the exit code of a process that could not mount its disk.
const notMounted = 77

// mountSmallDisk does what onSmallDisk asks for, in the process that it began.
func mountSmallDisk() {
	dir, size := os.Getenv(smallDisk), os.Getenv(smallDisk+"_SIZE")
	if size == "" {
		return
	}
	err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err == nil {
		err = syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size)
	}
	if err != nil {
		fmt.Println("mount:", err)
		os.Exit(notMounted)
	}
	_ = os.Unsetenv(smallDisk + "_SIZE") // whoever it starts has it
}
