package sqlite

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/console"
)

// views are the views with the number of columns that make their keys.
var views = map[string]int{"v_runs": 1, "v_conversations": 1, "v_steps": 5, "v_events": 1, "v_tool_calls": 1, "v_usage": 6,
	"v_receipts": 7, "v_links": 1, "v_files": 3, "v_problems": 1, "v_cost_daily": 7, "v_pruned": 5}

// smallDB is an index of the small world, each original in a pack of its own.
func smallDB(t *testing.T, order func([]indextest.Original)) *DB {
	t.Helper()
	db := newDB(t)
	db.console = console.New(db.dsn, func(_ context.Context, kind, id string) (string, error) { return kind + " of " + id, nil })
	world := indextest.Small()
	order(world)
	for _, o := range world {
		if err := db.Commit(t.Context(), indextest.Batch("pack of "+o.Path+fmt.Sprint(o.Number), o)); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// pruned is smallDB with a run that was pruned.
func pruned(t *testing.T) *DB {
	t.Helper()
	db := smallDB(t, asIs)
	if _, err := db.w.Exec(`INSERT INTO graves (version, run_name, fact, until, action, tier, over, plan, rule, reason, time)
		SELECT version, run_name, 'x', 0, 'prune', '', 0, 'p', 'old', '40 days old', 1 FROM run_claims LIMIT 1`); err != nil {
		t.Fatal(err)
	}
	return db
}

func asIs([]indextest.Original) {}

func columnsOf(t *testing.T, db *DB, view string) (names []string) {
	t.Helper()
	if err := db.r.Select(&names, "SELECT name FROM pragma_table_info(?)", view); err != nil {
		t.Fatal(err)
	}
	return names
}

func TestViewKeys(t *testing.T) {
	db := pruned(t)
	for view, n := range views {
		key := strings.Join(columnsOf(t, db, view)[:n], ", ")
		var rows, keys int
		if err := db.r.QueryRow("SELECT count(*), (SELECT count(*) FROM (SELECT DISTINCT "+key+" FROM "+view+")) FROM "+view).Scan(&rows, &keys); err != nil {
			t.Fatal(view, err)
		}
		if rows == 0 || rows != keys {
			t.Errorf("%s has %d rows and %d keys", view, rows, keys)
		}
	}
}

// dumpViews prints every row of every view.
func dumpViews(t *testing.T, db *DB) []string {
	t.Helper()
	var lines []string
	for view := range views {
		_, rows, err := asked(t.Context(), db, index.Question{SQL: "SELECT * FROM " + view})
		if err != nil {
			t.Fatal(view, err)
		}
		for _, r := range rows {
			lines = append(lines, view+" "+r)
		}
	}
	slices.Sort(lines)
	return lines
}

func TestViewsDoNotDependOnOrder(t *testing.T) {
	want := dumpViews(t, smallDB(t, asIs))
	got := dumpViews(t, smallDB(t, slices.Reverse[[]indextest.Original]))
	for _, l := range got {
		if !slices.Contains(want, l) {
			t.Errorf("only in the other order: %s", l)
		}
	}
	for _, l := range want {
		if !slices.Contains(got, l) {
			t.Errorf("missing in the other order: %s", l)
		}
	}
}

func TestViewValues(t *testing.T) {
	db := smallDB(t, asIs)
	for _, c := range []struct{ sql, want string }{
		{"SELECT counted, count(*) FROM v_events WHERE verdict <> 'earlier version' GROUP BY counted ORDER BY 1", "0 2|1 7"},
		{"SELECT time, utc_offset_minutes, kind, tool FROM v_events WHERE part = 2", "2026-11-20T10:00:02.000000Z 0 tool_call Bash"},
		{"SELECT agent, time FROM v_events WHERE attributes ->> '$.stop_reason' = 'max_tokens'", "coder <nil>"},
		{"SELECT tool, failed, status, duration_us, input_bytes, output_bytes, paths FROM v_tool_calls WHERE counted",
			`Bash 1 error 2000000 17 17 ["src/health.py"]`},
		{"SELECT kind FROM v_events WHERE event_id = (SELECT result_event_id FROM v_tool_calls WHERE counted)", "tool_result"},
		{"SELECT input_tokens, cache_creation_tokens, reported_cost_microusd, cost_source, counted FROM v_usage WHERE counted ORDER BY time_us",
			"100 8 1235 reported 1|50 <nil> <nil> <nil> 1"},
		{"SELECT verdict, count(*) FROM v_usage GROUP BY verdict", "counted 2|duplicate 2"},
		{"SELECT day, input_tokens, reported_cost_microusd, unpriced FROM v_cost_daily", "2026-11-20 150 1235 1"},
		{"SELECT name, kind, counted FROM v_steps ORDER BY name, counted", "compile agent 0|compile agent 1|test command 0|test command 1"},
		{"SELECT path, version, newest, copies, mode FROM v_files WHERE version = 1 AND NOT newest", "parent.jsonl 1 0 1 0644"},
		{"SELECT kind, path, line FROM v_problems ORDER BY path", "bad json child.jsonl 3|bad json mirror/parent.jsonl 20"},
		{"SELECT verdict, events FROM v_conversations ORDER BY verdict, events", "counted 1|counted 6|earlier version 2|uncounted 0"},
		{"SELECT native_id, from_found FROM v_links, v_runs WHERE run_id = to_run_id AND v_links.kind = 'fork'", "parent 0"},
		{"SELECT to_native_id, to_run_id IS NULL, to_found FROM v_links WHERE v_links.kind <> 'message' ORDER BY 1", "child 0 1|lost 0 0|nightly 1 1|parent 0 1"},
	} {
		_, rows, err := asked(t.Context(), db, index.Question{SQL: c.sql})
		if got := strings.Join(rows, "|"); err != nil || got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.sql, got, err, c.want)
		}
	}
}

