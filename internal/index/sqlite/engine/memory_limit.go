package engine

import (
	"reflect"
	"sync"
	"sync/atomic"

	"modernc.org/libc"
)

// LimitMemory bounds what a connection of the driver allocates until end is called, without the pages of its cache, which have a limit of
// their own, and small blocks. Beyond that a statement fails with SQLITE_NOMEM. SQLite's limit on the length of a value does not bound
// what an aggregate such as json_group_array collects before it is one. It has no effect where SQLite has an allocator of its own: see
// configure.
func LimitMemory(conn any, bytes int64) (end func()) {
	tls := tlsOf(conn)
	if tls == nil {
		return func() {}
	}
	limits.of.Store(tls, &bytes)
	limits.n.Add(1)
	return func() {
		limits.of.Delete(tls)
		limits.n.Add(-1)
	}
}

// tlsOf returns what a connection calls SQLite with, nil for anything else. The driver does not export it.
func tlsOf(conn any) *libc.TLS {
	if v := reflect.Indirect(reflect.ValueOf(conn)); v.Kind() == reflect.Struct {
		if tls := v.FieldByName("tls"); tls.IsValid() && tls.Type() == reflect.TypeFor[*libc.TLS]() {
			return (*libc.TLS)(tls.UnsafePointer())
		}
	}
	return nil
}

// limits are the bytes that connections with a limit may still allocate, by *libc.TLS. Only the goroutine that uses a connection changes
// its number.
var limits struct {
	of sync.Map
	n  atomic.Int32
}

// spend counts n bytes, or less than 0 for those that are released. It reports false if they are more than the connection may allocate.
func spend(t *libc.TLS, n int32) bool {
	if limits.n.Load() == 0 {
		return true
	}
	found, ok := limits.of.Load(t)
	if !ok {
		return true
	}
	left := found.(*int64)
	if int64(n) > *left {
		return false
	}
	*left -= int64(n)
	return true
}
