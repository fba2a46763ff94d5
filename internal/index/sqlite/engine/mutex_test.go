package engine

import (
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

func TestMutexes(t *testing.T) {
	var table mutexTable
	if c := table.alloc(sqlite3.SQLITE_MUTEX_RECURSIVE); c != noMutex {
		t.Errorf("the lock of a connection is %d", c)
	}
	if m := table.alloc(sqlite3.SQLITE_MUTEX_STATIC_VFS3); table.at(m) != table.at(table.alloc(sqlite3.SQLITE_MUTEX_STATIC_VFS3)) || table.at(m) == table.at(table.alloc(sqlite3.SQLITE_MUTEX_STATIC_LRU)) {
		t.Error("each of those that SQLite has by number is one")
	}
	a, b := table.alloc(sqlite3.SQLITE_MUTEX_FAST), table.alloc(sqlite3.SQLITE_MUTEX_FAST)
	if table.at(a) == table.at(b) {
		t.Error("two files have one lock")
	}
	table.free(a)
	if c := table.alloc(sqlite3.SQLITE_MUTEX_FAST); c != a {
		t.Errorf("%d was free, and %d was taken", a, c)
	}
}

// TestMutexesTaken checks that SQLite uses the mutexes, and that they lock.
func TestMutexesTaken(t *testing.T) {
	db := Pool(Connector(new(driver.Driver), filepath.Join(t.TempDir(), "test.db")), 1)
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (x)"); err != nil {
		t.Fatal(err)
	}
	mutexes.mu.RLock()
	n := len(mutexes.dynamic)
	mutexes.mu.RUnlock()
	if n == 0 && runtime.GOOS == "linux" {
		t.Error("SQLite has locks of its own")
	}
	m := mutexes.alloc(sqlite3.SQLITE_MUTEX_FAST)
	defer mutexes.free(m)
	enterMutex(nil, m)
	if tryMutex(nil, m) != sqlite3.SQLITE_BUSY {
		t.Error("a lock was taken twice")
	}
	sum, all := 0, sync.WaitGroup{}
	for range 4 {
		all.Go(func() {
			for range 1000 {
				enterMutex(nil, m)
				sum++
				leaveMutex(nil, m)
			}
		})
	}
	leaveMutex(nil, m)
	all.Wait()
	if sum != 4000 {
		t.Errorf("counted to %d", sum)
	}
}
