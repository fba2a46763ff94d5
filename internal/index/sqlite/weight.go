package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
)

// Volumes gives the members of packs, in order, and the size of what else they have.
func (db *DB) Volumes(ctx context.Context, packs []int64) (map[int64]index.Volume, error) {
	ids, err := json.Marshal(packs)
	if err != nil {
		return nil, err
	}
	type row struct {
		pack, size int64
		name       string
		blob.Member
	}
	all := map[int64]index.Volume{}
	err = each(ctx, db.r, `SELECT m.pack, p.size, p.name, m.raw, m.raw_size, m.offset, m.size FROM json_each(?) j CROSS JOIN packs p ON p.id = j.value
		CROSS JOIN members m ON m.pack = p.id ORDER BY m.pack, m.raw`,
		[]any{string(ids)}, func(rows *sqlx.Rows) (x row, err error) {
			return x, rows.Scan(&x.pack, &x.size, &x.name, &x.Raw, &x.RawSize, &x.Offset, &x.Size)
		}, func(x row) bool {
			v := all[x.pack]
			if v.Members == nil {
				v.Name, v.Manifest = x.name, x.size
			}
			v.Members, v.Manifest = append(v.Members, x.Member), v.Manifest-x.Size
			all[x.pack] = v
			return true
		})
	if err != nil {
		return nil, fmt.Errorf("read members: %w", damage(err))
	}
	return all, nil
}

// What rows take, in bytes, beside the text in them: measured with dbstat over all formats.
const (
	eventBytes      = 90 // with its places in indexes
	callBytes       = 140
	usageBytes      = 100 // more than what a ledger keeps
	ledgerBytes     = 300
	transcriptBytes = 700 // with its conversation
	facetText       = 120 // a row takes as much of the full-text index as so much text: facets, and its place in each list
)

// The densities of a format are those of so many transcripts, and runs with few rows are looked at one by one.
const (
	weighedTranscripts = 2000
	weighedRows        = 50_000
)

// density is what a format has for each of its rows.
type density struct{ rows, text, attributes, usage, stated float64 }

func (d density) plus(x density) density {
	return density{d.rows + x.rows, d.text + x.text, d.attributes + x.attributes, d.usage + x.usage, d.stated + x.stated}
}

// of is what so many rows have: text with facets, text in other columns, and usage.
func (d density) of(rows int64) (text, other, usage float64) {
	n := float64(rows) / max(d.rows, 1)
	return n*d.text + facetText*float64(rows), n * (d.attributes + d.stated), n * d.usage
}

// Weights shares the full-text index out by text, and estimates tables by the number and the length of their rows.
func (db *DB) Weights(ctx context.Context, e *index.Estate, runs []int) ([]index.Weight, error) {
	words, err := db.wordBytes(ctx)
	if err != nil {
		return nil, fmt.Errorf("weigh index: %w", damage(err))
	}
	formats, err := db.densities(ctx)
	if err != nil {
		return nil, fmt.Errorf("weigh rows: %w", damage(err))
	}
	whole := 0.0
	for i := range e.Runs {
		if r := &e.Runs[i]; r.Thinned == "" {
			text, _, _ := formats[r.Format].of(r.Rows)
			whole += text
		}
	}
	exact, err := db.exactly(ctx, e, runs)
	if err != nil {
		return nil, fmt.Errorf("weigh runs: %w", damage(err))
	}
	all := make([]index.Weight, len(runs))
	for i, run := range runs {
		r := &e.Runs[run]
		text, other, usage := formats[r.Format].of(r.Rows)
		if exact != nil {
			x := exact[r.ID]
			text, other, usage = x.text+facetText*float64(r.Rows), x.attributes+x.stated, x.usage
		}
		if r.Thinned == "" && whole > 0 {
			all[i].Words = int64(words * text / whole)
		}
		all[i].Rows = r.Rows*eventBytes + r.Calls*callBytes + r.Transcripts*transcriptBytes + int64(other+usage*usageBytes)
		all[i].Ledger = int64(usage * ledgerBytes)
	}
	return all, nil
}

// loose is which part of an index that grew row by row is room between rows.
const loose = 0.006

