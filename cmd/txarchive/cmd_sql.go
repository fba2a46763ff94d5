package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/sqlshell"
	"github.com/txarchive/txarchive/internal/terminal"
)

type sqlOptions struct {
	format  string
	params  []string
	spare   bool // params may have names that the statement does not use
	money   bool // tables show costs in dollars
	limit   int
	timeout time.Duration
}

func newSQLCommand(a *app) *cobra.Command {
	var o sqlOptions
	cmd := &cobra.Command{
		Use:   "sql [QUERY]",
		Short: "Query the index with SQL",
		Long: "Run one SQL statement, from the command line or standard input. On a terminal without QUERY, start an interactive\n" +
			"shell with history and completion (.help lists its commands). Statements can only read: nothing can be changed,\n" +
			"attached or loaded.\n\n" +
			"docs/sql.md describes the views v_runs, v_conversations, v_steps, v_events, v_tool_calls, v_usage, v_receipts,\n" +
			"v_links, v_files, v_problems, v_cost_daily and v_pruned, and the functions event_text(id), event_json(id),\n" +
			"call_input(id), call_input_json(id), call_output(id) and receipt_json(id)." +
			exitCodes("2 also for a statement that is wrong or not allowed", "7 stopped at a limit", "10 no archive"),
		Example: "  txarchive sql 'SELECT format, count(*) FROM v_runs GROUP BY 1'\n" +
			"  txarchive sql --param tool=Bash 'SELECT event_id, event_text(event_id) FROM v_tool_calls WHERE tool = :tool LIMIT 5'\n" +
			"  txarchive sql --param least:=1000 'SELECT run_id FROM v_runs WHERE events > :least'\n" +
			"  txarchive sql --format csv < query.sql > out.csv\n  txarchive sql '.schema v_runs'\n  txarchive sql --json 'SELECT * FROM v_problems' | jq '.[].reason'",
		Args:              argCount(0, 1),
		ValidArgsFunction: a.completeSQL,
		RunE:              func(cmd *cobra.Command, v []string) error { return runSQL(cmd.Context(), a, o, v) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "output `FORMAT`: table, csv, json (an array), ndjson or markdown (default table)")
	f.StringArrayVar(&o.params, "param", nil, "set :NAME in the statement to a text, `NAME=TEXT`, or to a number, NAME:=NUMBER (repeatable)")
	f.IntVar(&o.limit, "limit", 0, "stop after `N` rows with exit code 7 (0 = no limit)")
	f.Var((*ageValue)(&o.timeout), "timeout", "stop after this `TIME` with exit code 7 (default "+strings.TrimSuffix(index.ConsoleTime.String(), "0s")+")")
	completeFlags(cmd, map[string]cobra.CompletionFunc{"format": fixed(rows.Formats...)})
	return cmd
}

// maxStatement is how many bytes of a statement are read from standard input.
const maxStatement = 4 << 20

func runSQL(ctx context.Context, a *app, o sqlOptions, v []string) error {
	params, err := parseParams(o.params)
	if err != nil {
		return err
	}
	if err := o.applyDefaults(a); err != nil {
		return err
	}
	if a.interactive(v) {
		return runShell(ctx, a, o, params)
	}
	ctx = a.page(ctx)
	statement, err := a.statement(v)
	if err != nil {
		return err
	}
	return runStatement(ctx, a, o, statement, params)
}

// applyDefaults checks the options and sets those that were left open.
func (o *sqlOptions) applyDefaults(a *app) error {
	o.format = a.FormatOr(o.format, "json")
	if _, err := a.Rows(o.format); err != nil {
		return err
	}
	return printer.CheckLimit(o.limit)
}

// runStatement runs one statement, or a command of the shell, and prints what it gives.
func runStatement(ctx context.Context, a *app, o sqlOptions, statement string, params map[string]any) error {
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if command := strings.TrimSpace(statement); strings.HasPrefix(command, ".") {
		words, err := sqlshell.ReadWords(ctx, store.Index())
		if err != nil {
			return err
		}
		_, err = a.shell(store, &o, params, words).Command(command)
		return shellUsage(err)
	}
	_, err = a.answer(ctx, store, o, statement, params)
	return err
}

// answer runs a statement, prints its rows and returns their number. For an error of syntax it points to the place.
func (a *app) answer(ctx context.Context, store *archive.Archive, o sqlOptions, statement string, params map[string]any) (rows int64, err error) {
	out, err := a.Rows(o.format)
	if err != nil {
		return 0, err
	}
	if o.money && o.format == "table" {
		out = out.HumanReadable(a.FormatStamp)
	}
	q := index.Question{SQL: statement, Params: params, AllowUnused: o.spare, Rows: o.limit, Time: o.timeout}
	err = store.Index().Query(ctx, q, out.Columns, func(v []any) error {
		rows++
		return out.Row(v)
	})
	if end := out.End(); err == nil || errors.Is(err, index.ErrLimit) {
		err = errors.Join(err, end)
	}
	if wrong, ok := errors.AsType[*index.SQLError](err); ok {
		if wrong.Line > 0 && !a.JSON {
			fmt.Fprintln(a.Err, pointAt(statement, wrong.Line, wrong.Column))
		}
		if near := sqlshell.Suggest(ctx, store.Index(), statement, wrong.Message); near != "" {
			err = failure.Usage(err.Error(), "did you mean "+near+"?")
		} else if name, ok := strings.CutPrefix(wrong.Message, "no such column: "); ok {
			err = failure.Usage(err.Error(), fmt.Sprintf("a text is written in single quotes, '%s'; docs/sql.md lists every view and column", strings.Trim(name, `"`)))
		}
	}
	return rows, err
}

// interactive reports whether a person sits at a terminal and no statement was given.
func (a *app) interactive(v []string) bool {
	_, in := terminal.Detect(a.in)
	_, out := terminal.Detect(a.Out)
	return in && out && len(v) == 0
}

// statement returns the statement: the argument, or standard input.
func (a *app) statement(v []string) (string, error) {
	if len(v) > 0 && v[0] != "-" {
		return v[0], nil
	}
	if _, ok := terminal.Detect(a.in); ok { // standard output is not a terminal, or the shell would run
		return "", failure.Usage("no SQL statement given", "txarchive sql 'SELECT ...', or: txarchive sql < query.sql")
	}
	b, err := io.ReadAll(io.LimitReader(a.in, maxStatement))
	if err != nil {
		return "", fmt.Errorf("read statement: %w", err)
	}
	return string(b), nil
}

// parseParams parses texts (name=value) and numbers (name:=value). They differ because in SQLite every text is greater than any number.
func parseParams(given []string) (map[string]any, error) {
	params := map[string]any{}
	for _, p := range given {
		name, value, ok := strings.Cut(p, "=")
		name, number := strings.CutSuffix(strings.TrimLeft(name, ":@$"), ":")
		if !ok || name == "" {
			return nil, failure.Usage(fmt.Sprintf("invalid parameter %q", p), "--param name=text or --param name:=number, for :name in the statement")
		}
		params[name] = value
		if number {
			if params[name], ok = numberOf(value); !ok {
				return nil, failure.Usage(fmt.Sprintf("%q is not a number", value), "for a text: --param name=text")
			}
		}
	}
	return params, nil
}

func numberOf(text string) (any, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// pointAt returns the line of a statement with a caret below a column.
func pointAt(statement string, lineNumber, columnNumber int) string {
	lines := strings.Split(statement, "\n")
	if lineNumber > len(lines) {
		return ""
	}
	runes := []rune(strings.ReplaceAll(terminal.Clean(lines[lineNumber-1]), "\t", " "))
	const around = 60
	from := max(0, min(columnNumber-1, len(runes))-around)
	to := min(len(runes), columnNumber-1+around)
	if to < from {
		to = from
	}
	return "  " + string(runes[from:to]) + "\n  " + strings.Repeat(" ", max(columnNumber-1-from, 0)) + "^"
}
