package ask_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/query"
)

// answer runs a query over events and over runs. Only what is not supported may be an error.
func answer(t *testing.T, db *ask.Reader, text string) (hits int) {
	t.Helper()
	tree, err := query.Parse(text, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), nil)
	if err != nil {
		return 0
	}
	var unsupported *index.UnsupportedError
	for _, err := range db.Find(t.Context(), tree, index.Page{Limit: 5}) {
		if err != nil && !errors.As(err, &unsupported) {
			t.Fatalf("%.300q: %v", text, err)
		}
		hits++
	}
	for _, err := range db.Runs(t.Context(), index.Selection{Query: tree}, index.Page{Limit: 5}) {
		if err != nil && !errors.As(err, &unsupported) {
			t.Fatalf("%.300q for runs: %v", text, err)
		}
	}
	return hits
}

// everyField has a query for each form of each field.
func everyField() []string {
	var list []string
	for _, f := range query.Fields() {
		list = append(list, f.Example)
		if f.Type == query.Text && f.Values == nil && f.Name != "attr" {
			list = append(list, f.Name+":x", f.Name+":x*", f.Name+":*x*", f.Name+`:""`, f.Name+":*", "-"+f.Name+":x,y*,*z*", f.Name+`:"a'b\"c%_"`)
		}
		for _, v := range f.Values {
			list = append(list, f.Name+":"+v, "NOT "+f.Name+":"+v, "("+f.Name+":"+v+" OR alpha)")
		}
	}
	return append(list, "attr:a", "attr:a.b=c", `attr:"a'b"=c*`, "-attr:x=", "build OR -the", "-build", "-(the shop)", `"the shop" -(bug OR role:tool)`,
		"after:2026-11-20 before:2026-11-21 the", "after:1960 before:1969", "-after:2026-12", "-- OR the", "NEAR", "AND", `"NOT" "OR"`, "t:x", "{t p}", "^a", "a + b")
}

func TestEveryFieldIsAnswered(t *testing.T) {
	db := smallWorld(t)
	for _, text := range everyField() {
		answer(t, db.Reader, text)
	}
}

func TestLongQueries(t *testing.T) {
	db := smallWorld(t)
	for _, text := range []string{
		strings.Repeat("the ", 1000), strings.Repeat("the OR ", 1000) + "the", strings.Repeat("-nothing ", 1000) + "the",
		"run:parent" + strings.Repeat(",x", 500), strings.Repeat("-run:x ", 500) + "the", `"` + strings.Repeat("the ", 5000) + `"`,
		strings.Repeat("(the OR run:x) ", 500), strings.Repeat("-(", 30) + "the" + strings.Repeat(")", 30), strings.Repeat("数", 5000),
		strings.Repeat("th* ", 100), strings.Repeat("th* -sh* ", 500), "project:" + strings.Repeat("x", 60_000), "path:*" + strings.Repeat("Ü", 30_000) + "*", `attr:a="` + strings.Repeat("*", 10_000) + `k"*`,
		"attr:" + strings.Repeat("'", 10_000) + "=x", "role:*" + strings.Repeat("[", 60_000) + "*", "tag:" + strings.Repeat("ſ", 20_000) + "*",
	} {
		if _, err := query.Parse(text, time.Now(), nil); err != nil {
			t.Fatal(err)
		}
		answer(t, db.Reader, text)
	}
}

// FuzzFind runs queries that people might type: every query that parses has an answer.
func FuzzFind(f *testing.F) {
	for _, text := range everyField() {
		f.Add(text)
	}
	path := filepath.Join(f.TempDir(), "index.db")
	var db *sqlite.DB
	f.Fuzz(func(t *testing.T, text string) {
		if db == nil {
			var err error
			if db, err = sqlite.Open(t.Context(), path, sqlite.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		answer(t, db.Reader, text)
	})
}
