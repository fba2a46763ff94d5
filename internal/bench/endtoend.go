package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	_ "modernc.org/sqlite" // for dbstat: the pages of each table
)

// ingest measures the first load, compared with tar and gzip of the same tree.
func (b *bench) ingest(ctx context.Context) error {
	measurements := []func() (cost, error){b.load(ctx)}
	beside := b.has("gzip", "ingest beside tar | gzip -6") && b.has("tar", "ingest beside tar | gzip -6")
	if beside {
		measurements = append(measurements, func() (cost, error) {
			return timed(ctx, "sh", "-c", `tar -C "$0" -c . | gzip -6 > /dev/null`, b.corpus)
		})
	}
	ofHundred := len(measurements)
	if b.hundred != nil { // before and after the large one
		measurements = append(measurements, b.hundred.load(ctx), b.hundred.load(ctx))
		measurements[0], measurements[ofHundred] = measurements[ofHundred], measurements[0]
	}
	got, err := b.interleaved(b.runs, measurements...)
	if err != nil {
		return err
	}
	if b.hundred != nil {
		got[0], got[ofHundred] = got[ofHundred], got[0]
	}
	ours := got[0]
	var totals struct {
		Totals struct{ Events, Files float64 }
	}
	if err := b.ask(ctx, &totals, "stats", "--json"); err != nil {
		return err
	}
	events, files := totals.Totals.Events, totals.Totals.Files
	b.set("raw", "MB", b.raw/1e6)
	b.set("events", "count", events)
	b.set("files", "count", files)
	b.set("CPU", "s", each(ours, cpu)...)
	b.set("wall", "s", each(ours, wall)...)
	b.set("CPU per raw MB", "ms", each(ours, func(c cost) float64 { return cpu(c) * 1e9 / b.raw })...)
	b.set("CPU per event", "us", each(ours, func(c cost) float64 { return cpu(c) * 1e6 / events })...)
	b.set("CPU per file", "us", each(ours, func(c cost) float64 { return cpu(c) * 1e6 / files })...)
	b.set("raw bytes", "MB/s", each(ours, func(c cost) float64 { return b.raw / 1e6 / wall(c) })...)
	b.set("events a second", "/s", each(ours, func(c cost) float64 { return events / wall(c) })...)
	b.set("peak memory", "MiB", each(ours, func(c cost) float64 { return float64(c.peak) / (1 << 20) })...)
	b.set("bytes written / raw", "", each(ours, func(c cost) float64 { return float64(c.written) / b.raw })...)
	if beside {
		b.set("tar | gzip -6, CPU", "s", each(got[1], cpu)...)
		b.set("tar | gzip -6, wall", "s", each(got[1], wall)...)
		b.set("CPU / tar | gzip -6", "", ratios(ours, got[1], cpu)...)
		b.set("wall / tar | gzip -6", "", ratios(ours, got[1], wall)...)
	}
	if b.hundred == nil {
		return nil
	}
	if err := b.hundred.ask(ctx, &totals, "stats", "--json"); err != nil {
		return err
	}
	perByte, perEvent := b.hundred.raw/b.raw, totals.Totals.Events/events
	both := ratios(ours, means(got[ofHundred], got[ofHundred+1]), cpu)
	b.set("CPU per raw MB / that of 100 MiB", "", scaled(both, perByte)...)
	b.set("CPU per event / that of 100 MiB", "", scaled(both, perEvent)...)
	return nil
}

// load returns a measurement of the first load of the corpus.
func (b *bench) load(ctx context.Context) func() (cost, error) {
	return func() (cost, error) {
		if err := os.RemoveAll(b.archive); err != nil {
			return cost{}, err
		}
		return b.tx(ctx, "ingest", "--quiet", b.corpus)
	}
}

// ask runs the program and decodes its JSON output.
func (b *bench) ask(ctx context.Context, to any, args ...string) error {
	out, err := exec.CommandContext(ctx, b.binary, append([]string{"--archive", b.archive}, args...)...).Output()
	if err != nil {
		return fmt.Errorf("%v: %w", args, err)
	}
	return json.Unmarshal(out, to)
}

