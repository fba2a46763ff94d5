package sqlite

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestStated: however an event is kept, views and answers tell what it states.
func TestStated(t *testing.T) {
	cases := []struct {
		event transcript.Event
		want  string
		query string // finds it alone; "" for none
	}{
		{transcript.Event{}, "", ""},
		{transcript.Event{ID: "0a1b2c3d-4e5f-6789-abcd-ef0123456789"}, `{"id":"0a1b2c3d-4e5f-6789-abcd-ef0123456789"}`, "attr:id=0a1b2c3d-4e5f*"},
		{transcript.Event{ID: "1A1B2C3D-4e5f-6789-abcd-ef0123456789"}, `{"id":"1A1B2C3D-4e5f-6789-abcd-ef0123456789"}`, ""},
		{transcript.Event{ID: "2a1b2c3d-4e5f-6789-abcd-ef012345678x"}, `{"id":"2a1b2c3d-4e5f-6789-abcd-ef012345678x"}`, "attr:id=*678x"},
		{transcript.Event{ID: "00000000-0000-0000-0000-000000000000", Model: `a "b"`}, `{"id":"00000000-0000-0000-0000-000000000000","model":"a \"b\""}`, "attr:id=0000*"},
		{transcript.Event{ID: `a"b\c/é<&>,`, Agent: "tester"}, `{"id":"a\"b\\c/é<&>,","agent":"tester"}`, "agent:tester"},
		{transcript.Event{Flow: "release", Step: "build", Seq: transcript.Known(7)}, `{"flow":"release","step":"build","seq":7}`, "step:build"},
		{transcript.Event{Seq: transcript.Known(8), Attributes: transcript.Attributes{"seq": int64(1), "done": true, "none": nil, "text": "a,b,"}}, `{"seq":8,"done":true,"none":null,"text":"a,b,"}`, "attr:done=true"},
		{transcript.Event{Attributes: transcript.Attributes{"id": "from attributes", "step": "later"}}, `{"id":"from attributes","step":"later"}`, `attr:id="from attributes"`},
		{transcript.Event{ID: "own", Attributes: transcript.Attributes{"id": "other", "model": ""}}, `{"id":"own","model":""}`, "attr:id=own"},
		{transcript.Event{Attributes: transcript.Attributes{"agent": int64(5), "z": "tail"}}, `{"agent":5,"z":"tail"}`, "attr:z=tail"},
	}
	o := indextest.Original{Source: "src", Path: "run", Format: "awf", Claim: ".", Size: 10000}
	o.Records = append(o.Records, &transcript.Run{ID: "run"}, &transcript.Conversation{Run: "run"})
	for i, c := range cases {
		e := c.event
		e.Run, e.Kind, e.Origin, e.Time = "run", transcript.KindMessage, indextest.Place(i), indextest.At(int64(i))
		e.Parts = []transcript.Part{{Text: "one"}, {Text: "two"}}
		o.Records = append(o.Records, &e)
	}
	db := newDB(t)
	if err := db.Commit(t.Context(), indextest.Batch("p", o)); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		var view *string
		if err := db.r.Get(&view, "SELECT attributes FROM v_events WHERE seq = ? AND part = 1", i+1); err != nil {
			t.Fatal(err)
		}
		answer := hits(t, db, "kind:message one", 0)[len(cases)-1-i]
		rows, err := db.Event(t.Context(), answer)
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		for _, got := range []string{rows[0].Attributes, text(view)} {
			if !sameJSON(t, got, c.want) {
				t.Errorf("%+v: states %s, want %s", c.event, got, c.want)
			}
		}
		if c.query != "" {
			if found := hits(t, db, c.query+" one", 0); len(found) != 1 || found[0] != answer {
				t.Errorf("%s finds %q, want %s", c.query, found, answer)
			}
		}
	}
	var second int
	if err := db.r.Get(&second, "SELECT count(attributes) FROM v_events WHERE part = 2"); err != nil || second > 0 {
		t.Errorf("%d second parts state something again, %v", second, err)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	for _, j := range []struct {
		text string
		to   *any
	}{{a, &x}, {b, &y}} {
		if j.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(j.text), j.to); err != nil {
			t.Errorf("%s: %v", j.text, err)
		}
	}
	return reflect.DeepEqual(x, y)
}

func TestNativeID(t *testing.T) {
	for s, uuid := range map[string]bool{"0a1b2c3d-4e5f-6789-abcd-ef0123456789": true, "0a1b2c3d-4e5f-6789-abcd-ef012345678": false,
		"0a1b2c3d-4e5f-6789-abcd-ef01234567890": false, "0a1b2c3d04e5f-6789-abcd-ef0123456789": false, "0a1b2c3d-4e5f-6789-abcd-EF0123456789": false, "": false} {
		if id := index.ParseNativeID(s); id.IsUUID != uuid || uuid == (id.Text != "") && s != "" {
			t.Errorf("%q: %+v", s, id)
		}
	}
}

// TestLongNativeIDs: the id of an event is in each of its rows, and one that a hostile file has made large must not be.
func TestLongNativeIDs(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	o := indextest.Original{Source: "src", Path: "run", Format: "awf", Claim: ".", Size: 1000}
	o.Records = append(o.Records, &transcript.Run{ID: "run"}, &transcript.Conversation{Run: "run"})
	for i, id := range []string{long + "y", long + "z", long + "z"} {
		o.Records = append(o.Records, &transcript.Event{Run: "run", Kind: transcript.KindMessage, ID: id, Origin: indextest.Place(i), Parts: slices.Repeat([]transcript.Part{{Text: "word"}}, 50)})
	}
	db := newDB(t)
	if err := db.Commit(t.Context(), indextest.Batch("p", o)); err != nil {
		t.Fatal(err)
	}
	var longest, different int
	if err := db.r.QueryRow("SELECT max(length(native)), count(DISTINCT native) FROM events").Scan(&longest, &different); err != nil {
		t.Fatal(err)
	}
	if longest != 16 || different != 2 {
		t.Errorf("ids of %d bytes, %d different ones", longest, different)
	}
}

// TestScenesGo: of an event that was taken out nothing stays, whom it belonged to included.
func TestScenesGo(t *testing.T) {
	o := indextest.Original{Source: "src", Path: "run", Format: "awf", Claim: ".", Size: 1000}
	o.Records = append(o.Records, &transcript.Run{ID: "run"}, &transcript.Conversation{Run: "run"},
		&transcript.Event{Run: "run", Kind: transcript.KindMessage, Agent: "confidential", Origin: indextest.Place(0), Parts: []transcript.Part{{Text: "word"}}})
	b := indextest.Batch("p", o)
	db := newDB(t)
	if err := db.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	scenes := func() (n int) {
		if err := db.r.Get(&n, "SELECT count(*) FROM scenes"); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := scenes(); n != 1 {
		t.Fatalf("%d scenes, want 1", n)
	}
	tomb := index.FactRow{Pack: "q", Fact: blob.NewTombstone(&b.Pack.Versions[0], "").Fact(indextest.Epoch)}
	if err := db.Commit(t.Context(), index.Batch{Facts: []index.FactRow{tomb}}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Purge(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if n := scenes(); n != 0 {
		t.Errorf("%d scenes are left", n)
	}
}
