package cost_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
)

// million fills an index with a million requests over a year, at all hours, of six models: usage_days has as many
// rows as it ever gets for that. A conversation has fifty of them and a run, which begins every nine hours, a
// thousand.
const million = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
	INSERT INTO usage (id, usage_id, version, run_name, native_conversation, stated_verdict, verdict, rank, time, tz, texts,
		input, output, cache_read, cache_write, estimated, calculated, line, offset, length)
	SELECT i, printf('u%012x', i), 1, 1 + i / 1001, i / 50, 0, 0, 0, 1764547200000000 + i * 31536000, 0, 1 + i * 7919 % 6,
		i % 10, i % 5000, i % 100000, i % 4000, 0, i * 7919 % 1000000000, i, i * 1000, 400 FROM n`

const texts = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
	INSERT INTO usage_texts (id, hash, model, price_model, price_table) SELECT 1 + i, i, 'model-' || i, 'model', '2026-08-01' FROM n`

const conversations = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
	INSERT INTO conversations (conversation_id, run, native_id, verdict, agent, flow, step)
	SELECT DISTINCT 'c' || i || '-' || (1 + x / 1001), 1 + x / 1001, i, 0, 'agent-' || (i % 7), 'flow-' || (i % 5), 'step-' || (i % 30)
	FROM (SELECT i, i * 50 AS x FROM n UNION SELECT i, min(i * 50 + 49, 1000000) FROM n)`

func fillMillion(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "index.db")
	x, err := sqlite.Open(b.Context(), path, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	for _, statement := range []string{
		"INSERT INTO names VALUES (1, 'claude-code')", "INSERT INTO sources VALUES (1, 'src')", "INSERT INTO files VALUES (1, 1, 'f')",
		"INSERT INTO versions VALUES (1, 1, 1, 1, 1, x'', 0, 0, 1, 1, '', 1, 1, NULL)",
		`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO runs (id, run_id, format, anchor, native_id, counted, project)
			SELECT i, 'r' || i, 1, '', i, 1, 'p' || i % 20 FROM n`,
		"INSERT INTO run_names SELECT id, 1, native_id, '', id FROM runs", conversations, texts, million,
		"INSERT INTO usage_touched SELECT DISTINCT run_name FROM usage", "PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if _, err := db.Exec(statement); err != nil {
			b.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	if x, err = sqlite.Open(b.Context(), path, sqlite.Options{}); err != nil {
		b.Fatal(err)
	}
	before := time.Now()
	if err := x.Commit(b.Context(), index.Batch{}); err != nil { // makes the sums
		b.Fatal(err)
	}
	b.Logf("filled in %v, sums made in %v", before.Sub(start), time.Since(before))
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkMillion asks for reports of a million requests: cold is with opening the index.
func BenchmarkMillion(b *testing.B) {
	path := fillMillion(b)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	report := func(o cost.Options) func(*testing.B) {
		return func(b *testing.B) {
			x, err := sqlite.Open(b.Context(), path, sqlite.Options{ReadOnly: true})
			if err != nil {
				b.Fatal(err)
			}
			defer x.Close()
			for b.Loop() {
				r, err := cost.Run(context.Background(), x, o)
				if err != nil || r.Totals.Requests < 1000 {
					b.Fatal(err, r)
				}
			}
		}
	}
	b.Run("cold", func(b *testing.B) { // open, ask, close
		for b.Loop() {
			x, err := sqlite.Open(b.Context(), path, sqlite.Options{ReadOnly: true})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := cost.Run(b.Context(), x, cost.Options{By: []string{"month", "model"}, Location: berlin}); err != nil {
				b.Fatal(err)
			}
			x.Close()
		}
	})
	week := time.Date(2026, 11, 10, 10, 7, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		o    cost.Options
	}{
		{"day,model", cost.Options{By: []string{"day", "model"}, Location: berlin}},
		{"day,model/UTC", cost.Options{By: []string{"day", "model"}}},
		{"total", cost.Options{}},
		{"month/since", cost.Options{By: []string{"day", "model"}, Location: berlin, Since: week}},
		{"project", cost.Options{By: []string{"project"}}},
		{"run", cost.Options{By: []string{"run"}}},
		{"conversation", cost.Options{By: []string{"conversation"}}},
		{"flow,step", cost.Options{By: []string{"flow", "step"}}},
		{"status", cost.Options{By: []string{"status"}}},
		{"source", cost.Options{By: []string{"source"}}},
		{"day,agent", cost.Options{By: []string{"day", "agent"}, Location: berlin}},
		{"month,project/since", cost.Options{By: []string{"month", "project"}, Location: berlin, Since: week}},
	} {
		b.Run(fmt.Sprint(c.name), report(c.o))
	}
}
