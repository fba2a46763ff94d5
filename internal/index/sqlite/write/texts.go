package write

import (
	"slices"
	"strings"
	"sync"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/transcript"
)

// UsageTexts are the texts of a usage record, in the order of textColumns. Many records have the same ones, so a row has one
// number for all of them.
type UsageTexts [15]string

var textColumns = []string{"model", "provider", "tier", "speed", "geo", "reported_by", "agent", "engine", "flow", "step", "status", "outcome",
	"price_model", "price_table", "price_note"}

// Positions of the texts that say how a record was priced.
const (
	priceModel = 12 + iota
	priceTable
	priceNote
)

func textsOf(u *transcript.Usage) UsageTexts {
	return UsageTexts{u.Model, u.Provider, u.Tier, u.Speed, u.Geo, u.CostSource, u.Agent, u.Engine, u.Flow, u.Step, u.Status, string(u.Outcome)}
}

// TextsID returns the row of texts, which it adds if there is none.
func (t *Tx) TextsID(texts UsageTexts) (id int64, err error) {
	if id, ok := t.texts[texts]; ok {
		return id, nil
	}
	hash := index.Hash(texts[:]...)
	known, err := t.GetDirect("SELECT id FROM usage_texts WHERE hash = ?", []any{hash}, &id)
	if err != nil {
		return 0, err
	}
	if !known {
		if id, err = t.NextID("usage_texts"); err != nil {
			return 0, err
		}
		args := []any{id, hash}
		for _, s := range texts {
			args = append(args, Null(s))
		}
		if err := t.ExecDirect(insertTexts(), args...); err != nil {
			return 0, err
		}
	}
	t.texts[texts] = id
	return id, nil
}

var insertTexts = sync.OnceValue(func() string {
	return "INSERT INTO usage_texts (id, hash, " + strings.Join(textColumns, ", ") + ") VALUES (?, ?" + strings.Repeat(", ?", len(textColumns)) + ")"
})

// TextList returns the columns of texts in a table.
func TextList(table string) string {
	list := slices.Clone(textColumns)
	for i := range list {
		list[i] = table + "." + list[i]
	}
	return strings.Join(list, ", ")
}

// Dest returns what to scan a row of TextList into.
func (s *UsageTexts) Dest() (to []any) {
	for i := range s {
		to = append(to, engine.Text(&s[i]))
	}
	return to
}

// Priced returns the columns calculated and texts of a record: its price by the book, nil for no book.
func (t *Tx) Priced(book *price.Book, u *transcript.Usage) (calculated any, texts int64, err error) {
	said := textsOf(u)
	if book != nil {
		calculated = said.Price(book, u)
	}
	texts, err = t.TextsID(said)
	return calculated, texts, err
}

// Price sets the texts that say how a record was priced, and returns the price.
func (s *UsageTexts) Price(book *price.Book, u *transcript.Usage) (calculated any) {
	r := book.Price(price.Request{Model: u.Model, Provider: u.Provider, Tier: u.Tier, Speed: u.Speed, Geo: u.Geo, Time: u.Time,
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheWrite1h: u.CacheWrite1h, Reasoning: u.Reasoning,
		Requests: u.Requests})
	note := r.Reason
	if note == "" {
		note = strings.Join(r.Flags, "; ")
	}
	s[priceModel], s[priceTable], s[priceNote] = r.Match.Key, r.Match.TableDate, note
	return NullCount(r.NanoUSD)
}
