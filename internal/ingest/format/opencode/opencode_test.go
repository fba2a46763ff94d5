package opencode

import (
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

// TestGrowth excepts a file whose first line names no session.
func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "mend.log") }

func FuzzSession(f *testing.F) {
	formattest.Fuzz(f, New(), roleSession, "storage/session/p/ses_1.json")
}
func FuzzMessage(f *testing.F) {
	formattest.Fuzz(f, New(), roleMessage, "storage/message/ses_1/msg_1.json")
}
func FuzzPart(f *testing.F)   { formattest.Fuzz(f, New(), rolePart, "storage/part/msg_1/prt_1.json") }
func FuzzExport(f *testing.F) { formattest.Fuzz(f, New(), roleExport, "saved/ses_1.json") }
func FuzzStream(f *testing.F) { formattest.Fuzz(f, New(), roleStream, "runs/mend.jsonl") }
func FuzzRows(f *testing.F)   { formattest.Fuzz(f, New(), roleRows, "opencode.db/ses_1/msg_1.ndjson") }

// TestMessages checks that steps of a tree get the model and time of their requests from their messages.
func TestMessages(t *testing.T) {
	f := &transcript.Family{}
	for _, o := range formattest.Originals(t, New(), "testdata/tree") {
		for _, r := range o.Records() {
			switch r := r.(type) {
			case *transcript.Usage:
				f.Usage = append(f.Usage, r)
			case *transcript.Hint:
				f.Hints = append(f.Hints, r)
			}
		}
	}
	New().(format.Resolver).Resolve(f)
	if len(f.Roles) != 5 || f.Roles["msg_1"] != "user" || f.Roles["msg_2"] != "assistant" {
		t.Errorf("roles %v", f.Roles)
	}
	for _, u := range f.Usage {
		want := "gpt-5"
		if strings.Contains(u.Key, "msg_2") {
			want = "claude-sonnet-4-5"
		}
		if u.Model != want {
			t.Errorf("%s: model %q, want %q", u.Key, u.Model, want)
		}
		if !u.Time.Valid {
			t.Errorf("%s has no time", u.Key)
		}
	}
}

// TestFree checks that a cost of 0 is free in Kilo's database, and unknown elsewhere.
func TestFree(t *testing.T) {
	const row = `{"table":"message","id":"msg_1","session_id":"ses_k","data":{"role":"assistant","modelID":"claude-sonnet-4-5","cost":0,"tokens":{"input":3}}}`
	for path, want := range map[string]transcript.Count{
		"kilo.db/ses_k/msg_1.ndjson":          transcript.Known(0),
		"kilo-dev.db/ses_k/msg_1.ndjson":      transcript.Known(0),
		"kilo/opencode.db/ses_k/msg_1.ndjson": {},
		"mimocode.db/ses_k/msg_1.ndjson":      {},
	} {
		found := false
		for r, err := range New().Parse(format.Input{Path: path, Role: roleRows, Size: int64(len(row)), Reader: strings.NewReader(row)}) {
			if u, ok := r.(*transcript.Usage); ok && err == nil {
				if found = true; u.Cost != want {
					t.Errorf("%s: cost %+v, want %+v", path, u.Cost, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: no usage", path)
		}
	}
}

// TestCopies finds the messages that a fork copied, and those that version 2 copied from version 1, in all layouts.
func TestCopies(t *testing.T) {
	const tree = "storage/message/ses_a/"
	hint := func(key, value string) *transcript.Hint { return &transcript.Hint{Key: key, Value: value} }
	f := &transcript.Family{Hints: []*transcript.Hint{
		hint(hintV1, "msg_1\t10"), hint(hintV1, "msg_2\t30"), hint(hintV2, "msg_1\t10"), hint(hintV2, "msg_x\t30"), hint(hintV2, "msg_3\t40"),
	}}
	for _, path := range []string{tree + "msg_1.json", "storage/part/msg_2/prt_1.json", "opencode.db/ses_a/msg_1.ndjson",
		"opencode.db/ses_a/msg_1.v2.ndjson", "opencode.db/ses_a/msg_x.v2.ndjson", "opencode.db/ses_a/msg_3.v2.ndjson", "opencode.db/ses_a/session.ndjson"} {
		f.Conversations = append(f.Conversations, &transcript.FamilyConversation{Path: path})
	}
	for _, c := range []struct{ forked, want string }{{"", "...cc.."}, {"20", "c.ccc.."}, {"35", "ccccc.."}, {"50", "cccccc."}} {
		opencode{}.Resolve(&transcript.Family{Conversations: f.Conversations, Hints: append([]*transcript.Hint{hint(hintForked, c.forked)}, f.Hints...)})
		got := ""
		for _, v := range f.Conversations {
			if v.CopiedUntil > 0 {
				got += "c"
			} else {
				got += "."
			}
		}
		if got != c.want {
			t.Errorf("forked at %q: %s, want %s", c.forked, got, c.want)
		}
	}
}

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE `session` (CREATE TABLE `message` (`session_id` CREATE TABLE `part` (`message_id`"
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"opencode/opencode.db", head, format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}},
		{"opencode/opencode-dev.db", head, format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}},
		{"kilo/kilo.db", head, format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}},
		{"mimocode/mimocode-beta.db", head, format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}},
		{"home/ada/.zcode/cli/db/db.sqlite", head, format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}},
		{"work/db/db.sqlite", head, format.Claim{}},
		{"work/db.sqlite/ses_a/msg_1.ndjson", `{"table":"message","id":"msg_1"`, format.Claim{Strength: format.Likely, Role: roleRows}},
		{"work/db.sqlite/ses_a/msg_1.ndjson", `{"table":"users","id":"1"`, format.Claim{}},
		{"mine.sqlite", schema, format.Claim{Strength: format.Likely, Role: roleDatabase, Database: true}},
		{"mine.sqlite", head + "CREATE TABLE `session_v2` (CREATE TABLE `session_message` (`session_id`", format.Claim{Strength: format.Likely, Role: roleDatabase, Database: true}},
		{"mine.sqlite", head, format.Claim{}},
		{"opencode/opencode.db", "no database", format.Claim{}},
		{"opencode/opencode.db-wal", "", format.Claim{}},
	})
}