// Slack is how much the next Purge gives back of what nobody has: free pages, and room between rows that came since the
// file was last written anew.
func (db *DB) Slack(ctx context.Context) (int64, error) {
	var pages, free, page int64
	for pragma, n := range map[string]*int64{"page_count": &pages, "freelist_count": &free, "page_size": &page} {
		if err := db.r.GetContext(ctx, n, "PRAGMA "+pragma); err != nil {
			return 0, fmt.Errorf("weigh index: %w", damage(err))
		}
	}
	was, err := db.Recall(ctx, vacuumedKey)
	if err != nil {
		return 0, fmt.Errorf("weigh index: %w", damage(err))
	}
	written, _ := strconv.ParseInt(was, 10, 64) // 0 when it never was
	return page * (free + int64(loose*float64(max(0, pages-free-written)))), nil
}

// wordBytes is how much the full-text index takes, and the list of its words.
func (db *DB) wordBytes(ctx context.Context) (float64, error) {
	var block []byte
	if err := db.r.GetContext(ctx, &block, "SELECT block FROM fts_data WHERE id = ?", fts5.StructureID); err != nil {
		return 0, err
	}
	s, err := fts5.DecodeStructure(block)
	if err != nil {
		return 0, err
	}
	var page, terms int64
	if err := db.r.GetContext(ctx, &page, "PRAGMA page_size"); err != nil {
		return 0, err
	}
	if err := db.r.GetContext(ctx, &terms, "SELECT coalesce(sum(length(words)), 0) FROM terms"); err != nil {
		return 0, err
	}
	for _, g := range s.All() {
		terms += int64(g.Pages()) * page
	}
	return float64(terms), nil
}

// densities looks at transcripts of all ages.
func (db *DB) densities(ctx context.Context) (map[string]density, error) {
	var last int64
	if err := db.r.GetContext(ctx, &last, "SELECT coalesce(max(id), 0) FROM transcripts"); err != nil {
		return nil, err
	}
	const sample = `WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + ?2 FROM ids WHERE id + ?2 <= ?1),
		sample (id, version, format) AS MATERIALIZED (SELECT t.id, t.version, (SELECT name FROM names WHERE id = v.format)
			FROM ids CROSS JOIN transcripts t ON t.id = ids.id AND t.indexed = 1 CROSS JOIN versions v ON v.id = t.version) `
	all := map[string]density{}
	add := func(x weighed) bool {
		all[x.name] = all[x.name].plus(x.d)
		return true
	}
	args := []any{last, max(1, last/weighedTranscripts)}
	if err := each(ctx, db.r, sample+`SELECT s.format, count(*), sum(e.text_bytes), coalesce(sum(length(e.attributes)), 0), 0, 0
		FROM sample s CROSS JOIN events e ON e.transcript = s.id GROUP BY 1`, args, scanWeighed, add); err != nil {
		return nil, err
	}
	return all, each(ctx, db.r, sample+`SELECT s.format, 0, 0, 0, count(*), coalesce(sum(length(u.stated)), 0)
		FROM (SELECT DISTINCT version, format FROM sample) s CROSS JOIN usage u ON u.version = s.version GROUP BY 1`, args, scanWeighed, add)
}

type weighed struct {
	name string
	d    density
}

func scanWeighed(r *sqlx.Rows) (x weighed, err error) {
	return x, r.Scan(str(&x.name), &x.d.rows, &x.d.text, &x.d.attributes, &x.d.usage, &x.d.stated)
}

// exactly looks at the rows of runs themselves, when these are few.
func (db *DB) exactly(ctx context.Context, e *index.Estate, runs []int) (map[string]density, error) {
	rows := int64(0)
	names := make([]string, len(runs))
	for i, run := range runs {
		rows += e.Runs[run].Rows
		names[i] = e.Runs[run].ID
	}
	if rows > weighedRows || len(runs) > weighedTranscripts {
		return nil, nil
	}
	ids, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	all := map[string]density{}
	add := func(x weighed) bool {
		all[x.name] = all[x.name].plus(x.d)
		return true
	}
	const named = `json_each(?) j CROSS JOIN runs r ON r.run_id = j.value CROSS JOIN run_names n ON n.run = r.id `
	if err := each(ctx, db.r, `SELECT r.run_id, count(*), sum(e.text_bytes), coalesce(sum(length(e.attributes)), 0), 0, 0 FROM `+named+`
		CROSS JOIN transcripts t ON t.run_name = n.id AND t.indexed = 1 CROSS JOIN events e ON e.transcript = t.id GROUP BY 1`, []any{string(ids)}, scanWeighed, add); err != nil {
		return nil, err
	}
	return all, each(ctx, db.r, `SELECT r.run_id, 0, 0, 0, count(*), coalesce(sum(length(u.stated)), 0) FROM `+named+`CROSS JOIN usage u ON u.run_name = n.id GROUP BY 1`,
		[]any{string(ids)}, scanWeighed, add)
}
