// 386 asks for sockets by one call for many, which the filter here does not know.

//go:build !386

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/txarchive/txarchive/internal/failure"
)

// socketlessEnv names the program that the test binary becomes, without sockets.
const socketlessEnv = "TXARCHIVE_TEST_SOCKETLESS"

// askingEnv has the test binary ask for a socket.
const askingEnv = "TXARCHIVE_TEST_ASKS"

func init() {
	if bin := os.Getenv(socketlessEnv); bin != "" {
		fmt.Fprintln(os.Stderr, socketless(bin))
		os.Exit(failure.ExitRefused)
	}
	if os.Getenv(askingEnv) != "" {
		fmt.Println(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0))
		os.Exit(0)
	}
}

// socketless becomes the program, which the kernel kills when it asks for a socket.
func socketless(bin string) error {
	runtime.LockOSThread()
	const noNewPrivileges, seccomp, byFilter, kill, allow = 38, 22, 2, 0x80000000, 0x7fff0000
	filter := []syscall.SockFilter{
		{Code: syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS}, // the number of the call
		{Code: syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K, K: syscall.SYS_SOCKET, Jf: 1},
		{Code: syscall.BPF_RET | syscall.BPF_K, K: kill},
		{Code: syscall.BPF_RET | syscall.BPF_K, K: allow},
	}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivileges, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, seccomp, byFilter, uintptr(unsafe.Pointer(&program)), 0, 0, 0); errno != 0 {
		return errno
	}
	if err := os.Unsetenv(socketlessEnv); err != nil {
		return err
	}
	return syscall.Exec(bin, append([]string{bin}, os.Args[1:]...), os.Environ())
}

// dailyWork are commands that nobody asks to use a network.
func dailyWork(t *testing.T, dir string) [][]string {
	t.Helper()
	runs, err := filepath.Abs("../../testdata/runs")
	must(t, err)
	return [][]string{
		{"ingest", runs}, {"ingest"}, {"search", "error"}, {"list"}, {"stats"}, {"status"}, {"doctor"}, {"cost"}, {"prices", "list"},
		{"sql", "SELECT count(*) FROM v_events"}, {"verify"}, {"reindex"}, {"restore", "--all", "--to", filepath.Join(dir, "restored")}, {"version"},
		{"gc"}, {"backup", filepath.Join(dir, "backup")}, {"nightly"},
	}
}

// No command needs a network unless it is asked to use one: in a namespace that has none, not even a loopback, the
// daily work goes as everywhere.
func TestNoNetwork(t *testing.T) {
	dir, bin := t.TempDir(), program(t)
	for _, args := range dailyWork(t, dir) {
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
		if code := cmd.ProcessState.ExitCode(); err != nil && code != failure.ExitProblems {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// TestNoSocket: and none asks for a socket. A program that calls home does not mind when nobody answers, so TestNoNetwork
// would not see it.
func TestNoSocket(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	dir, bin := t.TempDir(), program(t)
	socketless := func(as []string, args ...string) (code int, killed bool, out []byte) {
		cmd := exec.Command(self, args...)
		cmd.Env = append(append(os.Environ(), "HOME="+dir, "TXARCHIVE_DIR="+filepath.Join(dir, "archive")), as...)
		out, _ = cmd.CombinedOutput()
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		return cmd.ProcessState.ExitCode(), status.Signaled() && status.Signal() == syscall.SIGSYS, out
	}
	if code, killed, out := socketless([]string{socketlessEnv + "=" + self, askingEnv + "=1"}); !killed {
		if code == failure.ExitRefused {
			t.Skipf("this system has no filters of system calls, nothing was looked at: %s", out)
		}
		t.Fatalf("a program that asks for a socket is not killed: exit %d\n%s", code, out)
	}
	for _, args := range dailyWork(t, dir) {
		if code, killed, out := socketless([]string{socketlessEnv + "=" + bin}, args...); killed || code != 0 && code != failure.ExitProblems {
			t.Errorf("%v: exit %d, killed for a socket: %v\n%s", args, code, killed, out)
		}
	}
}
