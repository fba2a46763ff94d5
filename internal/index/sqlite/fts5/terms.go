package fts5

// Terms iterates over the distinct terms of some segments in order. Terms of deleted rows are included until a merge removes
// them.
type Terms struct {
	m    merger
	term []byte
	err  error
}

// NewTerms returns an iterator before the first term.
func NewTerms(segments []Segment, source Source) (*Terms, error) {
	t := &Terms{}
	for _, s := range segments {
		s.TombstonePages = 0
		c, err := newCursor(source, s)
		if err != nil {
			return nil, err
		}
		t.m.cursors = append(t.m.cursors, c)
	}
	return t, nil
}

// Next advances to the next term and returns it, nil at the end. The term is valid until the next call.
func (t *Terms) Next() []byte {
	if t.err != nil || !t.m.selectLeast() {
		return nil
	}
	t.term = append(t.term[:0], t.m.least[0].term[1:]...) // without mainPrefix
	for _, c := range t.m.least {
		if c.advance(); c.err != nil {
			t.err = c.err
		}
	}
	return t.term
}

// Err returns the error that ended the iteration early.
func (t *Terms) Err() error { return t.err }
