package report

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

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// shipped are SQL statements. The first line describes the report; the following lines that begin with -- : name parameters and
// their defaults.
//
//go:embed shipped/*.sql
var shipped embed.FS

// Saved is a report with a name: a statement of SQL, or the arguments of `cost`.
type Saved struct {
	Name        string            `json:"name"`
	Description transcript.Text   `json:"description"`
	Kind        string            `json:"kind"` // sql or cost
	Shipped     bool              `json:"shipped"`
	SQL         *string           `json:"sql"`
	Args        []string          `json:"args"`       // of cost
	Parameters  map[string]string `json:"parameters"` // of SQL, with their defaults
	Saved       printer.Timestamp `json:"saved"`
}

// Fact is how the archive stores a report under its name.
type Fact struct {
	Description string            `json:"description"`
	SQL         string            `json:"sql,omitempty"`
	Args        []string          `json:"args,omitempty"`
	Parameters  map[string]string `json:"parameters,omitempty"`
	Saved       time.Time         `json:"saved"`
}

// Shipped reads a report that is part of the program.
func Shipped(name string) (Saved, error) {
	body, err := shipped.ReadFile("shipped/" + name + ".sql")
	if err != nil {
		return Saved{}, err
	}
	text := string(body)
	r := Saved{Name: name, Kind: "sql", Shipped: true, SQL: &text, Args: []string{}, Parameters: map[string]string{}}
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

// All returns the reports of the program and those of the archive, by name. facts may be nil.
func All(ctx context.Context, facts index.FactReader) ([]Saved, error) {
	files, err := shipped.ReadDir("shipped")
	if err != nil {
		return nil, err
	}
	var all []Saved
	for _, f := range files {
		r, err := Shipped(strings.TrimSuffix(path.Base(f.Name()), ".sql"))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if facts == nil {
		return all, nil
	}
	for f, err := range facts.Facts(ctx, index.FactReport) {
		if err != nil {
			return nil, err
		}
		var v Fact
		if err := json.NewDecoder(bytes.NewReader(f.Value)).Decode(&v); err != nil {
			return nil, fmt.Errorf("report %s: %w", f.Key, err)
		}
		r := Saved{Name: f.Key, Description: transcript.Text(v.Description), Kind: "cost", Args: append([]string{}, v.Args...), Parameters: v.Parameters, Saved: printer.Stamp(v.Saved)}
		if v.SQL != "" {
			r.Kind, r.SQL = "sql", &v.SQL
		}
		if r.Parameters == nil {
			r.Parameters = map[string]string{}
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b Saved) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Find returns the report of a name.
func Find(all []Saved, name string) (Saved, error) {
	i := slices.IndexFunc(all, func(r Saved) bool { return r.Name == name })
	if i < 0 {
		return Saved{}, failure.NotFound(fmt.Sprintf("unknown report %q", name), "txarchive report list shows all reports")
	}
	return all[i], nil
}
