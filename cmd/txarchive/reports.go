package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// shippedReports are SQL statements. The first line describes the report; the following lines that begin with -- : name parameters and
// their defaults.
//
//go:embed reports/*.sql
var shippedReports embed.FS

// savedReport is a report with a name: a statement of SQL, or the arguments of `cost`.
type savedReport struct {
	Name        string            `json:"name"`
	Description transcript.Text   `json:"description"`
	Kind        string            `json:"kind"` // sql or cost
	Shipped     bool              `json:"shipped"`
	SQL         *string           `json:"sql"`
	Args        []string          `json:"args"`       // of cost
	Parameters  map[string]string `json:"parameters"` // of SQL, with their defaults
	Saved       printer.Timestamp `json:"saved"`
}

// reportFact is how the archive stores a report under its name.
type reportFact struct {
	Description string            `json:"description"`
	SQL         string            `json:"sql,omitempty"`
	Args        []string          `json:"args,omitempty"`
	Parameters  map[string]string `json:"parameters,omitempty"`
	Saved       time.Time         `json:"saved"`
}

// shippedReport reads a report that is part of the program.
func shippedReport(name string) (savedReport, error) {
	body, err := shippedReports.ReadFile("reports/" + name + ".sql")
	if err != nil {
		return savedReport{}, err
	}
	text := string(body)
	r := savedReport{Name: name, Kind: "sql", Shipped: true, SQL: &text, Args: []string{}, Parameters: map[string]string{}}
	for n, l := range strings.Split(text, "\n") {
		l, comment := strings.CutPrefix(l, "-- ")
		if !comment {
			break
		}
		if p, ok := strings.CutPrefix(l, ":"); ok {
			key, value, _ := strings.Cut(p, " ")
			r.Parameters[key] = value
		} else if n == 0 {
			r.Description = transcript.Text(l)
		}
	}
	return r, nil
}

// reports returns the reports of the program and those of the archive, by name. store may be nil.
func reports(ctx context.Context, store *archive.Archive) ([]savedReport, error) {
	files, err := shippedReports.ReadDir("reports")
	if err != nil {
		return nil, err
	}
	var all []savedReport
	for _, f := range files {
		r, err := shippedReport(strings.TrimSuffix(path.Base(f.Name()), ".sql"))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if store == nil {
		return all, nil
	}
	for f, err := range store.Index().Facts(ctx, index.FactReport) {
		if err != nil {
			return nil, err
		}
		var v reportFact
		if err := json.NewDecoder(bytes.NewReader(f.Value)).Decode(&v); err != nil {
			return nil, fmt.Errorf("report %s: %w", f.Key, err)
		}
		r := savedReport{Name: f.Key, Description: transcript.Text(v.Description), Kind: "cost", Args: append([]string{}, v.Args...), Parameters: v.Parameters, Saved: printer.Stamp(v.Saved)}
		if v.SQL != "" {
			r.Kind, r.SQL = "sql", &v.SQL
		}
		if r.Parameters == nil {
			r.Parameters = map[string]string{}
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b savedReport) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// knownReports is reports for commands that need no archive.
func (a *app) knownReports(ctx context.Context) ([]savedReport, error) {
	store, err := a.openReadIfExists(ctx)
	if err != nil {
		return nil, err
	}
	if store != nil {
		defer store.Close()
	}
	return reports(ctx, store)
}

func findReport(all []savedReport, name string) (savedReport, error) {
	i := slices.IndexFunc(all, func(r savedReport) bool { return r.Name == name })
	if i < 0 {
		return savedReport{}, failure.NotFound(fmt.Sprintf("unknown report %q", name), "txarchive report list shows all reports")
	}
	return all[i], nil
}