// sizes measures packs and index, the latter table by table, each including its indexes.
func (b *bench) sizes(ctx context.Context) error {
	packs := float64(treeSize(filepath.Join(b.archive, "packs")))
	b.set("packs / raw", "", packs/b.raw)
	if b.has("zstd", "packs beside tar | zstd -3") {
		out, err := exec.CommandContext(ctx, "sh", "-c", `tar -C "$0" -c . | zstd -q -3 | wc -c`, b.corpus).Output()
		if err != nil {
			return fmt.Errorf("tar | zstd: %w", err)
		}
		var size float64
		if _, err := fmt.Sscan(string(out), &size); err != nil {
			return err
		}
		b.set("packs / tar | zstd -3", "", packs/size)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.archive, "index.db")+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT coalesce(m.tbl_name, s.name), sum(s.pgsize) FROM dbstat('main', 1) s LEFT JOIN sqlite_schema m ON m.name = s.name
		GROUP BY 1 ORDER BY 2 DESC`)
	if err != nil {
		return err
	}
	defer rows.Close()
	type table struct {
		name string
		size float64
	}
	var tables []table
	index, small := 0.0, 0.0
	for rows.Next() {
		var t table
		if err := rows.Scan(&t.name, &t.size); err != nil {
			return err
		}
		if index += t.size; t.size < b.raw/500 {
			small += t.size
			continue
		}
		tables = append(tables, t)
	}
	b.set("index / raw", "", index/b.raw)
	b.set("packs and index / raw", "", (packs+index)/b.raw)
	b.set("packs", "MB", packs/1e6)
	for _, t := range tables {
		b.set("index: "+t.name, "MB", t.size/1e6)
	}
	b.set("index: all smaller tables", "MB", small/1e6)
	return rows.Err()
}

// questions measures whole processes that answer the first page of a query.
func (b *bench) questions(ctx context.Context) error {
	questions := []struct {
		name string
		args []string
	}{
		{"version", []string{"version"}},
		{"search, common word, newest 20", []string{"search", "return"}},
		{"search, word and tool, newest 20", []string{"search", "return tool:bash"}},
		{"search, phrase, newest 20", []string{"search", `"if err != nil"`}},
		{"cost by day and model", []string{"cost", "--by", "day,model"}},
		{"list", []string{"list"}},
		{"stats", []string{"stats"}},
	}
	var measurements []func() (cost, error)
	for _, q := range questions {
		measurements = append(measurements, func() (cost, error) { return b.tx(ctx, q.args...) })
	}
	peers := b.peers()
	for _, p := range peers {
		measurements = append(measurements, func() (cost, error) { return timed(ctx, p.command[0], p.command[1:]...) })
	}
	got, err := b.interleaved(3*b.runs, measurements...)
	if err != nil {
		return err
	}
	at := map[string][]cost{}
	for i, q := range questions {
		at[q.name] = got[i]
		b.set(q.name, "ms", each(got[i], func(c cost) float64 { return wall(c) * 1000 })...)
		b.set(q.name+", CPU", "ms", each(got[i], func(c cost) float64 { return cpu(c) * 1000 })...)
	}
	for i, p := range peers {
		b.set(p.name, "", ratios(at[p.beside], got[len(questions)+i], wall)...)
	}
	return nil
}

// peer is another tool that answers a question from the raw files.
type peer struct {
	name    string // name of the ratio to it
	beside  string // the question to which it is compared
	command []string
}

func (b *bench) peers() []peer {
	var found []peer
	if b.has("rg", "search beside rg -c on the raw files") {
		found = append(found, peer{"search, common word / rg -c", "search, common word, newest 20", []string{"rg", "-c", "--hidden", "--no-ignore", "return", b.corpus}})
	}
	if b.format == "claude" && b.has("duckdb", "cost beside DuckDB on the raw files") {
		found = append(found, peer{"cost by day and model / DuckDB", "cost by day and model", []string{"duckdb", "-c", fmt.Sprintf(costInDuckDB, b.corpus)}})
	}
	return found
}

// costInDuckDB counts tokens as the index does: each answer of the provider once, however many lines repeat it. The
// types are stated so that DuckDB need not infer them from all lines first.
const costInDuckDB = `SELECT day, model, sum(u.input_tokens), sum(u.output_tokens), sum(u.cache_read_input_tokens), sum(u.cache_creation_input_tokens)
FROM (SELECT DISTINCT message.id, requestId, timestamp[1:10] AS day, message.model AS model, message.usage AS u
	FROM read_ndjson('%s/**/*.jsonl', ignore_errors = true, columns = {timestamp: 'VARCHAR', requestId: 'VARCHAR', message: 'STRUCT(id VARCHAR, model VARCHAR,
		"usage" STRUCT(input_tokens BIGINT, output_tokens BIGINT, cache_read_input_tokens BIGINT, cache_creation_input_tokens BIGINT))'})
	WHERE message.usage IS NOT NULL)
GROUP BY 1, 2`
