package disk

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func holder(command string) Holder {
	return Holder{PID: os.Getpid(), Host: "box", Command: command, Since: time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)}
}

func TestLockNamesItsHolder(t *testing.T) {
	fsys := &FS{}
	path := filepath.Join(t.TempDir(), "lock")
	first, err := fsys.Lock(path, holder("a rather long command that the next one is shorter than"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = fsys.Lock(path, holder("second"))
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("a second lock: %v", err)
	}
	for _, want := range []string{"a rather long command", "box", "2026-11-21T01:02:03Z"} {
		if !strings.Contains(locked.Error(), want) {
			t.Errorf("%q does not say %q", locked.Error(), want)
		}
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	third, err := fsys.Lock(path, holder("third"))
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	if got := mustRead(t, path); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"third"`) {
		t.Errorf("the lock file says %q", got)
	}
	if err := third.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the lock file is gone: %v", err)
	}
}

// TestLockDiesWithItsHolder kills a child process that holds the lock.
func TestLockDiesWithItsHolder(t *testing.T) {
	const env = "TXARCHIVE_TEST_LOCK"
	if path := os.Getenv(env); path != "" {
		if _, err := (&FS{}).Lock(path, holder("child")); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("locked\n")
		time.Sleep(time.Minute)
		return
	}
	path := filepath.Join(t.TempDir(), "lock")
	child := exec.Command(os.Args[0], "-test.run=^TestLockDiesWithItsHolder$")
	child.Env = append(os.Environ(), env+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	var locked *LockedError
	if _, err := (&FS{}).Lock(path, holder("parent")); !errors.As(err, &locked) || !strings.Contains(locked.Holder, "child") {
		t.Errorf("while the child lives: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed, which is its error
	lock, err := (&FS{}).Lock(path, holder("parent"))
	if err != nil {
		t.Fatalf("after the child died: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestLockFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for n := 1; ; n++ {
		fsys, _ := failNth(n)
		lock, err := fsys.Lock(path, holder("x"))
		if err == nil {
			if err := lock.Release(); err != nil {
				t.Fatal(err)
			}
			return
		}
		if !errors.Is(err, errFault) {
			t.Fatalf("after fault %d: %v", n, err)
		}
	}
}
