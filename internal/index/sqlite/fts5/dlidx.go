package fts5

// minIndexedLeaves is from how many leaves without a term on a doclist gets an index.
const minIndexedLeaves = 4

// indexPage is one level of a doclist index, a tree of the first row ids on the leaves that one doclist spans.
type indexPage struct {
	page  int64
	data  []byte
	valid bool  // last is set
	last  int64 // row id
}

// startIndex records that the doclist of a new term begins on the current leaf.
func (w *writer) startIndex() {
	if len(w.index) == 0 {
		w.index = append(w.index, indexPage{})
	}
	w.index[0].page = w.page
}

// indexRow adds the first row id of the current leaf.
func (w *writer) indexRow(id int64) {
	for level := 0; ; level++ {
		full := len(w.index[level].data) >= PageSize
		if full {
			w.splitIndex(level)
		}
		p := &w.index[level]
		value := id - p.last
		if !p.valid {
			page := w.page
			if level > 0 {
				page = w.index[level-1].page
			}
			p.data = append(p.data, flag(full))
			p.data = appendVarint(p.data, uint64(page))
			value = id
		}
		p.data = appendVarint(p.data, uint64(value))
		p.valid, p.last = true, id
		if !full {
			return
		}
	}
}

// splitIndex writes a full page and makes sure that it has a parent.
func (w *writer) splitIndex(level int) {
	p := &w.index[level]
	p.data[0] = 1 // not the root
	w.emit(doclistIndex(level, p.page), p.data)
	if level+1 == len(w.index) {
		w.index = append(w.index, indexPage{})
		p = &w.index[level]
	}
	if above := &w.index[level+1]; len(above.data) == 0 {
		first := firstRow(p.data)
		above.page = p.page
		above.data = append(above.data, 0)
		above.data = appendVarint(above.data, uint64(p.page))
		above.data = appendVarint(above.data, uint64(first))
		above.valid, above.last = true, first
	}
	p.data = p.data[:0]
	p.valid = false
	p.page++
}

func firstRow(data []byte) int64 {
	_, n := varint(data[1:])
	v, _ := varint(data[1+n:])
	return int64(v)
}

// indexEmpty records a leaf without a term that has no row id either.
func (w *writer) indexEmpty() {
	if w.rowless && len(w.index) > 0 && len(w.index[0].data) > 0 {
		w.index[0].data = append(w.index[0].data, 0)
	}
}

// flushIndex ends the index of a doclist and reports whether it was written.
func (w *writer) flushIndex() bool {
	keep := len(w.index) > 0 && len(w.index[0].data) > 0 && w.empty >= minIndexedLeaves
	for level := range w.index {
		p := &w.index[level]
		if len(p.data) == 0 {
			break
		}
		if keep {
			w.emit(doclistIndex(level, p.page), p.data)
		}
		p.data = p.data[:0]
		p.valid = false
	}
	return keep
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
