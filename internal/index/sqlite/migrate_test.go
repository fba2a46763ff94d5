package sqlite

import (
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
	"github.com/txarchive/txarchive/migrations"
)

// TestBriefUpgrade: an index from before runs were brief shows the same rows, and its runs have the keys that they had.
func TestBriefUpgrade(t *testing.T) {
	keyless := indextest.Original{Source: "src", Path: "keyless", Format: "chibi", Claim: ".", Size: 1000, Records: []transcript.Record{
		&transcript.Run{ID: "default", Local: true, Anchor: "began", Anchored: true}, &transcript.Conversation{Run: "default"}, message("default", 0, "word", 1)}}
	db := newDB(t)
	if err := db.Commit(t.Context(), indextest.Batch("p", append(indextest.Small(), keyless)...)); err != nil {
		t.Fatal(err)
	}
	keys := func(db *DB) (all []string) {
		if err := db.r.Select(&all, "SELECT run_id || ' ' || brief || ' ' || key FROM runs ORDER BY run_id"); err != nil {
			t.Fatal(err)
		}
		return all
	}
	want, wantKeys := dumpViews(t, db), keys(db)
	if n := len(slices.DeleteFunc(slices.Clone(wantKeys), func(s string) bool { return strings.Contains(s, " 0 ") })); n > 0 || !slices.ContainsFunc(wantKeys, func(s string) bool { return strings.HasSuffix(s, " 0 ") }) {
		t.Fatalf("not the runs that an older program has written: %q", wantKeys)
	}
	script, err := migrations.SQLite.ReadFile("sqlite/00008_conversations.sql")
	if err != nil {
		t.Fatal(err)
	}
	oldView, _, _ := strings.Cut(string(script), "-- +goose Down")
	if _, err := db.w.Exec(oldView + `;
		ALTER TABLE runs ADD COLUMN old TEXT NOT NULL DEFAULT '';
		UPDATE runs SET old = key;
		ALTER TABLE runs DROP COLUMN key;
		ALTER TABLE runs RENAME COLUMN old TO key;
		ALTER TABLE runs DROP COLUMN keyless;
		ALTER TABLE runs DROP COLUMN brief;
		ALTER TABLE chains DROP COLUMN apart;
		ALTER TABLE versions DROP COLUMN archived;
		DELETE FROM goose_db_version WHERE version_id >= 12`); err != nil {
		t.Fatal(err)
	}
	again := reopened(t, db)
	if got := dumpViews(t, again); !slices.Equal(got, want) {
		t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := keys(again); !slices.Equal(got, wantKeys) {
		t.Errorf("keys %q, want %q", got, wantKeys)
	}
}

// TestForksUpgrade: of the links that an older program has derived from copied events, those go that stated links tell.
func TestForksUpgrade(t *testing.T) {
	run := func(i int, id, of string) indextest.Original {
		o := original(i)
		if o.Records = (records{&transcript.Run{ID: id}, event(id, "one", true, 0)}); of != "" {
			o.Records = append(o.Records, &transcript.Link{Kind: "fork", From: transcript.End{Type: "run", ID: of}, To: transcript.End{Type: "run", ID: id}})
		}
		return o
	}
	db := newDB(t)
	if err := db.Commit(t.Context(), indextest.Batch("p", run(0, "c", "b"), run(1, "b", "a"), run(2, "a", ""), run(3, "e", ""))); err != nil {
		t.Fatal(err)
	}
	const derived = "SELECT from_id || to_id FROM links WHERE derived = 1 ORDER BY 1"
	want := scalars(t, db, derived)
	if len(want) == 0 {
		t.Fatal("nothing was copied to a run that states no fork")
	}
	const as = `INSERT INTO links (version, edge, kind, from_type, from_scope, from_id, from_conversation, to_type, to_scope, to_id, to_conversation, format,
		statement, uncounted, derived, line, offset, length) SELECT version, edge + 1, kind, from_type, from_scope, ?, '', to_type, to_scope, ?, '', format, statement, 0, 1, 0, 0, 0
		FROM links WHERE derived = 0 LIMIT 1`
	for _, ends := range []string{"cb", "ca", "ac", "ec"} {
		if _, err := db.w.Exec(as, ends[:1], ends[1:]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.w.Exec("DELETE FROM goose_db_version WHERE version_id >= 15"); err != nil {
		t.Fatal(err)
	}
	again := reopened(t, db)
	if got := scalars(t, again, derived); !slices.Equal(got, want) {
		t.Errorf("derived links %q, want %q", got, want)
	}
}

func scalars(t *testing.T, db *DB, query string) (all []string) {
	t.Helper()
	if err := db.r.Select(&all, query); err != nil {
		t.Fatal(err)
	}
	return all
}

// reopened closes an index and opens its file again, which migrates it.
func reopened(t *testing.T, db *DB) *DB {
	t.Helper()
	path := db.Path()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	})
	return again
}
