package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/transcript"
)

const schemaDir = "../../docs/schemas"

const schemaBase = "https://txarchive.github.io/schemas/"

// schemas compiles all of docs/schemas, such that no object may have keys that its schema does not describe.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(schemaDir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d schemas", err, len(files))
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for _, file := range files {
		b, err := os.ReadFile(file)
		must(t, err)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if id := doc.(map[string]any)["$id"]; id != schemaBase+filepath.Base(file) {
			t.Errorf("%s calls itself %v", file, id)
		}
		closeObjects(doc)
		must(t, c.AddResource(schemaBase+filepath.Base(file), doc))
	}
	all := map[string]*jsonschema.Schema{}
	for _, file := range files {
		s, err := c.Compile(schemaBase + filepath.Base(file))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = s
	}
	return all
}

// closeObjects lets objects have no other keys than those that are described.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, inner := range v {
			closeObjects(inner)
		}
	case []any:
		for _, inner := range v {
			closeObjects(inner)
		}
	}
}

// printed is a command line with the schemas of what it prints; a list prints one object a line.
type printed struct {
	line   string
	code   int
	stdout string // schema, "" when nothing is printed
	stderr string // schema of the last line
	list   bool
	least  int      // lines of a list
	shows  []string // occurs in what is printed: cases of a schema that other data might not have
}

const pricesCSV = "testdata/prices.csv"

