package retention

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// tree is the B-tree of a table or an index, and what changes in it.
type tree struct {
	name, table        string
	partial            bool // not all rows of the table are in it
	pages, leaves      float64
	interior, long     float64 // interior pages; overflow pages
	cells, bytes       float64 // in leaves
	newCells, newBytes float64 // added, less removed
}

const (
	// treesQuery lists all B-trees but those of the full-text index, which are most of the file and whose pages are full.
	treesQuery = `SELECT name, tbl_name, type = 'index' AND coalesce(sql, '') LIKE '% WHERE %' FROM sqlite_schema
		WHERE rootpage > 0 AND name NOT IN ('fts_data', 'terms')`
	// pagesQuery measures one tree. A query for all of them would sort their pages by tree, in memory.
	pagesQuery = `SELECT count(*), coalesce(sum(pagetype = 'leaf'), 0), coalesce(sum(pagetype = 'internal'), 0), coalesce(sum(pagetype = 'overflow'), 0),
		coalesce(sum(CASE pagetype WHEN 'leaf' THEN ncell ELSE 0 END), 0), coalesce(sum(CASE pagetype WHEN 'leaf' THEN pgsize - 8 - unused ELSE 0 END), 0)
		FROM dbstat WHERE name = ?`
)

func readTrees(ctx context.Context, tx *sqlx.Tx) ([]*tree, error) {
	var all []*tree
	if err := engine.Each(ctx, tx, treesQuery, nil, func(r *sqlx.Rows) (*tree, error) {
		t := &tree{}
		return t, r.Scan(&t.name, &t.table, &t.partial)
	}, func(t *tree) bool { all = append(all, t); return true }); err != nil {
		return nil, err
	}
	for _, t := range all {
		if err := tx.QueryRowxContext(ctx, pagesQuery, t.name).Scan(&t.pages, &t.leaves, &t.interior, &t.long, &t.cells, &t.bytes); err != nil {
			return nil, err
		}
	}
	return all, nil
}

const leafSpace = 4096 - 8 // of a page, for cells

// after returns the number of pages of the tree once it is rewritten. Each leaf is filled until the next cell does not fit,
// which on average leaves half a cell free. Added rows are short.
func (t *tree) after() float64 {
	cells, bytes := t.cells+t.newCells, t.bytes+t.newBytes
	if cells < 1 || bytes < 1 {
		return 1
	}
	cell := bytes / cells
	full := leafSpace - cell/2
	if cell > leafSpace/2 {
		full = cell
	}
	leaves := math.Ceil(bytes / full)
	if leaves <= 1 {
		return 1
	}
	return leaves + max(1, math.Round(t.interior*leaves/max(t.leaves, 1))) + math.Round(t.long*min(1, bytes/max(t.bytes, 1)))
}

// cellBytes returns an SQL expression of the bytes that a row x of a table takes in its tree.
func cellBytes(ctx context.Context, tx *sqlx.Tx, table, x string, rowid int) (string, error) {
	type column struct {
		Name, Type string
		PK         int
	}
	var columns []column
	if err := tx.SelectContext(ctx, &columns, "SELECT name, type, pk FROM pragma_table_info(?)", table); err != nil {
		return "", err
	}
	const ends = 2 + 2 // its place on the page, and its length
	sizes := []string{fmt.Sprint(ends + rowid + 1 + len(columns))}
	for _, c := range columns {
		name := x + `."` + c.Name + `"`
		switch {
		case c.Type != "INTEGER":
			sizes = append(sizes, "coalesce(octet_length("+name+"), 0)")
		case c.PK == 0:
			sizes = append(sizes, "CASE WHEN "+name+" BETWEEN -128 AND 127 THEN "+name+" NOT IN (0, 1) WHEN "+name+" BETWEEN -32768 AND 32767 THEN 2 WHEN "+
				name+" BETWEEN -8388608 AND 8388607 THEN 3 WHEN "+name+" BETWEEN -2147483648 AND 2147483647 THEN 4 WHEN "+
				name+" BETWEEN -140737488355328 AND 140737488355327 THEN 6 WHEN "+name+" IS NULL THEN 0 ELSE 8 END")
		}
	}
	return strings.Join(sizes, " + "), nil
}
