package search

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

var recallCorpus = flag.String("corpus", "", "directories, separated by commas, of transcripts that are asked random questions too")

// TestFindsEverythingInSamples does what TestFindsEverything does with real originals. Their texts are read by the
// parsers from the files as they lie there; what crosses originals comes from the views that docs/sql.md promises.
func TestFindsEverythingInSamples(t *testing.T) {
	corpora := [][]string{globbed(t, "../../testdata/runs/*")}
	for _, dir := range strings.FieldsFunc(*recallCorpus, func(r rune) bool { return r == ',' }) {
		corpora = append(corpora, []string{dir})
	}
	for _, dirs := range corpora {
		t.Run(filepath.Base(filepath.Dir(dirs[0]))+"/"+filepath.Base(dirs[0]), func(t *testing.T) {
			s := scribe{seedtest.Rand(t)}
			store := ingested(t, dirs)
			rows := sampleRows(t, store)
			t.Logf("%d rows", len(rows))
			if len(rows) == 0 {
				t.Fatalf("%s has no transcripts that could be asked about", dirs[0])
			}
			searcher := &Searcher{Index: store.Index(), Texts: store, Now: func() time.Time { return now }}
			for range *recallQueries {
				compareHits(t, searcher, rows, s.ask(rows, 2), Options{AllVersions: s.IntN(6) == 0})
			}
		})
	}
}

func globbed(t *testing.T, pattern string) []string {
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	return all
}

