package ask

// Measures are those of a plan, for tests that make them small.
type Measures = measures

// NewMeasures are measures.
func NewMeasures(probe int, mostOwned, lookedUp int64, listed, tried int) Measures {
	return Measures{probe: probe, mostOwned: mostOwned, lookedUp: lookedUp, listed: listed, tried: tried}
}

// With is a reader that plans by other measures.
func (db *Reader) With(m Measures) *Reader { return &Reader{r: db.r, measures: m} }