var printing = []printed{
	{line: "", stdout: "welcome"},
	{line: "ingest RUNS/awf", stdout: "ingest"},
	{line: "ingest RUNS/chibi RUNS/devflow RUNS/flow-studio RUNS/leslie", stdout: "ingest"},
	{line: "ingest --dry-run", stdout: "ingest"},
	{line: "", stdout: "welcome"},
	{line: "init", stdout: "init"},
	{line: "version", stdout: "version"},
	{line: "source list", stdout: "source", list: true, least: 5},
	{line: "source discover --home TMP/home", stdout: "place", list: true, least: 1},
	{line: "source add TMP"},
	{line: "source rename TMPNAME other"},
	{line: "source exclude other *.tmp"},
	{line: "source remove other"},
	{line: "search --limit 0 name", stdout: "hit", list: true, least: 5, stderr: "coverage"},
	{line: "search --count name", stdout: "hit-count", stderr: "coverage"},
	{line: "search --files name", stdout: "hit-file", list: true, least: 3, stderr: "coverage"},
	{line: "search --facets tool,month,project name", stdout: "facet", list: true, least: 3, stderr: "coverage"},
	{line: "search -C 2 name", stdout: "hit", list: true, least: 5, stderr: "coverage"},
	{line: "search --explain --sort relevance nothinglikethis", stderr: "coverage", list: true, stdout: "hit"},
	{line: "search tool:bash after:2020 Cannot read", stderr: "coverage", list: true, stdout: "hit"},
	{line: "show rzhdkf6qx3kk1", stdout: "show"},
	{line: "show r4tga7f3ymvx3 --all", stdout: "show"},
	{line: "show rxtvjsm9dx137 --all", stdout: "show"},
	{line: "show r2fs94pz3fwak", stdout: "show"},
	{line: "show rvxamfjqa9vme", stdout: "show"},
	{line: "show c02r1h4ym8mv7:5", stdout: "show"},
	{line: "show r4tga7f3ymvx3 --timeline", stdout: "event", list: true, least: 30},
	{line: "show rzhdkf6qx3kk1 --format openai", stdout: "openai", list: true, least: 1},
	{line: "show rxtvjsm9dx137 --format openai", stdout: "openai", list: true, least: 12},
	{line: "show rxtvjsm9dx137 --versions", stdout: "original", list: true, least: 5},
	{line: "tag add rzhdkf6qx3kk1 release", stdout: "tagged"},
	{line: "tag add rzhdkf6qx3kk1 other", stdout: "tagged"},
	{line: "tag remove rzhdkf6qx3kk1 other", stdout: "tagged"},
	{line: "tag list", stdout: "tag", list: true, least: 1},
	{line: "list", stdout: "run", list: true, least: 26},
	{line: "list runs --sort cost", stdout: "run", list: true, least: 26},
	{line: "list conversations --all", stdout: "conversation", list: true, least: 64},
	{line: "tree r4tga7f3ymvx3", stdout: "tree", list: true, least: 1},
	{line: "tree rvxamfjqa9vme", stdout: "tree", list: true, least: 1},
	{line: "stats", stdout: "stats"},
	{line: "stats --storage", stdout: "stats"},
	{line: "status", stdout: "status"},
	{line: "status --max-age 1ns", stdout: "status", code: failure.ExitLimit, stderr: "error"},
	{line: "doctor", stdout: "doctor"},
	{line: "sql SELECT*format,count(*)*AS*n,NULL*AS*x*FROM*v_runs*GROUP*BY*1", stdout: "sql"},
	{line: "cost", stdout: "cost"},
	{line: "cost --by format,project --since 2026", stdout: "cost"},
	{line: "cost --blocks", stdout: "cost-blocks", shows: []string{`"gap":true`, `"gap":false`, `"cost_microusd":null`, `"cost_microusd":1`}},
	{line: "cost --tree r4tga7f3ymvx3", stdout: "cost-tree", shows: []string{`"kind":"parent"`, `"cost_nanousd":null`, `"unpriced_requests":3`}},
	{line: "cost --tree rzhdkf6qx3kk1", stdout: "cost-tree", shows: []string{`"type":"group"`, `"run_id":null`, `"seen":true`}},
	{line: "cost --tree rvxamfjqa9vme", stdout: "cost-tree", shows: []string{`"share":1`, `"cost_nanousd":7`}},
	{line: "ingest TMP/spent", stdout: "ingest"},
	{line: "cost --since 2026", stdout: "cost", shows: []string{`"undated_requests":1,`}},
	{line: "cost --blocks", stdout: "cost-blocks", shows: []string{`"active":true`, `"active":false`, `"undated_requests":1}`}},
	{line: "cost --blocks --file-times --limit 1", stdout: "cost-blocks", shows: []string{`"file_dated_requests":1,`, `"undated_requests":0}`}},
	{line: "cost --tree r09wh0j50nvvv", stdout: "cost-tree", shows: []string{`"found":true`, `"found":false`, `"run_id":null`}},
	{line: "cost --budget 1000000", stdout: "cost-budget", shows: []string{`"over":false`, `"undated_requests":1}`}},
	{line: "cost --budget 0.01 --timezone Asia/Tokyo", stdout: "cost-budget", code: failure.ExitLimit, stderr: "error", shows: []string{`"over":true`}},
	{line: "cost --explain all", stdout: "cost-explain", shows: []string{`"time":null`, `"time":"2026-`, `"file_time":null`, `"file_time":"`, `"requests":null`,
		`"requests":1,"agent"`, `"verdict":"duplicate"`, `"of":null`, `"of":{`, `"reported_cost_nanousd":null`, `"reported_cost_nanousd":1`, `"calculated_cost_nanousd":null`,
		`"difference_nanousd":null`, `"difference_nanousd":-`, `"cost_nanousd":null,"used":"unknown: no price`, `"lines":[]`, `"lines":[{`, `"flags":["`}},
	{line: "cost --explain r09wh0j50nvvv", stdout: "cost-explain", shows: []string{`"unpriced_requests":1,`, `"reason":"no price for model`}},
	{line: "report list", stdout: "report", list: true, least: 8},
	{line: "report run stub-runs", stdout: "sql"},
	{line: "report save weekly cost", stdout: "report-done"},
	{line: "report run weekly", stdout: "cost"},
	{line: "report remove weekly", stdout: "report-done"},
	{line: "report diff 2026-02 2026-11", stdout: "report-diff"},
	{line: "report diff all 2020", stdout: "report-diff", shows: []string{`"why":["gone"]`, `"after_microusd":null`, `"change_microusd":-`}},
	{line: "report diff 2020 2026-11-01..2026-11-25 --by project,model --limit 2", stdout: "report-diff", shows: []string{`"why":["new"]`, `"before_microusd":null`, `"model":null`}},
	{line: "prices list", stdout: "prices"},
	{line: "prices list opus-4-6", stdout: "price-row", list: true, least: 5, shows: []string{`"factors":[]`, `"factors":[{`, `"override":false`}},
	{line: "prices list sonnet-4-5", stdout: "price-row", list: true, least: 5, shows: []string{`"priced":false`, `"priced":true`, `"rates":[]`, `"above":0`, `"above":2`, `"provider":"`}},
	{line: "prices show claude-sonnet-4", stdout: "price"},
	{line: "prices set our-model input=1 output=2", stdout: "prices-changed"},
	{line: "prices list", stdout: "prices"},
	{line: "prices list our-model", stdout: "price-row", list: true, least: 1, shows: []string{`"override":true`, `"table_date":""`}},
	{line: "prices remove our-model", stdout: "prices-changed"},
	{line: "prices set claude-stub input=1 output=2 --from 2026-03-01", stdout: "prices-changed"},
	{line: "prices set claude-sonnet-4-20250514 input=1 output=2 --from 2026-03-01", stdout: "prices-changed"},
	{line: "report diff 2026-02 2026-11", stdout: "report-diff", shows: []string{`"after_picodollars_per_token":null`, `"before_picodollars_per_token":null`}},
	{line: "cost --explain all", stdout: "cost-explain", shows: []string{`"override":true`, `"table":"2026-03-01"`}},
	{line: "prices remove claude-stub --from 2026-03-01", stdout: "prices-changed"},
	{line: "prices remove claude-sonnet-4-20250514 --from 2026-03-01", stdout: "prices-changed"},
	{line: "prices import " + pricesCSV, stdout: "prices-changed"},
	{line: "prices update ../../internal/price/prices_2026-08-01.tsv", stdout: "prices-changed"},
	{line: "prices update TMP/bare.json --date 2026-11-02", stdout: "prices-changed"},
	{line: "prices list bare", stdout: "price-row", list: true, least: 1, shows: []string{`"provider":null`, `"table_date":"2026-11-02"`}},
	{line: "policy example starter", stdout: "policy"},
	{line: "policy example", stdout: "policy", list: true, least: 4},
	{line: "policy show", stdout: "policy"},
	{line: "policy check POLICY/leslie.yaml", stdout: "policy-check"},
	{line: "policy explain rzhdkf6qx3kk1 --policy POLICY/leslie.yaml", stdout: "policy-explain"},
	{line: "prune --query after:1990 --plan TMP/plan.json", stdout: "plan"},
	{line: "pin rzhdkf6qx3kk1 --reason demo", stdout: "marked"},
	{line: "pin", stdout: "pin", list: true, least: 1},
	{line: "hold add r4tga7f3ymvx3 --owner legal --until 90d", stdout: "marked"},
	{line: "hold list", stdout: "hold", list: true, least: 1},
	{line: "prune --query after:1990", stdout: "plan", shows: []string{`"tier":null`, `"rule":null`, `"group":null`, `"flow":null`}},
	{line: "prune --policy POLICY/leslie.yaml --yes", stdout: "pruned"},
	{line: "unpin rzhdkf6qx3kk1", stdout: "marked"},
	{line: "prune --apply TMP/plan.json", code: failure.ExitRefused, stderr: "error"},
	{line: "hold release r4tga7f3ymvx3", stdout: "marked"},
	{line: "prune --run rxtvjsm9dx137 --yes", stdout: "pruned"},
	{line: "prune --undo rxtvjsm9dx137", stdout: "undone"},
	{line: "verify", stdout: "verify"},
	{line: "verify --repair", stdout: "repair"},
	{line: "restore --all --to TMP/back", stdout: "restore"},
	{line: "reindex", stdout: "reindex"},
	{line: "gc --dry-run --grace 7d", stdout: "gc"},
	{line: "gc", stdout: "gc"},
	{line: "forget --match permission", stdout: "forget"},
	{line: "forget --match permission --apply --yes", stdout: "forget"},
	{line: "backup TMP/backup", stdout: "backup"},
	{line: "backup list TMP/backup", stdout: "backup-list", list: true, least: 1},
	{line: "backup verify TMP/backup --full", stdout: "backup-verify"},
	{line: "backup restore TMP/backup --to TMP/again", stdout: "backup-restore"},
	{line: "nightly --backup TMP/backup", stdout: "nightly"},
	{line: "nightly --backup TMP/nowhere --wait 0s", stdout: "nightly", code: failure.ExitProblems, stderr: "error"},
	{line: "schedule install --with systemd --dry-run", stdout: "schedule-file", list: true, least: 2},
	{line: "schedule show --with systemd", code: failure.ExitNotFound, stderr: "error"},
	{line: "schedule remove --with systemd", code: failure.ExitNotFound, stderr: "error"},
	{line: "schedule status --with systemd", stdout: "schedule", code: failure.ExitNotFound, stderr: "error"},
	{line: "show rnotthere", code: failure.ExitNotFound, stderr: "error"},
	{line: "list --columns nope", code: failure.ExitUsage, stderr: "error"},
	{line: "ingest TMP/owed", stdout: "ingest"},
	{line: "cost --by run", stdout: "cost", shows: []string{`"cost_nanousd":-500000000`}},
	{line: "list", stdout: "run", list: true, shows: []string{`"cost_microusd":-500000`}},
	{line: "stats", stdout: "stats", shows: []string{`"reported_cost_microusd":-470000`}},
	{line: "tree 6f1d7a0e-0000-4000-8000-000000000003", stdout: "tree", list: true, shows: []string{`"cost_microusd":-500000`}},
}