// ingested makes an archive of some directories.
func ingested(t *testing.T, dirs []string) *archive.Archive {
	t.Helper()
	ctx, home := t.Context(), filepath.Join(t.TempDir(), "archive")
	options := archive.Options{Decode: all.Decode, Layer: ingest.Layer(all.Formats())}
	if err := archive.Create(ctx, home, options); err != nil {
		t.Fatal(err)
	}
	store, err := archive.Open(ctx, home, archive.Write, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	g := &ingest.Ingester{Packs: store.Packs(), Originals: store.Library(), Index: store.Index(), Formats: all.Formats(), Prices: price.Default(),
		Writer: store.WriterID(), Now: func() time.Time { return indextest.Epoch }}
	roots, err := source.Resolve(ctx, store.Index(), dirs)
	if err == nil {
		_, err = g.Run(ctx, roots)
	}
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// sampleReader gathers the rows of an archive.
type sampleReader struct {
	t      *testing.T
	store  *archive.Archive
	parsed map[at]*parsedPart
	wrong  map[string]bool // versions with problems
}

// at is a place of a row or record: source, path and version, layer, offset and part.
type at struct {
	version, inner string
	offset         int64
	part           int
}

// parsedPart is what a parser said of a row.
type parsedPart struct {
	text   string
	touch  []string
	failed bool
	cut    bool
	seen   bool
}

// table is the answer of a statement, a map a row.
func (s *sampleReader) table(sql string) (out []map[string]any) {
	s.t.Helper()
	var names []string
	err := s.store.Index().Query(s.t.Context(), index.Question{SQL: sql, Rows: 10_000_000, Time: 10 * time.Minute}, func(columns []string) error {
		names = slices.Clone(columns)
		return nil
	}, func(values []any) error {
		row := make(map[string]any, len(values))
		for i, v := range values {
			row[names[i]] = v
		}
		out = append(out, row)
		return nil
	})
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

func integer(v any) *int64 {
	if n, ok := v.(int64); ok {
		return &n
	}
	return nil
}

func versionOf(r map[string]any) string {
	return str(r["source"]) + "\x00" + str(r["path"]) + "\x00" + string(rune('0'+*integer(r["version"])))
}

func placeOf(r map[string]any) at {
	return at{versionOf(r), str(r["inner"]), *integer(r["offset"]), 0}
}

// parse reads every original with its parser.
func (s *sampleReader) parse() {
	ctx := s.t.Context()
	sources := map[string]string{}
	for f, err := range s.store.Index().Facts(ctx, "source") {
		if err != nil {
			s.t.Fatal(err)
		}
		var v struct{ Path string }
		if err := json.Unmarshal(f.Value, &v); err != nil {
			s.t.Fatal(err)
		}
		sources[f.Key] = v.Path
	}
	for v, err := range s.store.Index().Versions(ctx, index.VersionFilter{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		f, ok := all.Lookup(v.Format)
		if x, is := f.(format.Exporter); is && len(x.Export(v.Role)) > 0 {
			continue // a database: its rows come from an export
		}
		if ok && v.Role != format.Other {
			s.original(ctx, f, v, filepath.Join(sources[v.Source], filepath.FromSlash(v.Path)))
		}
	}
}

func (s *sampleReader) original(ctx context.Context, f format.Format, v index.FileVersion, path string) {
	var r io.Reader = s.store.Content(ctx, v)
	if file, err := os.Open(path); err == nil {
		defer file.Close()
		r = file
	}
	key := v.Source + "\x00" + v.Path + "\x00" + string(rune('0'+v.Number))
	for rec, err := range f.Parse(format.Input{Path: v.Path, Root: v.Claim, Role: v.Role, Size: v.Size, Reader: r}) {
		if err != nil {
			s.t.Fatal(err)
		}
		switch rec := rec.(type) {
		case *transcript.Problem:
			s.wrong[key] = true
		case *transcript.Event:
			for i, p := range rec.Parts {
				part := &parsedPart{text: strings.Clone(p.Text)}
				if p.Call != nil {
					part.touch = p.Call.Paths
				}
				if p.Result != nil {
					part.failed, part.cut = p.Result.Failed == transcript.Yes, p.Result.Cut
				}
				s.parsed[at{key, rec.Origin.Inner, rec.Origin.Offset + p.Offset, i}] = part
			}
		}
	}
}

// sampleRows gives the rows of an archive as the originals and the views tell them.
func sampleRows(t *testing.T, store *archive.Archive) (rows []row) {
	s := &sampleReader{t: t, store: store, parsed: map[at]*parsedPart{}, wrong: map[string]bool{}}
	s.parse()
	for _, p := range s.table("SELECT source, path, version FROM v_problems WHERE version IS NOT NULL") {
		s.wrong[versionOf(p)] = true
	}
	beside := s.beside()
	conversations, runs := byKey(s.table("SELECT * FROM v_conversations"), "conversation_id"), byKey(s.table("SELECT * FROM v_runs"), "run_id")
	counted := map[string]int64{}
	for _, c := range s.table("SELECT conversation_id, count(*) AS n FROM v_events WHERE counted GROUP BY 1") {
		counted[str(c["conversation_id"])] = *integer(c["n"])
	}
	whole := map[string]map[string]any{} // first parts, by the id of the event
	events := s.table("SELECT * FROM v_events")
	for _, e := range events {
		if id := str(e["event_id"]); *integer(e["part"]) == 1 {
			whole[eventOf(id)] = e
		}
	}
	for _, e := range events {
		c, run := conversations[str(e["conversation_id"])], runs[str(e["run_id"])]
		r := s.row(e, whole[eventOf(str(e["event_id"]))], c, run)
		r.events = counted[str(e["conversation_id"])]
		beside.add(&r, placeOf(e), r.events == 0)
		rows = append(rows, r)
	}
	s.complete()
	return rows
}

func byKey(rows []map[string]any, key string) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, r := range rows {
		out[str(r[key])] = r
	}
	return out
}

// row joins what is said of a row, by itself, the first part of its event, its conversation and its run.
func (s *sampleReader) row(e, head, c, run map[string]any) row {
	attrs, own := map[string][]string{}, map[string]string{} // own: of the event itself
	var tags []string
	for i, of := range []any{head["attributes"], c["attributes"], run["attributes"]} {
		var values map[string]any
		if text := str(of); text != "" {
			d := json.NewDecoder(strings.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&values); err != nil {
				s.t.Fatal(err)
			}
		}
		for k, v := range values {
			if text, ok := scalar(v); ok {
				attrs[k] = append(attrs[k], text)
				switch {
				case i == 0:
					own[k] = text
				case i == 2 && k == "tags":
					tags = index.SplitTags(text)
				}
			}
		}
	}
	verdict := str(e["verdict"])
	r := row{id: str(e["event_id"]), run: str(run["native_id"]), runID: str(e["run_id"]), conversation: str(c["native_id"]), seq: *integer(e["seq"]),
		part: int(*integer(e["part"])) - 1, hidden: verdict != string(transcript.Counted) && verdict != string(transcript.Uncounted),
		kind: str(e["kind"]), role: str(e["role"]), typ: str(e["type"]), tool: str(e["tool"]), format: str(e["format"]),
		agent: cmp.Or(own["agent"], str(c["agent"]), str(run["agent"])), model: cmp.Or(own["model"], str(c["model"]), str(run["model"])),
		flow: cmp.Or(own["flow"], str(c["flow"]), str(run["flow"])), step: cmp.Or(own["step"], str(c["step"])), engine: str(c["engine"]),
		project: cmp.Or(str(c["project"]), str(run["project"])), group: str(run["group_id"]), outcome: str(run["outcome"]),
		statuses: some(str(run["status"]), str(c["status"])), from: own["from"], source: str(e["source"]), path: str(e["path"]), attrs: attrs, tags: tags,
		stub: *integer(run["stub"]) == 1, child: *integer(run["child"]) == 1, problem: s.wrong[versionOf(e)], timeless: e["time_us"] == nil}
	if !r.timeless {
		r.at = *integer(e["time_us"])
	}
	place := placeOf(e)
	place.part = r.part
	if p := s.parsed[place]; p != nil {
		p.seen = true
		r.text, r.touches, r.failed, r.cut = p.text, p.touch, p.failed, p.cut
		return r
	}
	s.unparsed(&r)
	return r
}

// unparsed asks the index for what no parser said here: rows of databases.
func (s *sampleReader) unparsed(r *row) {
	rows, err := s.store.Index().Event(s.t.Context(), r.id)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range rows {
		if e.ID == r.id {
			if r.text, err = s.store.Text(s.t.Context(), e.Place, e.Part); err != nil {
				s.t.Fatal(err)
			}
			r.failed = e.Failed == transcript.Yes
		}
	}
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return map[bool]string{true: "true", false: "false"}[v], true
	}
	return "", false
}

// complete says which texts of originals have no row, though their original has some.
func (s *sampleReader) complete() {
	known := map[string]bool{}
	for place, p := range s.parsed {
		known[place.version] = known[place.version] || p.seen
	}
	for place, p := range s.parsed {
		if known[place.version] && !p.seen {
			s.t.Errorf("no row has the text at %+v", place)
		}
	}
}

// besides is what other views say of places and events.
type besides struct {
	usages    map[string][]usageAt // by version and layer, rising
	steps     map[at][]int64
	durations map[string][]int64 // by event
	results   map[string]bool
}

type usageAt struct {
	from, to int64
	spent
}

func (s *sampleReader) beside() *besides {
	b := &besides{usages: map[string][]usageAt{}, steps: map[at][]int64{}, durations: map[string][]int64{}, results: map[string]bool{}}
	for _, u := range s.table("SELECT * FROM v_usage ORDER BY offset, offset + length") {
		count := func(names ...string) *int64 {
			var sum *int64
			for _, name := range names {
				if n := integer(u[name]); n != nil {
					if sum == nil {
						sum = new(int64)
					}
					*sum += *n
				}
			}
			return sum
		}
		key, from := versionOf(u)+"\x00"+str(u["inner"]), *integer(u["offset"])
		b.usages[key] = append(b.usages[key], usageAt{from, from + *integer(u["length"]), spent{cost: count("cost_nanousd"),
			input: count("input_tokens", "cache_read_tokens", "cache_creation_tokens"), output: count("output_tokens"),
			tokens: count("input_tokens", "cache_read_tokens", "cache_creation_tokens", "output_tokens")}})
	}
	for _, x := range s.table("SELECT *, coalesce(duration_us, ended_us - started_us) AS took FROM v_steps") {
		if n := integer(x["took"]); n != nil {
			b.steps[placeOf(x)] = append(b.steps[placeOf(x)], *n)
		}
	}
	for _, c := range s.table("SELECT event_id, result_event_id, duration_us FROM v_tool_calls") {
		for _, id := range some(str(c["event_id"]), str(c["result_event_id"])) {
			if n := integer(c["duration_us"]); n != nil {
				b.durations[id] = append(b.durations[id], *n)
			}
		}
		b.results[str(c["event_id"])], b.results[str(c["result_event_id"])] = true, true
	}
	return b
}

// add tells a row what stands beside it. What the views do not tell of every row is left unsure.
func (b *besides) add(r *row, place at, empty bool) {
	for _, u := range b.usages[place.version+"\x00"+place.inner] {
		if u.from > place.offset {
			break
		}
		if place.offset < u.to {
			r.usages = append(r.usages, u.spent)
		}
	}
	steps := b.steps[place]
	r.durations = append(slices.Clone(b.durations[r.id]), steps...)
	r.unsure = len(r.durations) > 1 || r.kind == "tool_result" && !b.results[r.id]
	r.uneven = empty
}
