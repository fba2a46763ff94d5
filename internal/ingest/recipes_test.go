package ingest_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/toolcall"
	"github.com/txarchive/txarchive/internal/transcript"
)

// recipe is one SQL statement of docs/recipes.md. Its name is its heading, with a number if there are several.
type recipe struct {
	name, sql string
	params    map[string]any
}

// recipes returns the fenced statements of the document, with the parameters in their comments.
func recipes(t *testing.T) []recipe {
	t.Helper()
	b, err := os.ReadFile("../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	param := regexp.MustCompile(`--param (\w+)=(\S+)`)
	var found []recipe
	heading, n := "", 0
	for part := range strings.SplitSeq(string(b), "\n```") {
		body, ok := strings.CutPrefix(part, "sql\n")
		if !ok {
			for line := range strings.Lines(part) {
				if h, ok := strings.CutPrefix(line, "### "); ok {
					heading, n = strings.TrimSpace(h), 0
				}
			}
			continue
		}
		n++
		r := recipe{name: fmt.Sprintf("%s %d", heading, n), sql: body, params: map[string]any{}}
		for _, m := range param.FindAllStringSubmatch(body, -1) {
			r.params[m[1]] = m[2]
		}
		found = append(found, r)
	}
	return found
}

// recipeAnswers are the results of some statements for the examples, as counted with jq and wc in the files.
var recipeAnswers = map[string][]string{
	"How many events of each type 2":       {"tool.call 4", "tool.result 4", "message.assistant 2", "message.user 2", "step.completed 2", "step.started 2"},
	"Router against agent-emitted calls 1": {"agent_emitted 10 0", "router 4 4"},
	"From parent to child 1": {
		"0 d9e0f8d2-05ed-4832-81ac-001832ba3b42 review completed 1",
		"1 adf6cf00-5b35-4fd4-be03-a4df7250da4d child completed 1",
		"2 23fd2b55-d81a-4440-908f-09084c135e0f grandchild completed 1",
	},
	"The tree of steps of a run 1": {
		"outer for_each 0 succeeded", "  inner for_each 0 succeeded", "    leaf command 0 succeeded", "    leaf command 1 succeeded",
		"  inner for_each 1 succeeded", "    leaf command 0 succeeded", "    leaf command 1 succeeded",
	},
	"Stub runs 1": {"run-20261121-000533-1bj1cw failed 1 2", "run-20261121-000534-vg2eqy succeeded 14 42"},
	"By thread, with what failed attempts cost 1": {"thread-5bedeabb 1 0 0.4312"},
	"Transcripts that were cut, or that declare other numbers than they hold 1": {
		"leslie/shop/.leslie/threads/thread-5bedeabb/.meta/transcripts/20260209-0900-Write-tests-for-the-login-form.txt 2 1 <nil>",
		"leslie/shop/.leslie/threads/thread-7280af8f/.meta/transcripts/20260210-0815-Profile-the-search-endpoint-and-report.txt 0 1 1",
	},
}

func TestRecipes(t *testing.T) {
	w := newWorld(t)
	w.ingest("runs", runs(t, ""), ".")
	// A run that was saved again, for the statements about earlier versions.
	s := newTree(t)
	for _, turns := range []int{3, 4} {
		s.write(devflowRun+"/transcript.json", string(devflowTranscript(turns, "")))
		w.ingest("home", s.dir, ".")
	}
	console, err := sqlite.Open(t.Context(), w.index.Path(), sqlite.Options{ReadOnly: true, Text: w.text})
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	all := recipes(t)
	if len(all) < 20 {
		t.Fatalf("only %d statements in the document", len(all))
	}
	texts := regexp.MustCompile(`\b(event_text|event_json|receipt_json|call_input|call_input_json|call_output)\(`)
	asked := map[string]bool{}
	for _, r := range all {
		asked[r.name] = true
		t.Run(r.name, func(t *testing.T) {
			var rows []string
			if texts.MatchString(r.sql) {
				rows = byConsole(t, console, r)
			} else {
				rows = byDriver(t, w.index.Path(), r)
			}
			if len(rows) == 0 {
				t.Errorf("no rows:\n%s", r.sql)
			}
			if want, ok := recipeAnswers[r.name]; ok && !slices.Equal(rows, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
			}
			for _, row := range rows {
				t.Log(row)
			}
		})
	}
	for name := range recipeAnswers {
		if !asked[name] {
			t.Errorf("no statement %q in the document", name)
		}
	}
}

// TestRecipeTexts checks the statements that read texts from the packs.
func TestRecipeTexts(t *testing.T) {
	w := newWorld(t)
	w.ingest("runs", runs(t, ""), ".")
	console, err := sqlite.Open(t.Context(), w.index.Path(), sqlite.Options{ReadOnly: true, Text: w.text})
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	for _, c := range []struct{ name, says string }{
		{"First and last events 1", "Context created"},
		{"Every assistant text 1", "Done with 3 tools."},
		{"Calls with their results 1", "Read"},
		{"Receipts of failed steps in runs that succeeded 1", `"agent_key": "fixer"`},
	} {
		i := slices.IndexFunc(recipes(t), func(r recipe) bool { return r.name == c.name })
		if i < 0 {
			t.Fatalf("no statement %q", c.name)
		}
		rows := byConsole(t, console, recipes(t)[i])
		if !strings.Contains(strings.Join(rows, "\n"), c.says) {
			t.Errorf("%s does not say %q:\n%s", c.name, c.says, strings.Join(rows, "\n"))
		}
	}
}

func byConsole(t *testing.T, db *sqlite.DB, r recipe) (rows []string) {
	t.Helper()
	err := db.Query(t.Context(), index.Question{SQL: r.sql, Params: r.params}, func([]string) error { return nil }, func(v []any) error {
		rows = append(rows, strings.TrimSuffix(fmt.Sprintln(v...), "\n"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func byDriver(t *testing.T, path string, r recipe) (rows []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var args []any
	for name, value := range r.params {
		args = append(args, sql.Named(name, value))
	}
	result, err := db.Query(r.sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	columns, err := result.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for result.Next() {
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range to {
			to[i] = &values[i]
		}
		if err := result.Scan(to...); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, strings.TrimSuffix(fmt.Sprintln(values...), "\n"))
	}
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// text implements the SQL functions of the console naively: it reads the whole original.
func (w *world) text(ctx context.Context, kind, id string) (string, error) {
	if kind == "receipt_json" {
		at, err := w.index.Receipt(ctx, id)
		if err != nil {
			return "", err
		}
		raw, err := w.raw(ctx, at)
		return string(raw), err
	}
	parts, err := w.index.Event(ctx, id)
	if err != nil {
		return "", err
	}
	if kind == "call_output" && parts[0].Kind != transcript.KindToolResult {
		result, err := w.index.Result(ctx, id)
		if err != nil {
			return "", err
		}
		parts = []index.Event{result}
	}
	var texts []string
	for _, p := range parts {
		raw, err := w.raw(ctx, p.Place)
		if err != nil {
			return "", err
		}
		text := string(raw)
		if kind != "event_json" {
			if text, err = all.Decode(p.Place.Format, p.Place.Role, raw, p.Part); err != nil {
				return "", err
			}
			if kind == "call_input_json" {
				text = string(toolcall.Parse(raw, p.Tool, text).JSON())
			}
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

func (w *world) raw(ctx context.Context, at index.Place) ([]byte, error) {
	for s, err := range w.index.States(ctx) {
		if err != nil {
			return nil, err
		}
		if s.Source != at.Source || s.Path != at.Path || s.Number != at.Number {
			continue
		}
		r := w.Originals.Reader(ctx, s.Extents)
		if at.Inner != "" {
			if r, err = layer.Open(at.Inner, r); err != nil {
				return nil, err
			}
		}
		b, err := io.ReadAll(r)
		if err != nil || at.End() > int64(len(b)) {
			return nil, errors.Join(err, index.ErrNotFound)
		}
		return bytes.Clone(b[at.Offset:at.End()]), nil
	}
	return nil, index.ErrNotFound
}
