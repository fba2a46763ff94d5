package price

import (
	"fmt"
	"strings"
	"time"
)

// Match says which row prices a model, and why.
type Match struct {
	Model     string // as requested
	Key       string // key of the row; "" if there is none
	Provider  string // the seller at that price; "override" for a local price
	Rule      Rule
	TableDate string // date of the table, or first day of the override; "" for an override without a day
	Override  bool
	// Stale means that the table is not that of the day: the request is older than the oldest table, or the day's
	// table does not list the model and another one does that is no table of added models.
	Stale  bool
	Reason string // why there is no row: no price for model X, ...

	entry  *Entry
	region int64
}

// Entry returns the row, for listings; ok is false if there is none. The slices are shared and must not be modified.
func (m Match) Entry() (e Entry, ok bool) {
	if m.entry == nil {
		return e, false
	}
	return *m.entry, true
}

// Resolve finds the row of a model on a day (in UTC; the zero Time means unknown and selects the newest table).
// provider is what the transcript states separately from the model name, or "". Overrides come first, then the newest
// table that is not younger than the day, or else the oldest one; a model that this table does not list is looked up
// in older tables, then in younger ones. ok is false without a row, and Reason says why.
func (b *Book) Resolve(model, provider string, day time.Time) (Match, bool) {
	m := b.resolve(model, provider, dayOf(day))
	return *m, m.entry != nil
}

func (b *Book) resolve(model, provider, day string) *Match {
	ti, li := b.inForce(day)
	old := day != "" && ti >= 0 && b.load()[ti].Date > day
	key := cacheKey{model, provider, ti, li, old}
	if m, ok := b.cache.Load(key); ok {
		return m.(*Match)
	}
	m := b.lookUp(model, provider, day, ti, li)
	if b.cached.Load() < maxCached {
		if _, loaded := b.cache.LoadOrStore(key, m); !loaded {
			b.cached.Add(1)
		}
	}
	return m
}

func (b *Book) lookUp(model, provider, day string, ti, li int) *Match {
	m := &Match{Model: model}
	if strings.TrimSpace(model) == "" {
		m.Reason = "no model"
		return m
	}
	if li >= 0 {
		l := b.layers[li]
		switch f := l.table.find(model, provider); f.rule {
		case "", RuleMaker, RuleOtherProvider, RuleDated, RulePreview, RuleFast, RuleRegion: // an override never applies to names that it does not state
		default:
			m.set(f, l.from)
			m.Override = true
			if f.entry != nil { // the layer may have been started by another override
				m.TableDate = f.entry.from
			}
			return m
		}
	}
	tables := b.load()
	order := make([]int, 0, len(tables))
	for i := ti; i >= 0; i-- {
		order = append(order, i)
	}
	for i := ti + 1; i < len(tables); i++ {
		order = append(order, i)
	}
	for _, i := range order {
		t := tables[i]
		f := t.find(model, provider)
		if f.none() {
			continue
		}
		m.set(f, t.Date)
		m.Stale = day != "" && tables[ti].Date > day || i != ti && !t.Added
		return m
	}
	m.Reason = "no price for model " + model
	return m
}

func (m *Match) set(f found, date string) {
	m.TableDate = date
	switch {
	case f.entry == nil:
		m.Reason = fmt.Sprintf("no price for model %s: it could be any of %s", m.Model, strings.Join(f.ambiguous, ", "))
	case !f.entry.Priced():
		m.Key, m.Provider, m.Rule = f.entry.Key, f.entry.Provider, f.rule
		m.Reason = fmt.Sprintf("no price for model %s: listed without a price as %s", m.Model, m.Key)
	default:
		m.Key, m.Provider, m.Rule = f.entry.Key, f.entry.Provider, f.rule
		m.entry, m.region = f.entry, f.region
	}
}
