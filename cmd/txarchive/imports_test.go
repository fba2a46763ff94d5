package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/txarchive/txarchive/"

// doors says what each room may import of ours. A room that is missing here fails the test; so does an arrow that is
// not listed. Names are below internal/, but for cmd/txarchive and migrations.
var doors = map[string][]string{
	// pure
	"transcript": {},
	"term":       {},
	"query":      {},
	"price":      {"transcript"},
	"price/gen":  {"price"},
	"secret":     nil,
	"secret/gen": {"secret"},
	"policy":     {"transcript"},
	"terminal":   {},
	"rows":       {"terminal"},
	"failure":    {}, // and the face may import it
	"status":     {"archive", "disk", "failure", "ingest", "ingest/source", "nightly", "printer", "prometheus", "search", "terminal", "transcript"},
	"suggest":    {"index", "lookup", "printer", "query", "terminal"},
	"report":     {"archive", "chart", "cost", "failure", "index", "ingest", "lookup", "price", "printer", "query", "suggest", "terminal", "transcript"},
	"lookup":     {"failure", "index", "ingest/source", "query", "terminal"},
	"show":       {"archive", "blob", "failure", "index", "lookup", "openai", "printer", "rows", "search", "terminal", "toolcall", "transcript"},
	"printer":    {"failure", "rows", "terminal", "transcript"},
	"doctor":     {"archive", "blob", "disk", "index", "secret", "terminal"},
	"openai":     {"index", "search", "terminal", "toolcall", "transcript"},
	"toolcall":   {"ingest/jsontext"},
	"sqlshell":   {"index", "terminal"},
	"chart":      {"cost", "rows", "terminal"},
	"lazyregexp": {}, // and all may import it
	"typo":       {}, // likewise
	"lru":        {},
	"poison":     {}, // of buffers, in tests
	// stores
	"disk":                   {},
	"blob":                   {},
	"blob/pack":              {"blob", "lru", "poison"},
	"blob/local":             {"blob", "disk"},
	"blob/blobtest":          {"blob"},
	"index/lexicon":          {"term"},
	"index/collect":          {"index", "index/lexicon", "term", "transcript"},
	"index":                  {"transcript", "term", "query", "price", "blob", "index/lexicon"},
	"index/sqlite":           {"index", "index/sqlite/commit", "index/sqlite/words", "index/sqlite/write", "index/sqlite/ask", "index/sqlite/catalog", "index/sqlite/console", "index/sqlite/retention", "index/sqlite/stats", "index/sqlite/usage", "index/sqlite/verify", "index/sqlite/schema", "index/sqlite/engine", "transcript", "price", "disk"},
	"index/sqlite/commit":    {"index", "index/sqlite/resolve", "index/sqlite/words", "index/sqlite/write", "index/sqlite/ask", "index/sqlite/catalog", "index/sqlite/schema", "blob", "transcript"},
	"index/sqlite/ask":       {"index", "index/sqlite/usage", "index/sqlite/where", "index/sqlite/schema", "index/sqlite/engine", "index/sqlite/fts5", "transcript", "term", "query", "blob"},
	"index/sqlite/resolve":   {"index", "index/sqlite/write", "index/sqlite/engine", "index/sqlite/schema", "index/sqlite/catalog", "blob", "price", "transcript"},
	"index/sqlite/words":     {"index", "index/lexicon", "index/sqlite/write", "index/sqlite/engine", "index/sqlite/fts5", "index/sqlite/schema"},
	"index/sqlite/write":     {"index", "index/lexicon", "index/sqlite/engine", "index/sqlite/schema", "index/sqlite/usage", "transcript", "price", "disk", "migrations"},
	"index/sqlite/verify":    {"index/sqlite/ask", "index/sqlite/engine", "index/sqlite/schema"},
	"index/sqlite/console":   {"index", "index/sqlite/engine"},
	"index/sqlite/usage":     {"index", "index/sqlite/engine", "index/sqlite/schema", "index/sqlite/where", "query", "transcript"},
	"index/sqlite/retention": {"blob", "index", "index/sqlite/ask", "index/sqlite/engine", "index/sqlite/fts5", "index/sqlite/schema", "transcript"},
	"index/sqlite/stats":     {"index", "index/sqlite/engine", "index/sqlite/usage", "index/sqlite/where"},
	"index/sqlite/catalog":   {"blob", "index", "index/sqlite/engine"},
	"index/sqlite/where":     {"index", "index/sqlite/schema", "index/sqlite/fts5", "query", "term"},
	"index/sqlite/schema":    {"index", "transcript"},
	"index/sqlite/engine":    {"index", "lru", "transcript"},
	"index/sqlite/fts5":      {},
	"index/indextest":        {"index", "index/lexicon", "index/collect", "blob", "query", "transcript", "price"},
	"migrations":             {},
	"docs":                   {},
	// opens indexes for the tests of others
	"index/sqlite/sqlitetest": {"index/sqlite", "index/sqlite/writetest"},
	"index/sqlite/writetest":  {"index/sqlite/write"},
	// measures the program from outside, and each stage by the functions of its room
	"bench": {"transcript", "term", "price", "blob", "blob/local", "blob/pack", "index", "index/collect", "index/lexicon", "index/sqlite", "index/sqlite/fts5", "archive", "ingest", "ingest/format", "ingest/format/all", "ingest/jsontext", "ingest/source"},
	// one thing
	"archive": {"lru", "disk", "blob", "blob/pack", "blob/local", "index", "index/sqlite", "toolcall", "transcript"},
	// wings
	"backup":                    {"blob", "blob/local", "blob/pack", "disk"},
	"ingest":                    {"ingest/adopt", "ingest/cleaning", "ingest/damaged", "ingest/dbcopy", "ingest/format", "ingest/jsontext", "ingest/layer", "ingest/listing", "ingest/msgpack", "ingest/payload", "ingest/source", "ingest/sourcefs", "ingest/zipped", "disk", "index", "index/collect", "index/lexicon", "blob", "blob/pack", "price", "transcript"},
	"ingest/adopt":              {"blob", "blob/pack", "index"},
	"ingest/cleaning":           {"ingest/format", "ingest/jsontext"},
	"ingest/damaged":            {"blob", "transcript"},
	"ingest/dbcopy":             {"disk"},
	"ingest/listing":            {},
	"ingest/payload":            {"ingest/format", "ingest/layer", "index", "index/collect", "index/lexicon", "blob", "transcript"},
	"ingest/source":             {"disk", "index"},
	"ingest/sourcefs":           {"blob"},
	"ingest/zipped":             {},
	"ingest/timestamp":          {"transcript"},
	"ingest/jsontext":           {"ingest/timestamp", "transcript", "poison"},
	"ingest/layer":              {},
	"ingest/protobuf":           {},
	"ingest/msgpack":            {},
	"ingest/format":             {"ingest/jsontext", "ingest/layer", "ingest/protobuf", "ingest/timestamp", "transcript", "poison"},
	"ingest/format/<name>":      parser,
	"ingest/format/pi":          parser,
	"ingest/format/openclaw":    append(parser, "ingest/format/pi"), // the same entries in other files
	"ingest/format/all":         {"ingest/format", "ingest/format/<name>", "ingest/format/pi", "ingest/format/openclaw"},
	"ingest/format/formattest":  {"ingest/format", "ingest/jsontext", "ingest/layer", "transcript", "seedtest"},
	"repair":                    {"blob", "blob/pack", "index"},
	"search":                    {"index", "query", "term", "transcript"},
	"cost":                      {"index", "query", "price", "transcript"},
	"nightly":                   {"disk"},
	"schedule":                  {"disk"},
	"prometheus":                {}, // the text format, not the server
	"prometheus/prometheustest": {},
	"seedtest":                  {},
	"prune":                     {"prune/gc", "index", "blob", "blob/pack", "policy", "query", "transcript"},
	"prune/gc":                  {"index", "blob", "blob/pack"},
	"cmd/txarchive": {"transcript", "term", "query", "price", "policy", "secret", "archive", "ingest", "ingest/source", "search", "cost", "prune", "prune/gc", "repair", "backup", "nightly", "schedule", "disk", "index", "blob",
		"ingest/format/all", "docs", "failure", "printer", "lookup", "show", "report", "status", "suggest", "terminal", "sqlshell", "doctor", "rows"},
}

