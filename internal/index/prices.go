package index

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/price"
)

// Kinds of facts about prices.
const (
	// FactPrice is a price of one's own. Key: PriceFactKey. Value: a price.Override.
	FactPrice = "price"
	// FactPriceTable is a table beside those of the program. Key: its day. Value: an object with its text form
	// ("table").
	FactPriceTable = "price_table"
)

// PriceFactKey is the key of an override: a model has one for each day from which it holds.
func PriceFactKey(model, from string) string { return from + "/" + model }

// PriceTable is the value of a FactPriceTable.
type PriceTable struct {
	Table string `json:"table"`
}

// Facts is what tells facts.
type Facts interface {
	Facts(ctx context.Context, kind string) iter.Seq2[blob.Fact, error]
}

// Prices is the book of an archive: base with the tables and the overrides that its facts tell. All that prices
// anything takes this one, so that an index, an explanation and a list of prices agree.
func Prices(ctx context.Context, facts Facts, base *price.Book) (*price.Book, error) {
	book := base
	for f, err := range facts.Facts(ctx, FactPriceTable) {
		if err != nil {
			return nil, err
		}
		var t PriceTable
		if err := json.Unmarshal(f.Value, &t); err != nil {
			return nil, fmt.Errorf("price table of %s: %w", f.Key, err)
		}
		if book, err = book.Add(t.Table); err != nil {
			return nil, fmt.Errorf("price table of %s: %w: made by a newer program", f.Key, err)
		}
	}
	var overrides []price.Override
	for f, err := range facts.Facts(ctx, FactPrice) {
		if err != nil {
			return nil, err
		}
		var o price.Override
		if err := json.Unmarshal(f.Value, &o); err != nil {
			return nil, fmt.Errorf("price %s: %w", f.Key, err)
		}
		overrides = append(overrides, o)
	}
	if len(overrides) > 0 {
		book = book.With(overrides)
	}
	return book, nil
}
