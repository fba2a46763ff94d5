package ingest

import (
	"context"
	"fmt"

	"github.com/txarchive/txarchive/internal/index"
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
	id := g.book.ID()
	last, err := g.Index.Recall(ctx, rememberPrices)
	if err != nil || last == id {
		return 0, err
	}
	if changed, err = g.Index.Reprice(ctx, g.book); err != nil {
		return 0, err
	}
	return changed, g.Index.Remember(ctx, rememberPrices, id)
}