// parser is what a format is made of.
var parser = []string{"ingest/format", "ingest/jsontext", "ingest/layer", "ingest/protobuf", "ingest/timestamp", "transcript"}

// fences says in which rooms packages of others may be used. The longest prefix counts; one that is missing here may
// be used nowhere.
var fences = map[string][]string{
	"github.com/ajstarks/svgo":                   {"chart"},
	"github.com/spf13/cobra":                     {"cmd/txarchive"},
	"github.com/spf13/pflag":                     {"cmd/txarchive"},
	"github.com/clipperhouse/displaywidth":       {"terminal"},
	"github.com/clipperhouse/uax29/v2":           {"terminal"},
	"github.com/dustin/go-humanize":              {"terminal"},
	"golang.org/x/term":                          {"terminal"},
	"github.com/peterh/liner":                    {"sqlshell"},
	"github.com/rogpeppe/go-internal/testscript": {"cmd/txarchive"},
	"github.com/jmoiron/sqlx":                    {"index/sqlite", "index/sqlite/write", "index/sqlite/writetest", "index/sqlite/words", "index/sqlite/catalog", "index/sqlite/stats", "index/sqlite/retention", "index/sqlite/usage", "index/sqlite/verify", "index/sqlite/ask", "index/sqlite/engine"},
	"github.com/pressly/goose/v3":                {"index/sqlite/write"},
	"modernc.org/libc":                           {"index/sqlite", "index/sqlite/console", "index/sqlite/engine"},
	"modernc.org/sqlite":                         {"index/sqlite", "index/sqlite/write", "index/sqlite/console", "index/sqlite/engine", "ingest/dbcopy", "bench"},
	"github.com/klauspost/compress":              {"blob/pack", "ingest/layer"},
	"go.yaml.in/yaml/v4":                         {"policy"},
	"github.com/BurntSushi/toml":                 {"secret/gen"},
	"golang.org/x/sys":                           {"disk", "ingest/sourcefs", "index/sqlite/engine"},
	"golang.org/x/sync":                          {"ingest"},
	"google.golang.org/protobuf":                 {"ingest/protobuf"},
	"github.com/bmatcuk/doublestar/v4":           {"ingest/source"},
}

