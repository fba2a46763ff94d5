// Package ask answers questions about events, and about the runs, conversations and originals that they are of, from an
// index that package sqlite has written.
//
// It finds the rows of a query (Find, Count, Tally, Skim), gives things by their ids, and tells where their bytes lie. It
// reads only: every question sees one state of the index, and waits for nobody who writes.
package ask

import (
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
)

var (
	_ index.Reader    = (*Reader)(nil)
	_ index.Lookup    = (*Reader)(nil)
	_ index.Originals = (*Reader)(nil)
)

// Reader answers over connections that read. It is safe for use by several goroutines.
type Reader struct {
	r      *sqlx.DB
	limits limits
	pageMu sync.Mutex // of those who read a page side by side: to open another connection takes two milliseconds
}

// New makes a reader over a pool of connections, which stays the caller's.
func New(r *sqlx.DB) *Reader { return &Reader{r: r, limits: defaultLimits} }
