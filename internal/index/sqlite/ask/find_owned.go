package ask

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// ownerRange is a transcript with the number of its rows and the bounds of their ids.
type ownerRange struct {
	id, rows, first, last int64
	hidden                bool // its rows do not count
}

// ownerSet is the transcripts that meet a condition on owners, those with the newest rows first. dense says that they have
// too many rows to list.
type ownerSet struct {
	owners []ownerRange
	dense  bool
}

func (o *ownerSet) rows() (n int64) {
	for i := range o.owners {
		n += o.owners[i].rows
	}
	return n
}

// ownerSets has the owners with and without those whose rows do not count, which most searches count as well.
type ownerSets struct {
	ownerSet
	shown ownerSet
}

func (p *planner) findOwners(c where.Cond) (o ownerSet, err error) {
	query, args, key := p.ownersOf(c)
	all, known := p.tx.owned[key]
	if !known {
		most := p.maxOwnedRows
		if c.RangeSQL != "" {
			most *= rangeFactor
		}
		if all, err = p.queryOwners(query, args, most); err != nil {
			return o, err
		}
		if p.tx.reserve(len(all.owners) + len(all.shown.owners)) {
			p.tx.owned[key] = all
		}
	}
	if p.all {
		return all.ownerSet, nil
	}
	return all.shown, nil
}

func (p *planner) queryOwners(query string, args []any, most int64) (o ownerSets, err error) {
	shown, hidden := int64(0), int64(0) // rows
	scan := func(rows *sqlx.Rows) (h ownerRange, err error) {
		return h, rows.Scan(&h.id, &h.rows, &h.first, &h.last, &h.hidden)
	}
	err = engine.Each(p.ctx, p.tx, query, args, scan, func(h ownerRange) bool {
		if h.hidden {
			hidden += h.rows
		} else {
			shown += h.rows
		}
		o.owners = append(o.owners, h)
		return shown <= most
	})
	if err != nil {
		return o, err
	}
	slices.SortFunc(o.owners, func(a, b ownerRange) int { return cmp.Compare(b.last, a.last) })
	if o.shown.dense = shown > most; !o.shown.dense {
		o.shown.owners = slices.DeleteFunc(slices.Clone(o.owners), func(h ownerRange) bool { return h.hidden })
	}
	if o.dense = shown+hidden > most; o.dense {
		o.owners = nil
	}
	return o, nil
}

// ownersCached reports whether the result of findOwners is cached.
func (p *planner) ownersCached(c where.Cond) bool {
	_, _, key := p.ownersOf(c)
	_, known := p.tx.owned[key]
	return known
}

// ownersOf returns the query for owners, and the cache key of its result.
func (p *planner) ownersOf(c where.Cond) (query string, args []any, key string) {
	before := ""
	if c.To > 0 {
		before = " AND t.first_row < " + strconv.FormatInt(c.To, 10)
	}
	conds, from := where.Balanced(append(slices.Clone(c.OwnerSQL), c.HintSQL...), " AND "), "transcripts t"
	if where.UsesTable(conds, "c") || where.UsesTable(conds, "r") {
		from = "runs r JOIN conversations c ON c.run = r.id JOIN transcripts t ON t.conversation = c.id"
	}
	query = "SELECT t.id, t.rows, t.first_row, t.last_row, t.verdict NOT IN (0, 6) FROM " + from + " WHERE t.indexed <> 0 AND " + conds +
		" AND t.last_row >= " + strconv.FormatInt(c.From, 10) + before
	args = append(slices.Clone(c.OwnerArgs), c.HintArgs...)
	return query, args, fmt.Sprintf("%s %#v %d %t", query, args, p.maxOwnedRows, c.RangeSQL == "")
}

// rowIDs returns the ids of the rows of transcripts.
func (p *planner) rowIDs(owners []ownerRange, c where.Cond) ([]int64, error) {
	to := c.To
	if to == 0 {
		to = math.MaxInt64
	}
	list := make([]int64, len(owners))
	for i, o := range owners {
		list[i] = o.id
	}
	key := fmt.Sprint(c.RangeSQL, c.RangeArgs, list, c.From, to)
	if ids, known := p.tx.rows[key]; known {
		return slices.Clone(ids), nil
	}
	ids, err := p.queryRows(asList(list), c, to)
	if err == nil && p.tx.reserve(len(ids)) {
		p.tx.rows[key] = slices.Clone(ids)
	}
	return ids, err
}

func (p *planner) queryRows(owners string, c where.Cond, to int64) ([]int64, error) {
	if c.RangeSQL != "" {
		return p.queryRanged(owners, c, to)
	}
	var text string // as one value: a result row for each id would cost more than everything else
	if err := p.tx.GetContext(p.ctx, &text, `SELECT json_group_array(e.id) FROM json_each(?) j CROSS JOIN events e INDEXED BY events_place ON e.transcript = j.value
		WHERE e.id >= ? AND e.id < ?`, owners, c.From, to); err != nil {
		return nil, err
	}
	return fromList(text)
}

// fromList decodes numbers that asList or SQLite has encoded.
func fromList(text string) (ids []int64, err error) {
	for n := range strings.SplitSeq(strings.Trim(text, "[]"), ",") {
		if n == "" {
			continue
		}
		id, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
