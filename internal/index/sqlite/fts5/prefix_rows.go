package fts5

import (
	"math"
	"slices"
	"strings"
)

// lookahead holds rows of a segment that are found by scanning many at a time, the newest first.
type lookahead struct {
	rows      Rows
	scannedTo int64 // all rows from here on were scanned; negative: all rows
}

// notScanned is the lookahead before the first scan.
var notScanned = lookahead{new(RowSet).Rows(), math.MaxInt64}

// advance implements Rows.Advance. scan finds further rows, at and below the row it is called with.
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

// prefixRows is the rows of a segment with terms that begin with one of several texts. Each scan goes through all such terms
// and finds as many of the newest rows as the limits allow.
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
	widest := "" // a text that begins with another one is covered by it
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

// cost is higher than that of any doclist, so that a scan never leads an intersection.
func (b *prefixRows) cost() int { return math.MaxInt32 }
