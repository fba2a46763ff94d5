package ask

import "github.com/txarchive/txarchive/internal/index"

// Measures are those of a plan, for tests that make them small.
type Measures = measures

// NewMeasures are measures.
func NewMeasures(probe int, mostOwned, lookedUp int64, listed, tried int) Measures {
	return Measures{probe: probe, mostOwned: mostOwned, lookedUp: lookedUp, listed: listed, tried: tried}
}

// With is a reader that plans by other measures.
func (db *Reader) With(m Measures) *Reader { return &Reader{r: db.r, measures: m} }

// SelectVersions is the query of Versions.
func SelectVersions(of index.VersionFilter) (string, []any) { return selectVersions(of) }