// testFences are rooms whose tests may use more: some look into the index as others would.
var testFences = map[string][]string{"github.com/santhosh-tekuri/jsonschema/v6": {"cmd/txarchive"}, "modernc.org/sqlite": {"cmd/txarchive", "cost", "prune"},
	"golang.org/x/text/unicode/norm": {"search"}, "golang.org/x/sys/unix": {"ingest", "index/sqlite"}}

// impure are packages of the standard library that a format, and what it is made of, may not use: it is a function of bytes.
var impure = []string{"os", "net", "context", "database/sql", "log/slog"}

// isPure reports whether a room is a format or what formats are made of.
func isPure(room string) bool {
	return slices.Contains(parser, room) || path.Dir(room) == "ingest/format" && room != "ingest/format/all" && room != "ingest/format/formattest"
}

type goPackage struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// room is the name of one of our packages in the tables, "" for packages of others.
func room(importPath string) string {
	p, ok := strings.CutPrefix(importPath, module)
	if !ok {
		return ""
	}
	p = strings.TrimPrefix(p, "internal/")
	if _, known := doors[p]; !known && path.Dir(p) == "ingest/format" {
		return "ingest/format/<name>"
	}
	return p
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-pgo=off", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", module+"...")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 20 {
		t.Fatalf("go list names %d packages only", len(all))
	}
	return all
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		from := room(p.ImportPath)
		may, known := doors[from]
		if !known {
			t.Errorf("%s is missing from the table: say what it may import", p.ImportPath)
			continue
		}
		for _, to := range p.Imports {
			if r := room(to); r != "" && r != "lazyregexp" && r != "typo" && !slices.Contains(may, r) {
				t.Errorf("%s imports %s", from, r)
			}
			if isPure(from) && slices.ContainsFunc(impure, func(s string) bool { return to == s || strings.HasPrefix(to, s+"/") }) {
				t.Errorf("%s imports %s: a format is a function of bytes", p.ImportPath, to)
			}
		}
		for i, to := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if room(to) != "" || !strings.Contains(strings.SplitN(to, "/", 2)[0], ".") || slices.Contains(fenced(to), from) {
				continue
			}
			if inTest := i >= len(p.Imports); !inTest || !slices.Contains(testFences[to], from) {
				t.Errorf("%s imports %s: fenced to %v", from, to, fenced(to))
			}
		}
	}
}

// fenced returns the rooms that a package of others is fenced to.
func fenced(importPath string) []string {
	for p := importPath; p != "."; p = path.Dir(p) {
		if rooms, ok := fences[p]; ok {
			return rooms
		}
	}
	return nil
}

// TestNoNetworkCode: the program speaks over no network, not even to fetch prices, and is not made slower to start by code that would.
func TestNoNetworkCode(t *testing.T) {
	out, err := exec.Command("go", "list", "-pgo=off", "-deps", ".").Output()
	must(t, err)
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, "database/sql") {
		t.Fatalf("%d packages, and database/sql is none of them", len(linked))
	}
	for _, p := range []string{"net/http", "crypto/tls"} {
		if slices.Contains(linked, p) {
			t.Errorf("%s is linked", p)
		}
	}
}