// unprinted are commands that print no JSON of their own: bytes as they are, or for other programs.
var unprinted = []string{"cat", "docs", "man", "help", "completion"}

func TestJSONMatchesSchemas(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	dir, tmp, few := filepath.Join(t.TempDir(), "archive"), t.TempDir(), filepath.Join(t.TempDir(), "few")
	fewRuns(t, few)
	agent := filepath.Join(tmp, "home", ".claude", "projects", "-x")
	must(t, errors.Join(os.MkdirAll(agent, 0o700), os.WriteFile(filepath.Join(agent, "0d000000-0000-4000-8000-000000000001.jsonl"), []byte("{}\n"), 0o600)))
	spend(t, tmp)
	words := strings.NewReplacer("RUNS", few, "POLICY", "../../internal/policy/examples", "TMPNAME", filepath.Base(tmp), "TMP", tmp)
	used := map[string]bool{"storage": true, "totals": true, "figures": true}
	for _, p := range printing {
		line := strings.Fields(words.Replace(p.line))
		for i := range line {
			if line[0] == "sql" {
				line[i] = strings.ReplaceAll(line[i], "*", " ")
			}
		}
		if line = append(line, "--json"); line[0] == "sql" {
			line[1] = strings.ReplaceAll(line[1], "count( )", "count(*)")
		}
		code, stdout, stderr := inside(t.Context(), dir, "", line...)
		if code != p.code {
			t.Errorf("%s: exit %d, want %d\n%s", p.line, code, p.code, stderr)
			continue
		}
		used[p.stdout], used[p.stderr] = true, true
		docs := []string{stdout}
		if p.list {
			docs = strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
			if stdout == "" {
				docs = nil
			}
			if len(docs) < p.least {
				t.Errorf("%s: %d lines, want %d", p.line, len(docs), p.least)
			}
		}
		if p.stdout == "" {
			if strings.TrimSpace(stdout) != "" {
				t.Errorf("%s: prints %s", p.line, stdout)
			}
		} else {
			for _, doc := range docs {
				matches(t, all, p.stdout, p.line, doc)
			}
		}
		for _, text := range p.shows {
			if !strings.Contains(stdout, text) {
				t.Errorf("%s: prints no %s\n%.500s", p.line, text, stdout)
			}
		}
		if p.stderr != "" {
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			matches(t, all, p.stderr, p.line, lines[len(lines)-1])
		}
	}
	for name := range all {
		if !used[name] {
			t.Errorf("docs/schemas/%s.json is of nothing that was printed", name)
		}
	}
}

