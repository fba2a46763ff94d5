package sqlite

import (
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/transcript"
)

// briefOriginal states the same of a run and of its conversation.
func briefOriginal(path, title string, later int64, attributes transcript.Attributes) indextest.Original {
	zoned := func(seconds int64) transcript.Time {
		at := indextest.At(seconds)
		at.Offset = int16(60 + seconds)
		return at
	}
	r := &transcript.Run{ID: "run", Group: "group", Project: "project", Branch: "branch", Flow: "flow", Title: title, Agent: "agent", Model: "model", Host: "host",
		Version: "version", Status: "status", Outcome: "failed", Error: "error of " + title, Stub: true, Child: true, Started: zoned(later), Ended: zoned(later + 9), Attributes: attributes}
	v := &transcript.Conversation{Run: "run", Title: title, Status: "status", Engine: "engine", Step: "step", Started: r.Started, Ended: r.Ended, Attributes: attributes}
	return indextest.Original{Source: "src", Path: path, Format: "leslie", Claim: ".", Size: 1000, ChunkSize: 3, Records: []transcript.Record{r, v,
		message("run", 0, "one "+path, later), message("run", 1, "two "+path, later+1),
		&transcript.Run{ID: "run", Branch: "another branch"}, &transcript.Conversation{Run: "run", Mode: "mode"}}}
}

func message(run string, n int, text string, seconds int64) *transcript.Event {
	return &transcript.Event{Run: run, Kind: transcript.KindMessage, Origin: indextest.Place(n), Time: indextest.At(seconds), Parts: []transcript.Part{{Text: text}}}
}

// TestBrief: a run of one original keeps once what its rows had four times, and nothing tells that, whatever comes later.
func TestBrief(t *testing.T) {
	hard := transcript.Attributes{"a": "\"\\\x00\u2028<é>", "n": int64(15), "f": 1e300, "yes": true}
	first := briefOriginal("first", "title \"\x00é", 5, hard)
	whole := first
	whole.ChunkSize = 0
	rewritten := briefOriginal("first", "rewritten", 3, nil)
	rewritten.Number, rewritten.ChunkSize = 2, 0
	for name, later := range map[string]index.Batch{
		"nothing":          {},
		"another original": indextest.Batch("other", briefOriginal("other", "title \"\x00f", 4, transcript.Attributes{"n": int64(16), "yes": "no"})),
		"a newer version":  indextest.Batch("newer", rewritten),
		"parsed again":     {Parsed: indextest.Batch("", whole).Parsed},
		"the rest":         {Parsed: indextest.Batch("", first).Parsed[1:]},
		"only the rest":    {Parsed: indextest.Batch("", first).Parsed[1:]},
	} {
		if name == "only the rest" { // as a collector tells it that has forgotten what the beginning states
			p := later.Parsed[0]
			p.Runs, p.Continued = []*transcript.Run{{ID: "run", Branch: "another branch"}}, map[string]bool{"run": true}
			p.Conversations[0].Conversation, p.Conversations[0].Continued = transcript.Conversation{Run: "run", Mode: "mode"}, true
		}
		begin := indextest.Batch("begin", whole)
		if strings.HasSuffix(name, "the rest") {
			begin = indextest.Batch("begin", first)
			begin.Parsed = begin.Parsed[:1]
		}
		db := newDB(t)
		add := func(db *DB, b index.Batch) {
			if err := db.Commit(t.Context(), b); err != nil {
				t.Fatal(name, err)
			}
		}
		add(db, begin)
		var brief, left int
		if err := db.r.QueryRow(`SELECT count(*), sum(r.brief + (k.stated GLOB '{"Brief"*') + (t.stated GLOB '{"Brief"*') + (c.title IS NULL) + (c.attributes IS NULL))
			FROM runs r, run_claims k, transcripts t, conversations c`).Scan(&brief, &left); err != nil || brief != 1 || left != 5 {
			t.Fatalf("%s: of %d runs %d rows are brief (%v)", name, brief, left, err)
		}
		add(db, later)
		spelled := newDB(t) // another original makes the run not brief, and goes again
		extra := indextest.Batch("extra", briefOriginal("extra", "extra", 1, nil))
		add(spelled, extra)
		add(spelled, begin)
		add(spelled, later)
		tombstone := func(db *DB) {
			add(db, index.Batch{Facts: []index.FactRow{{Pack: "x", Fact: blob.NewTombstone(&extra.Pack.Versions[0], "").Fact(indextest.Epoch)}}})
		}
		tombstone(spelled)
		got, want := append(dumpViews(t, db), statements(t, db)...), append(dumpViews(t, spelled), statements(t, spelled)...)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s\nwant %s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// statements are all that originals which are there state of runs and conversations.
func statements(t *testing.T, db *DB) []string {
	t.Helper()
	var all []string
	if err := db.r.Select(&all, "SELECT 'run ' || "+schema.StatedRun+` FROM run_claims k JOIN run_names n ON n.id = k.run_name JOIN runs r ON r.id = n.run
		UNION ALL SELECT 'conversation ' || `+schema.StatedConversation+` FROM transcripts t JOIN run_names n ON n.id = t.run_name JOIN runs r ON r.id = n.run`); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		what, text, _ := strings.Cut(all[i], " ")
		var out string
		var err error
		if what == "run" {
			var said *transcript.Run
			if said, err = schema.UnmarshalRun([]byte(text), "", 0); err == nil {
				out, err = schema.MarshalRun(said)
			}
		} else {
			var said transcript.Conversation
			if err = schema.UnmarshalConversation([]byte(text), &said); err == nil {
				out, err = schema.MarshalConversation(&said, false)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		all[i] = what + " " + out
	}
	slices.Sort(all)
	return all
}
