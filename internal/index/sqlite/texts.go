package sqlite

import (
	"slices"
	"strings"
	"sync"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usageTexts are the texts of a usage record, in the order of textColumns. Many records have the same ones, so a row has one
// number for all of them.
type usageTexts [15]string

var textColumns = []string{"model", "provider", "tier", "speed", "geo", "reported_by", "agent", "engine", "flow", "step", "status", "outcome",
	"price_model", "price_table", "price_note"}

// Positions of the texts that say how a record was priced.
const (
	priceModel = 12 + iota
	priceTable
	priceNote
)

func textsOf(u *transcript.Usage) usageTexts {
	return usageTexts{u.Model, u.Provider, u.Tier, u.Speed, u.Geo, u.CostSource, u.Agent, u.Engine, u.Flow, u.Step, u.Status, string(u.Outcome)}
}

// textsID returns the row of texts, which it adds if there is none.
func (t *tx) textsID(texts usageTexts) (id int64, err error) {
	if id, ok := t.texts[texts]; ok {
		return id, nil
	}
	hash := index.Hash(texts[:]...)
	known, err := t.getDirect("SELECT id FROM usage_texts WHERE hash = ?", []any{hash}, &id)
	if err != nil {
		return 0, err
	}
	if !known {
		if id, err = t.id("usage_texts"); err != nil {
			return 0, err
		}
		args := []any{id, hash}
		for _, s := range texts {
			args = append(args, null(s))
		}
		if err := t.execDirect(insertTexts(), args...); err != nil {
			return 0, err
		}
	}
	t.texts[texts] = id
	return id, nil
}

var insertTexts = sync.OnceValue(func() string {
	return "INSERT INTO usage_texts (id, hash, " + strings.Join(textColumns, ", ") + ") VALUES (?, ?" + strings.Repeat(", ?", len(textColumns)) + ")"
})

// textList returns the columns of texts in a table.
func textList(table string) string {
	list := slices.Clone(textColumns)
	for i := range list {
		list[i] = table + "." + list[i]
	}
	return strings.Join(list, ", ")
}

// dest returns what to scan a row of textList into.
func (s *usageTexts) dest() (to []any) {
	for i := range s {
		to = append(to, engine.Text(&s[i]))
	}
	return to
}
