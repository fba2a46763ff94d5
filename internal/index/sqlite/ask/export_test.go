package ask

import "github.com/txarchive/txarchive/internal/index"

// Limits are those of a plan, for tests that make them small.
type Limits = limits

// NewLimits are measures.
func NewLimits(probe int, mostOwned, lookedUp int64, listed, tried int) Limits {
	return Limits{probe: probe, maxOwnedRows: mostOwned, ownerRows: lookedUp, listRows: listed, recentRows: tried}
}

// WithLimits is a reader that plans by other measures.
func (db *Reader) WithLimits(m Limits) *Reader { return &Reader{r: db.r, limits: m} }

// SelectVersions is the query of Versions.
func SelectVersions(of index.VersionFilter) (string, []any) { return selectVersions(of) }
