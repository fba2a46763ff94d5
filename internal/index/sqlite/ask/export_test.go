package ask

import "github.com/txarchive/txarchive/internal/index"

// Limits are the limits of a plan, for tests that lower them.
type Limits = limits

// NewLimits returns limits.
func NewLimits(probe int, mostOwned, lookedUp int64, listed, tried int) Limits {
	return Limits{probe: probe, maxOwnedRows: mostOwned, ownerRows: lookedUp, listRows: listed, recentRows: tried}
}

// WithLimits returns a reader with other limits.
func (db *Reader) WithLimits(m Limits) *Reader { return &Reader{r: db.r, usage: db.usage, limits: m} }

// SelectVersions returns the query of Versions.
func SelectVersions(of index.VersionFilter) (string, []any) { return selectVersions(of) }
