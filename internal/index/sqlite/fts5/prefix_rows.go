package fts5

import (
	"math"
	"slices"
	"strings"
)

// lookahead is rows of a segment that are found many at a time, the newest first.
type lookahead struct {
	rows      Rows
	scannedTo int64 // all rows from here on were looked at; negative: all there are
}

// notScanned is those of a segment that was not looked at.
var notScanned = lookahead{new(RowSet).Rows(), math.MaxInt64}

// advance does as Rows.Down; look finds some more, from the newest on that may be wanted.
func (k *lookahead) advance(at int64, scan func(at int64) error) (int64, error) {
	for {
		row, err := k.rows.Advance(at)
		if row >= 0 || err != nil || k.scannedTo < 0 {
			return row, err
		}
		if err := scan(min(at, k.scannedTo-1)); err != nil {
			return -1, err
		}
	}
}

// prefixRows is the rows of a segment that have terms which begin with one of some texts. All terms that begin so are looked
// through for so many of the newest at a time.
type prefixRows struct {
	view    *View
	segment *viewSegment
	column  int
	texts   []string
	lookahead
}

func (x phraseGroup) prefixRows(a *exprBuilder, segment int) rowIterator {
	b := &prefixRows{view: a.view, segment: a.view.segments[segment], column: x[0].Column.Number, lookahead: notScanned}
	for _, p := range x {
		b.texts = append(b.texts, p.Terms[0])
	}
	slices.Sort(b.texts)
	widest := "" // what begins with another text is looked through with that
	b.texts = slices.DeleteFunc(b.texts, func(text string) bool {
		if widest != "" && strings.HasPrefix(text, widest) {
			return true
		}
		widest = text
		return false
	})
	return b
}

// Advance implements Rows.
func (b *prefixRows) Advance(at int64) (int64, error) { return b.advance(at, b.scanNext) }

func (b *prefixRows) scanNext(at int64) error {
	rows := prefixScan{view: b.view, column: b.column, to: at + 1, maxWords: b.view.limits.Rows}
	if err := rows.read([]*viewSegment{b.segment}, b.texts); err != nil {
		return err
	}
	if b.rows, b.scannedTo = rows.rows.build().Rows(), rows.from; b.scannedTo == 0 {
		b.scannedTo = -1
	}
	return nil
}

func (b *prefixRows) leaders(to []*iterator) []*iterator { return to }

// cost is more than that of any list: nothing leads that has to be gathered.
func (b *prefixRows) cost() int { return math.MaxInt32 }
