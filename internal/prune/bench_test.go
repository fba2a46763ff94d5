//go:build unix

package prune

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/policy"
)

// manyRuns fills an index with n runs: some originals and a transcript each, in packs of a thousand.
func manyRuns(b testing.TB, n, originals int) string {
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
	db.SetMaxOpenConns(1) // temporary tables are its own
	for _, statement := range []string{
		"CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT i FROM n",
		"CREATE TEMP TABLE v AS SELECT ?1 * n.i + k.i - 1 AS id, n.i AS run, k.i - 1 AS k FROM n JOIN n k ON k.i <= ?1",
		"INSERT INTO names (id, name) VALUES (1, 'claude-code'), (2, 'session')", "INSERT INTO sources VALUES (1, 'src')",
		"INSERT INTO files (id, source, path) SELECT id, 1, 'projects/p' || (run % 50) || '/run-' || run || '/file-' || k || '.jsonl' FROM v",
		"INSERT INTO chains (id, root, size, sha256) SELECT id, randomblob(32), 20000, randomblob(32) FROM v",
		`INSERT INTO versions (id, file, number, chain, size, sha256, mtime, mode, format, role, root_dir, parser, parsed)
			SELECT id, id, 1, id, 20000, (SELECT sha256 FROM chains c WHERE c.id = v.id), 0, 420, 1, 2, '.', 1, 20000 FROM v`,
		`INSERT INTO packs (id, name, size, created, writer) SELECT DISTINCT id / 1000, 'p' || (id / 1000), 4000000, 0, 'w' FROM v`,
		`INSERT INTO members (pack, raw, raw_size, offset, size) SELECT id / 1000, id % 1000 / 10 * 205200, 205200, id % 1000 / 10 * 40000, 40000 FROM v GROUP BY 1, 2`,
		`INSERT INTO extents (chain, offset, size, pack, raw, sha256) SELECT id, 0, 20000, id / 1000, id % 1000 * 20520 + 512, randomblob(32) FROM v`,
		`INSERT INTO runs (id, run_id, format, anchor, native_id, counted, project, "group", title, status, outcome, started, ended, model)
			SELECT i, printf('r%012d', i), 1, '', 'run-' || i, 1, 'p' || (i % 50), 'thread-' || (i % 500), 'Mend the tests of part ' || i, 'completed', 'succeeded',
			1700000000000000 + i * 600000000, 1700000300000000 + i * 600000000, 'claude-sonnet-4' FROM n`,
		"INSERT INTO run_names (id, format, native_id, scope, run) SELECT i, 1, 'run-' || i, '', i FROM n",
		`INSERT INTO run_claims (run_name, version, rank, stated, named) SELECT run, id, 0, '{"ID":"run-' || run || '"}', 0 FROM v`,
		`INSERT INTO transcripts (version, run_name, native_id, verdict, indexed, shared, aside, ord, rank, stated, last_time)
			SELECT id, run, '', 0, 1, 0, 0, '', 0, '{}', 1700000300000000 + run * 600000000 FROM v WHERE k = 0`,
		`INSERT INTO links (version, edge, kind, from_type, from_scope, from_id, from_conversation, to_type, to_scope, to_id, to_conversation, format, statement,
			uncounted, line, offset, length) SELECT id, id, 'parent', 'run', '', 'run-' || (run / 4), '', 'run', '', 'run-' || run, '', 1, 1, 0, 1, 0, 1 FROM v WHERE k = 0 AND run % 4 > 0`,
		"INSERT INTO facts (kind, key, time, pack, value) SELECT 'tag', printf('r%012d', i) || '/golden', 0, 'p1', '{}' FROM n WHERE i % 100 = 0",
		"INSERT INTO facts (kind, key, time, pack, value) SELECT 'pin', printf('r%012d', i), 0, 'p1', '{}' FROM n WHERE i % 1000 = 0",
	} {
		args := []any{}
		switch {
		case strings.HasPrefix(statement, "CREATE TEMP TABLE n"):
			args = append(args, n)
		case strings.HasPrefix(statement, "CREATE TEMP TABLE v"):
			args = append(args, originals)
		}
		if _, err := db.Exec(statement, args...); err != nil {
			b.Fatal(statement, err)
		}
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

const benchPolicy = `
version: 1
rules:
  - name: golden
    match: {tag: golden}
    action: keep
  - name: threads
    match: {project: [p1, p2, p3]}
    per: thread
    keep_last: 50
    action: prune
  - name: rest
    max_age: 300d
    max_bytes: 20GB
    action: prune
`

// BenchmarkPlan makes plans for a hundred thousand runs, most of which are removed.
func BenchmarkPlan(b *testing.B) {
	p, err := policy.Parse([]byte(benchPolicy))
	if err != nil {
		b.Fatal(err)
	}
	for _, originals := range []int{1, 3} {
		b.Run(fmt.Sprintf("%d originals each", originals), func(b *testing.B) {
			path := manyRuns(b, 100_000, originals)
			for b.Loop() {
				benchPlan(b, path, p)
			}
		})
	}
}

func benchPlan(b *testing.B, path string, p *policy.Policy) {
	x, err := sqlite.Open(b.Context(), path, sqlite.Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	before := cpuTime()
	pruner := &Pruner{Index: x, Now: func() time.Time { return time.UnixMicro(1700000000000000 + 100_000*600000000) }}
	plan, err := pruner.Make(b.Context(), Choice{Policy: p, By: "policy", AllowEmpty: true})
	if err != nil {
		b.Fatal(err)
	}
	defer plan.Close()
	if plan.Runs.Len() < 10_000 || plan.Kept < 10_000 {
		b.Fatalf("%d go, %d are kept", plan.Runs.Len(), plan.Kept)
	}
	b.ReportMetric(float64(plan.Runs.Len()), "runs")
	b.ReportMetric((cpuTime() - before).Seconds(), "cpu-s")
}

// cpuTime returns the CPU time of this process on all cores.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
