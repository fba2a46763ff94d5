package ingest

import (
	"context"
	"fmt"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/price"
)

// rememberPrices is what the index remembers of the book that it was priced with. When that is lost, everything is
// priced once more, and nothing changes.
const rememberPrices = "prices"

// Price brings the costs in the index in step with the prices of the archive: those of the program, with the tables
// and overrides that facts tell. It returns how many records changed; when the prices are those of the last time,
// nothing is looked at.
func (g *Ingester) Price(ctx context.Context) (changed int64, err error) {
	if g.Prices == nil {
		return 0, nil
	}
	if g.book, err = index.Prices(ctx, g.Index, g.Prices); err != nil {
		return 0, fmt.Errorf("read prices: %w", err)
	}
	in, err := Priced(ctx, g.Index, g.book)
	if err != nil || in {
		return 0, err
	}
	if changed, err = g.Index.Reprice(ctx, g.book); err != nil {
		return 0, err
	}
	return changed, g.Index.Remember(ctx, rememberPrices, g.book.ID())
}

// Priced says whether the costs in the index are by the prices of book.
func Priced(ctx context.Context, ix index.Catalog, book *price.Book) (bool, error) {
	last, err := ix.Recall(ctx, rememberPrices)
	return last == book.ID(), err
}