// spend writes what the examples have none of: a session of this moment, run r09wh0j50nvvv, with a request that reports more than its
// tokens cost, one of unknown price, one without a time, and a subagent that is nowhere; and a price table with a model of no provider.
func spend(t *testing.T, dir string) {
	t.Helper()
	const id = "6f1d7a0e-0000-4000-8000-000000000002"
	session := strings.NewReplacer("ID", `"sessionId":"`+id+`"`, "NOW", `"timestamp":"`+time.Now().UTC().Format(time.RFC3339)+`"`).Replace(
		`{"type":"user",ID,NOW,"uuid":"u1","cwd":"/home/dev/x","message":{"role":"user","content":"look"}}
{"type":"assistant",ID,NOW,"uuid":"a1","requestId":"q1","costUSD":0.03,"message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t1","name":"Task","input":{}}],"usage":{"input_tokens":9000,"output_tokens":10}}}
{"type":"user",ID,NOW,"uuid":"u2","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"found"}]},"toolUseResult":{"status":"completed","agentId":"a1"}}
{"type":"assistant",ID,NOW,"uuid":"a2","requestId":"q2","message":{"id":"m2","role":"assistant","model":"nobody-knows","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":90,"output_tokens":10}}}
{"type":"assistant",ID,"uuid":"a3","requestId":"q3","message":{"id":"m3","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"when"}],"usage":{"input_tokens":100,"output_tokens":10}}}
`)
	const owing = "6f1d7a0e-0000-4000-8000-000000000003"
	owed := filepath.Join(dir, "owed", "projects", "-home-dev-y")
	must(t, errors.Join(os.MkdirAll(owed, 0o700), os.WriteFile(filepath.Join(owed, owing+".jsonl"), []byte(`{"type":"assistant","sessionId":"`+owing+`","timestamp":"2020-01-01T00:00:00Z","uuid":"b1",`+
		`"requestId":"q4","costUSD":-0.5,"message":{"id":"m4","role":"assistant","model":"x","content":[{"type":"text","text":"owed"}],"usage":{"input_tokens":7}}}`+"\n"), 0o600)))
	project := filepath.Join(dir, "spent", "projects", "-home-dev-x")
	must(t, errors.Join(os.MkdirAll(project, 0o700), os.WriteFile(filepath.Join(project, id+".jsonl"), []byte(session), 0o600),
		os.WriteFile(filepath.Join(dir, "bare.json"), []byte(`{"bare-model":{"mode":"chat","input_cost_per_token":1e-6,"output_cost_per_token":2e-6}}`), 0o600)))
}

