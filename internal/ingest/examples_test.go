package ingest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// exampleRuns has, for each format, a query for the figures that testdata/examples states of its runs, with the same keys. Those figures were
// counted by other means.
var exampleRuns = map[string]string{
	"awf": `SELECT json_object('id', native_id, 'status', status, 'workflow', flow, 'events', events, 'messages', messages,
		'tool_calls', tool_calls, 'tool_results', tool_results, 'tokens_in', coalesce(input_tokens, 0), 'tokens_out', coalesce(output_tokens, 0),
		'parent', (SELECT from_native_id FROM v_links l WHERE l.to_run_id = r.run_id))`,
	"flow-studio": `SELECT json_object('id', native_id, 'status', status, 'conversations', conversations, 'events', events,
		'run_events', (SELECT count(*) FROM v_events e WHERE e.run_id = r.run_id AND verdict = 'uncounted' AND attributes ->> 'seq' IS NOT NULL),
		'tool_calls', tool_calls, 'tool_results', tool_results, 'tokens_in', coalesce(input_tokens, 0), 'tokens_out', coalesce(output_tokens, 0),
		'receipts', (SELECT count(*) FROM v_receipts x WHERE x.run_id = r.run_id AND x.counted AND x.kind = 'step'))`,
	"chibi": `SELECT json_object('id', native_id, 'events', events, 'tool_calls', tool_calls, 'tool_results', tool_results,
		'messages', (SELECT count(*) FROM v_events e WHERE e.run_id = r.run_id AND e.counted AND e.type = 'message'),
		'anchors', (SELECT count(*) FROM v_events e WHERE e.run_id = r.run_id AND e.counted AND e.type IN ('context_created', 'compaction', 'archival')),
		'other', (SELECT count(*) FROM v_events e WHERE e.run_id = r.run_id AND e.counted
			AND e.type NOT IN ('message', 'tool_call', 'tool_result', 'context_created', 'compaction', 'archival')),
		'inbox_pending', (SELECT count(*) FROM v_events e WHERE e.run_id = r.run_id AND e.verdict = 'uncounted' AND e.type = 'inbox'),
		'window_entries', (SELECT count(*) FROM v_events e WHERE e.run_id = r.run_id AND e.verdict = 'derived total' AND e.type <> 'readable'),
		'api_calls', (SELECT count(*) FROM v_usage u WHERE u.run_id = r.run_id AND u.counted),
		'tokens_in', coalesce(input_tokens, 0), 'tokens_out', coalesce(output_tokens, 0))`,
	"leslie": `SELECT json_object('id', group_id || '/' || (attributes ->> 'chat_id'), 'thread', group_id, 'chat', attributes ->> 'chat_id',
		'mode', attributes ->> 'agent_mode', 'stop_reason', status, 'cut_at_20k', json(iif(attributes ->> 'cut_at_20k', 'true', 'false')),
		'events', events, 'tool_calls', tool_calls, 'tool_results', tool_results, 'tool_calls_header', attributes ->> 'tool_calls_declared',
		'errors', (SELECT count(*) FROM v_events e WHERE e.run_id = r.run_id AND e.counted AND e.kind = 'error'),
		'file', (SELECT 'leslie/' || path FROM v_conversations c WHERE c.run_id = r.run_id AND c.counted))`,
	"devflow": `SELECT json_object('id', native_id, 'status', status, 'flow', flow, 'where', iif(attributes ->> 'archived', 'archive', 'runs'),
		'events', events, 'tool_calls', tool_calls, 'tool_results', tool_results,
		'tokens_in', coalesce(input_tokens, 0), 'tokens_out', coalesce(output_tokens, 0), 'cost', coalesce(reported_cost_microusd, 0) / 1e6)`,
}

// notAsked are keys of figures that no view has.
var notAsked = map[string][]string{"awf": {"files"}, "chibi": {"layout"}, "devflow": {"transcript"}}

// exampleBases are directories that contain all runs of a format: each gives the same result as a source.
var exampleBases = map[string][]string{
	"awf": {".", "storage"}, "flow-studio": {".", "swarm", "swarm/runs"}, "chibi": {".", ".chibi"},
	"leslie": {".", "shop", "shop/.leslie"}, "devflow": {".", ".devflow"},
}

func TestExampleRuns(t *testing.T) {
	for name, query := range exampleRuns {
		b, err := os.ReadFile(filepath.Join("testdata", "examples", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Runs  []map[string]any
			Links []map[string]any
		}
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		for _, base := range exampleBases[name] {
			t.Run(name+"/"+base, func(t *testing.T) {
				w := newWorld(t)
				w.ingest(name, filepath.Join(runs(t, name), base), ".")
				got := map[any]map[string]any{}
				for _, line := range w.query(query + " FROM v_runs r WHERE counted") {
					var run map[string]any
					if err := json.Unmarshal([]byte(line), &run); err != nil {
						t.Fatal(err)
					}
					got[run["id"]] = run
				}
				if len(got) != len(want.Runs) {
					t.Errorf("%d runs, want %d", len(got), len(want.Runs))
				}
				for _, run := range want.Runs {
					checkRun(t, name, base, got[run["id"]], run)
				}
				for _, l := range want.Links {
					said := w.query("SELECT statements FROM v_links WHERE counted AND from_native_id = ? AND to_native_id = ?", l["parent"], l["child"])
					if len(said) != 1 || l["count"] != nil && said[0] != fmt.Sprint(l["count"]) {
						t.Errorf("link %v: stated %v times", l, said)
					}
				}
			})
		}
	}
}

// checkRun compares the keys that want has.
func checkRun(t *testing.T, name, base string, got, want map[string]any) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if slices.Contains(notAsked[name], key) || key == "file" && base != "." {
			continue
		}
		if have, ok := got[key]; !ok || have != want[key] {
			t.Errorf("%v: %s is %v, want %v", want["id"], key, have, want[key])
		}
	}
}

// TestExampleMessages counts what a producer calls a message, by the query of docs/formats: more than the events that contain one.
func TestExampleMessages(t *testing.T) {
	for _, name := range []string{"awf", "flow-studio"} {
		doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "formats", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		query := messagesQuery.FindString(string(doc))
		b, err := os.ReadFile(filepath.Join("testdata", "examples", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var want struct{ Totals struct{ Messages int } }
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t)
		w.ingest(name, runs(t, name), ".")
		if got := w.query(query); len(got) != 1 || got[0] != fmt.Sprint(want.Totals.Messages) {
			t.Errorf("%s: %v messages, want %d", name, got, want.Totals.Messages)
		}
	}
}

// messagesQuery matches the first query of a page.
var messagesQuery = regexp.MustCompile("SELECT count[^`;]*")