// TestLookupsUseIndexes asks for the plans of what is looked up often: none walks a whole table.
func TestLookupsUseIndexes(t *testing.T) {
	db := smallDB(t, asIs)
	for _, q := range []string{
		"v_runs WHERE run_id = 'x'", "v_conversations WHERE conversation_id = 'x'", "v_conversations WHERE run_id = 'x'",
		"v_events WHERE conversation_id = 'x' AND seq = 3", "v_events WHERE run_id = 'x'", "v_events WHERE path = 'x'",
		"v_tool_calls WHERE conversation_id = 'x'", "v_tool_calls WHERE run_id = 'x'", "v_steps WHERE run_id = 'x' AND step_key = 'y'",
		"v_receipts WHERE run_id = 'x' AND receipt_key = 'y'", "v_usage WHERE run_id = 'x'", "v_usage WHERE usage_id = 'x'", "v_usage WHERE path = 'x'",
		"v_files WHERE source = 'x' AND path = 'y' AND version = 1", "v_files WHERE path = 'x'", "v_files WHERE sha256 = 'x' AND path = 'y'",
	} {
		_, rows, err := asked(t.Context(), db, index.Question{SQL: "EXPLAIN QUERY PLAN SELECT * FROM " + q})
		if err != nil {
			t.Fatal(q, err)
		}
		for _, r := range rows {
			if strings.Contains(r, "SCAN") && !strings.Contains(r, "SCALAR") && !strings.HasSuffix(r, "SCAN one_row") && !strings.HasSuffix(r, "SCAN CONSTANT ROW") { // a sum
				t.Errorf("%s: %s", q, r)
			}
		}
	}
}

// TestPlainShell reads the views as a program does that knows nothing of this one: with none of its functions, and with the
// sqlite3 of the machine where there is one.
func TestPlainShell(t *testing.T) {
	db := smallDB(t, asIs)
	plain, err := sqlx.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: db.path}).EscapedPath(), RawQuery: "mode=ro"}).String())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Log("there is no sqlite3 on this machine")
	}
	for view := range views {
		var want int
		if err := db.r.Get(&want, "SELECT count(*) FROM "+view); err != nil {
			t.Fatal(err)
		}
		rows, err := plain.Queryx("SELECT * FROM " + view)
		if err != nil {
			t.Fatalf("%s: %v", view, err)
		}
		got := 0
		for ; rows.Next(); got++ {
			if _, err := rows.SliceScan(); err != nil {
				t.Errorf("%s: %v", view, err)
			}
		}
		if err := rows.Err(); err != nil || got != want {
			t.Errorf("%s: %d rows, %v, want %d", view, got, err, want)
		}
		if shell == "" {
			continue
		}
		out, err := exec.Command(shell, "-readonly", db.path, "SELECT * FROM "+view+" LIMIT 1; SELECT 'rows ' || count(*) FROM "+view).CombinedOutput()
		if err != nil || !strings.HasSuffix(string(out), fmt.Sprintf("rows %d\n", want)) {
			t.Errorf("%s: %v\n%s", view, err, out)
		}
	}
}

// TestDocumented holds docs/sql.md to the views: every column in its order, every key, and every example runs.
func TestDocumented(t *testing.T) {
	b, err := os.ReadFile("../../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	db := pruned(t)
	sections := strings.Split(string(b), "\n## ")
	for view, n := range views {
		i := slices.IndexFunc(sections, func(s string) bool { return strings.HasPrefix(s, view+"\n") })
		if i < 0 {
			t.Errorf("%s is not documented", view)
			continue
		}
		var documented []string
		for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|").FindAllStringSubmatch(sections[i], -1) {
			documented = append(documented, m[1])
		}
		columns := columnsOf(t, db, view)
		if !slices.Equal(documented, columns) {
			t.Errorf("%s has the columns\n%v\nand documented are\n%v", view, columns, documented)
		}
		if key := "Key: `" + strings.Join(columns[:n], "`, `") + "`."; !strings.Contains(sections[i], key) {
			t.Errorf("%s: %s is not documented", view, key)
		}
	}
	reference, _, _ := strings.Cut(string(b), "\n## Worked queries\n") // those are run with the program, in cmd/txarchive
	examples := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(reference, -1)
	if len(examples) < len(views) {
		t.Errorf("there are %d examples", len(examples))
	}
	for _, m := range examples {
		if _, rows, err := asked(t.Context(), db, index.Question{SQL: m[1]}); err != nil || len(rows) == 0 {
			t.Errorf("%s: %d rows, %v", m[1], len(rows), err)
		}
	}
}
