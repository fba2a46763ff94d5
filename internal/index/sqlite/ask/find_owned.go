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

// holder is a transcript, with bounds of the ids of its rows.
type holder struct{ id, rows, first, last int64 }

// owned is the transcripts that a condition is about, those with the newest rows first; dense says that they have too many
// rows for a list.
type owned struct {
	holders []holder
	dense   bool
}

func (p *planner) owned(c where.Cond) (o owned, err error) {
	query, args, key := p.ownersOf(c)
	if o, known := p.tx.owned[key]; known {
		return o, nil
	}
	total := int64(0)
	scan := func(rows *sqlx.Rows) (h holder, err error) { return h, rows.Scan(&h.id, &h.rows, &h.first, &h.last) }
	err = engine.Each(p.ctx, p.tx, query, args, scan, func(h holder) bool {
		o.holders = append(o.holders, h)
		total += h.rows
		return total <= p.mostOwned
	})
	if err != nil {
		return o, err
	}
	if o.dense = total > p.mostOwned; o.dense {
		o.holders = nil
	}
	slices.SortFunc(o.holders, func(a, b holder) int { return cmp.Compare(b.last, a.last) })
	if p.tx.keeps(len(o.holders)) {
		p.tx.owned[key] = o
	}
	return o, nil
}

// remembered says whether it is known what owned would find.
func (p *planner) remembered(c where.Cond) bool {
	_, _, key := p.ownersOf(c)
	_, known := p.tx.owned[key]
	return known
}

// ownersOf is the question for owners, and under what its answer is remembered.
func (p *planner) ownersOf(c where.Cond) (query string, args []any, key string) {
	seen := ""
	if !p.all {
		seen = " AND t.verdict IN (0, 6)"
	}
	if c.To > 0 {
		seen += " AND t.first_row < " + strconv.FormatInt(c.To, 10)
	}
	query = `SELECT t.id, t.rows, t.first_row, t.last_row FROM runs r JOIN conversations c ON c.run = r.id JOIN transcripts t ON t.conversation = c.id
		WHERE t.indexed <> 0 AND ` + where.Balanced(append(slices.Clone(c.Own), c.Hint...), " AND ") + " AND t.last_row >= " + strconv.FormatInt(c.From, 10) + seen
	args = append(slices.Clone(c.Owned), c.Hinted...)
	return query, args, fmt.Sprintf("%s %#v %d", query, args, p.mostOwned)
}

// rowIDs are the ids of the rows of transcripts.
func (p *planner) rowIDs(owners []holder, c where.Cond) ([]int64, error) {
	to := c.To
	if to == 0 {
		to = math.MaxInt64
	}
	list := make([]int64, len(owners))
	for i, o := range owners {
		list[i] = o.id
	}
	args := []any{asList(list), c.From, to}
	key := fmt.Sprint(args...)
	if ids, known := p.tx.rows[key]; known {
		return slices.Clone(ids), nil
	}
	var text string // one value: a row for each would cost more than all of the rest
	if err := p.tx.GetContext(p.ctx, &text, `SELECT json_group_array(e.id) FROM json_each(?) j CROSS JOIN events e INDEXED BY events_place
		ON e.transcript = j.value WHERE e.id >= ? AND e.id < ?`, args...); err != nil {
		return nil, err
	}
	ids, err := fromList(text)
	if err == nil && p.tx.keeps(len(ids)) {
		p.tx.rows[key] = slices.Clone(ids)
	}
	return ids, err
}

// fromList reads numbers that asList has written, or SQLite.
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
