// Package ask is the read side of an index that package sqlite writes: queries for events and for the runs, conversations
// and originals that they belong to.
//
// It finds the rows of a query (Find, Count, Tally, Skim), looks things up by id and locates their bytes. Every call reads
// one snapshot of the index and never waits for writers.
package ask

import (
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/usage"
)

var (
	_ index.Reader             = (*Reader)(nil)
	_ index.ConversationLister = (*Reader)(nil)
	_ index.Lookup             = (*Reader)(nil)
	_ index.Originals          = (*Reader)(nil)
)

// Reader answers queries over read-only connections. It is safe for concurrent use.
type Reader struct {
	r      *sqlx.DB
	usage  *usage.Reader
	limits limits
	pageMu sync.Mutex // serialises concurrent reads for one page: opening another connection takes two milliseconds
}

// New returns a Reader over a pool of connections, which the caller must close.
func New(r *sqlx.DB) *Reader { return &Reader{r: r, usage: usage.New(r), limits: defaultLimits} }
