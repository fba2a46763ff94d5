package index

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/txarchive/txarchive/internal/price"
)

// Kinds of facts about prices.
const (
	// FactPrice is a user's price override. Key: PriceFactKey. Value: a price.Override.
	FactPrice = "price"
	// FactPriceTable is a price table in addition to the built-in ones. Key: its day. Value: a PriceTable.
	FactPriceTable = "price_table"
)

// PriceFactKey returns the key of an override: a model has one for each day from which a price is valid.
func PriceFactKey(model, from string) string { return from + "/" + model }

// PriceTable is the value of a FactPriceTable: the table in text form.
type PriceTable struct {
	Table string `json:"table"`
}

// Prices returns the price book of an archive: base with the tables and overrides of its facts. Everything that
// computes prices uses this book, so that the index, explanations and price lists agree.
func Prices(ctx context.Context, facts FactReader, base *price.Book) (*price.Book, error) {
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
