package engine

import (
	"runtime"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// configure makes SQLite use Go mutexes and the allocator of memoryMethods. By default on Linux it uses the mutexes of a C
// library translated to Go, which looks each up in a table twice: 3 % of a first load, most of it around binding single
// values.
//
// The mutex of a connection is a no-op: database/sql gives a connection to one goroutine at a time, the driver relies on
// that already, and interrupting a connection takes no lock. Mutexes that are shared by all connections do lock.
//
// It has no effect when a connection was opened in this process before: SQLite then keeps its configuration.
var configure = sync.OnceFunc(func() {
	if runtime.GOOS != "linux" {
		return // the driver does the same there
	}
	t := libc.NewTLS()
	defer t.Close()
	p := libc.Xmalloc(t, 8)
	if p == 0 {
		return
	}
	defer libc.Xfree(t, p)
	sqlite3.Xsqlite3_config(t, sqlite3.SQLITE_CONFIG_MALLOC, libc.VaList(p, uintptr(unsafe.Pointer(&memoryMethods))))
	if sqlite3.Xsqlite3_config(t, sqlite3.SQLITE_CONFIG_MUTEX, libc.VaList(p, uintptr(unsafe.Pointer(&mutexMethods)))) == sqlite3.SQLITE_OK {
		sqlite3.Xsqlite3_initialize(t) // here, before any concurrency: it locks with a mutex of the kind that is a no-op
	}
})

// mutexMethods is sqlite3_mutex_methods.
var mutexMethods = [...]uintptr{
	*(*uintptr)(unsafe.Pointer(&struct{ f func(*libc.TLS) int32 }{func(*libc.TLS) int32 { return sqlite3.SQLITE_OK }})), // xMutexInit
	*(*uintptr)(unsafe.Pointer(&struct{ f func(*libc.TLS) int32 }{func(*libc.TLS) int32 { return sqlite3.SQLITE_OK }})), // xMutexEnd
	*(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, int32) uintptr
	}{func(_ *libc.TLS, kind int32) uintptr { return mutexes.alloc(kind) }})),
	*(*uintptr)(unsafe.Pointer(&struct{ f func(*libc.TLS, uintptr) }{func(_ *libc.TLS, m uintptr) { mutexes.free(m) }})),
	*(*uintptr)(unsafe.Pointer(&struct{ f func(*libc.TLS, uintptr) }{enterMutex})),
	*(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr) int32
	}{tryMutex})),
	*(*uintptr)(unsafe.Pointer(&struct{ f func(*libc.TLS, uintptr) }{leaveMutex})),
	0, 0, // xMutexHeld, xMutexNotheld: for assertions, which are not compiled in
}

// noMutex is the handle of the mutex of a connection, which is a no-op.
const noMutex = 1

// firstDynamic is the first handle of dynamic mutexes, after noMutex and SQLite's static mutexes.
const firstDynamic = 32

// mutexes are the mutexes by handle, which SQLite takes for an address.
var mutexes mutexTable

type mutexTable struct {
	fixed   [firstDynamic]sync.Mutex
	mu      sync.RWMutex
	dynamic []*sync.Mutex // for files; nil: free
}

func (t *mutexTable) alloc(kind int32) uintptr {
	switch kind {
	case sqlite3.SQLITE_MUTEX_RECURSIVE:
		return noMutex
	case sqlite3.SQLITE_MUTEX_FAST:
	default:
		return uintptr(kind)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, m := range t.dynamic {
		if m == nil {
			t.dynamic[i] = new(sync.Mutex)
			return uintptr(firstDynamic + i)
		}
	}
	t.dynamic = append(t.dynamic, new(sync.Mutex))
	return uintptr(firstDynamic + len(t.dynamic) - 1)
}

func (t *mutexTable) free(m uintptr) {
	if m < firstDynamic {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dynamic[m-firstDynamic] = nil
}

func (t *mutexTable) at(m uintptr) *sync.Mutex {
	if m < firstDynamic {
		return &t.fixed[m]
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.dynamic[m-firstDynamic]
}

func enterMutex(_ *libc.TLS, m uintptr) {
	if m != noMutex {
		mutexes.at(m).Lock()
	}
}

func tryMutex(_ *libc.TLS, m uintptr) int32 {
	if m == noMutex || mutexes.at(m).TryLock() {
		return sqlite3.SQLITE_OK
	}
	return sqlite3.SQLITE_BUSY
}

func leaveMutex(_ *libc.TLS, m uintptr) {
	if m != noMutex {
		mutexes.at(m).Unlock()
	}
}
