package ingest

import (
	"context"
	"fmt"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/price"
)

// pricesKey is the key under which the index remembers the id of the book that its costs were computed with. If that is lost, everything
// is priced once more, with the same result.
const pricesKey = "prices"

// Price updates the costs in the index to the prices of the archive: those of the program, extended by the tables
// and overrides in facts. It returns how many records changed. If the prices are those of the last time it reads no record.
func (g *Ingester) Price(ctx context.Context) (changed int64, err error) {
	if g.Prices == nil {
		return 0, nil
	}
	if g.book, err = index.Prices(ctx, g.Index, g.Prices); err != nil {
		return 0, fmt.Errorf("read prices: %w", err)
	}
	current, err := Priced(ctx, g.Index, g.book)
	if err != nil || current {
		return 0, err
	}
	if changed, err = g.Index.Reprice(ctx, g.book); err != nil {
		return 0, err
	}
	return changed, g.Index.Remember(ctx, pricesKey, g.book.ID())
}

// Priced reports whether the costs in the index were computed with book.
func Priced(ctx context.Context, memory index.ScanMemory, book *price.Book) (bool, error) {
	last, err := memory.Recall(ctx, pricesKey)
	return last == book.ID(), err
}