func matches(t *testing.T, all map[string]*jsonschema.Schema, name, line, doc string) {
	t.Helper()
	s := all[name]
	if s == nil {
		t.Errorf("%s: there is no schema %q", line, name)
		return
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
	if err != nil {
		t.Errorf("%s: %v in %.300s", line, err, doc)
		return
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%s: %v\n%.500s", line, err, doc)
	}
}

// TestSchemasCoverCommands looks for commands whose --json nobody has described.
func TestSchemasCoverCommands(t *testing.T) {
	root := newRootCommand(newApp(), "")
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if slices.Contains(unprinted, sub.Name()) {
				continue
			}
			path := strings.TrimPrefix(sub.CommandPath(), "txarchive ")
			covered := slices.ContainsFunc(printing, func(p printed) bool { return p.line == path || strings.HasPrefix(p.line, path+" ") })
			if !covered {
				t.Errorf("%s: no schema in docs/schemas holds what it prints with --json", path)
			}
			look(sub)
		}
	}
	look(root)
}

// TestSchemasNameWords compares the words that schemas list with those that the program has, of which the example data shows few.
func TestSchemasNameWords(t *testing.T) {
	words := map[string][]any{ // by one that no other list has
		"counted": {transcript.Counted, transcript.DuplicateOf, transcript.CopiedHistory, transcript.DerivedTotal, transcript.OutsideReceipt, transcript.EarlierVersion,
			transcript.Uncounted},
		"tool_call": {transcript.KindMessage, transcript.KindReasoning, transcript.KindToolCall, transcript.KindToolResult, transcript.KindSystem,
			transcript.KindLifecycle, transcript.KindNotice, transcript.KindCompaction, transcript.KindError, transcript.KindUnknown},
		"succeeded": {transcript.Succeeded, transcript.Failed, transcript.Cancelled, transcript.Running, transcript.Other},
	}
	files, err := filepath.Glob(filepath.Join(schemaDir, "*.json"))
	must(t, err)
	lists := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		must(t, err)
		var doc any
		must(t, json.Unmarshal(b, &doc))
		var look func(any)
		look = func(v any) {
			switch v := v.(type) {
			case []any:
				for _, item := range v {
					look(item)
				}
			case map[string]any:
				listed, _ := v["enum"].([]any)
				for one, all := range words {
					if !slices.Contains(listed, any(one)) {
						continue
					}
					lists++
					for _, word := range all {
						if !slices.Contains(listed, any(fmt.Sprint(word))) {
							t.Errorf("%s: %q is not listed in %v", file, word, listed)
						}
					}
				}
				for _, member := range v {
					look(member)
				}
			}
		}
		look(doc)
	}
	if lists < 6 {
		t.Errorf("%d lists", lists)
	}
}

// TestJSONSurvivesJQ says that ids are texts and that no number is too great for a float.
func TestJSONSurvivesJQ(t *testing.T) {
	dir := filled(t)
	for _, line := range []string{"list", "show r4tga7f3ymvx3", "search --limit 0 review"} {
		_, stdout, _ := inside(t.Context(), dir, "", append(strings.Fields(line), "--json")...)
		d := json.NewDecoder(strings.NewReader(stdout))
		d.UseNumber()
		for {
			token, err := d.Token()
			if err != nil {
				break
			}
			if n, ok := token.(json.Number); ok {
				if i, err := n.Int64(); err == nil && (i > 1<<53 || i < -1<<53) {
					t.Errorf("%s: %s is no whole number any more in jq", line, n)
				}
			}
		}
	}
}
