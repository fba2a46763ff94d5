package main

import (
	"fmt"
	"time"

	"github.com/txarchive/txarchive/internal/rows"
	"github.com/txarchive/txarchive/internal/transcript"
)

// newRowWriter returns a writer of rows in a format.
func newRowWriter(a *app, format string) (*rows.Writer, error) {
	w, ok := rows.New(format, rows.Output{W: a.out, Width: a.width(), Style: a.style()})
	if !ok {
		return nil, usage(fmt.Sprintf("unknown format %q", format), "--format table, csv, json, ndjson or markdown")
	}
	return w, nil
}

// formatStamp formats a time that is written as in JSON; false for any other text.
func (a *app) formatStamp(s string) (string, bool) {
	t, err := time.Parse(transcript.TimeLayout, s)
	return a.formatClock(t), err == nil
}

// formatOr returns the format that was asked for, else json for --json, else a table.
func (a *app) formatOr(asked, json string) string {
	switch {
	case asked != "":
		return asked
	case a.json:
		return json
	}
	return "table"
}

// checkRows checks a limit of rows.
func checkRows(limit int) error {
	if limit < 0 {
		return usage("--limit cannot be negative", "--limit 0 is no limit")
	}
	return nil
}