func TestDetectExport(t *testing.T) {
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"work/.opencode/sessions/fix.json", "{\n  \"info\": {\n    \"id\": \"ses_1\",\n    \"version\": \"1.1\"", format.Claim{Strength: format.Likely, Role: roleExport}},
		{"docs/session/p/a.json", `{"info":{"id":"ses_1","directory":"/w","time":{"created":1}},"messages":[]}`, format.Claim{Strength: format.Likely, Role: roleExport}},
		{"a.json", `{"info":{"title":"an API","version":"1"},"paths":{}}`, format.Claim{}},
		{"a.json", `{"name":"x","info":{"id":"ses_1","version":"1.1"}}`, format.Claim{}},
	})
}

func TestIDTime(t *testing.T) {
	tail := strings.Repeat("a", 14)
	for _, c := range []struct{ id, near, want string }{
		{id: "prt_92e58de00001" + tail, want: "2025-09-09T12:00:00Z"},
		{id: "prt_ffffffffffff" + tail, want: "2026-08-14T11:00:00Z"},
		{id: "prt_000000000000" + tail, want: "2026-08-14T11:00:00Z"}, // the same hour: the count began again
		{id: "prt_02000000c001" + tail, want: "2026-08-20T16:00:00Z"},
		{id: "prt_02000000c001" + tail, near: "2024-06-20T00:00:00Z", want: "2024-06-16T07:00:00Z"},
		{id: "prt_ffffffffffff" + tail, near: "2026-08-14T13:00:00Z", want: "2026-08-14T11:00:00Z"},
		{id: "prt_92e58de00001" + tail, near: "2027-10-20T00:00:00Z", want: "2027-11-13T20:00:00Z"},
		{id: "prt_01"},
		{id: "prt_" + strings.Repeat("z", 26)},
	} {
		var near transcript.Time
		if c.near != "" {
			near = timestamp.Parse(c.near)
		}
		got := idTime(c.id, near)
		if c.want == "" && got.Valid || c.want != "" && timestamp.Parse(c.want).UnixMicro/3600e6 != got.UnixMicro/3600e6 {
			t.Errorf("%s near %q: %s, want %s", c.id, c.near, time.UnixMicro(got.UnixMicro).UTC(), c.want)
		}
	}
}

// TestZCodeInput: the input of Z Code is without the cache where there is more in the cache.
func TestZCodeInput(t *testing.T) {
	for tokens, want := range map[string]int64{
		`{"input":1100,"output":20,"cache":{"read":900,"write":100}}`:                                            100,
		`{"input":100,"output":20,"cache":{"read":900,"write":0}}`:                                               100,
		`{"input":5,"output":20,"cache":{"read":-9000000000000000000,"write":-9000000000000000000}}`:             5,
		`{"input":-9000000000000000000,"output":20,"cache":{"read":900,"write":9000000000000000000,"other":{}}}`: -9000000000000000000,
	} {
		row := `{"table":"message","id":"msg_2","session_id":"sess_a","data":{"role":"assistant","time":{"created":1793955602000},"tokens":` + tokens + `}}`
		found := false
		for _, r := range formattest.Check(t, New(), formattest.Input{Path: ".zcode/cli/db/db.sqlite/sess_a/msg_2.ndjson", Role: roleRows, Bytes: []byte(row)}) {
			if u, ok := r.(*transcript.Usage); ok {
				if found = true; u.Input.N != want {
					t.Errorf("%s: input %d, want %d", tokens, u.Input.N, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: no request", tokens)
		}
	}
}

func FuzzPlan(f *testing.F) {
	formattest.Fuzz(f, New(), rolePlan, "opencode/plans/1793696400000-brave-loom.md")
}
