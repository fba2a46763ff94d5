package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenIndexOfSomebodyElse checks that what may not be read is named, and that it is a matter of permissions.
func TestOpenIndexOfSomebodyElse(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test, as it can do less than the others
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var none [2]unix.CapUserData // root may read what nobody may
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{db.path + "-wal", db.path} {
		if err := os.WriteFile(db.path+"-wal", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, 0); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), db.path, Options{ReadOnly: true})
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "open "+name+":") {
			t.Errorf("%s may not be read: %v", name, err)
		}
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A log that was left behind by a crash is read by way of a file beside it.
	if err := errors.Join(os.WriteFile(db.path+"-wal", []byte("frames"), 0o600), os.Chmod(filepath.Dir(db.path), 0o500)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(db.path), 0o700)
	if _, err := Open(t.Context(), db.path, Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "must be able to write to "+filepath.Dir(db.path)) {
		t.Errorf("where nothing can be written beside a log: %v", err)
	}
}
