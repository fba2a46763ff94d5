package opencode

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzSession(f *testing.F) {
	formattest.Fuzz(f, New(), roleSession, "storage/session/p/ses_1.json")
}
func FuzzMessage(f *testing.F) {
	formattest.Fuzz(f, New(), roleMessage, "storage/message/ses_1/msg_1.json")
}
func FuzzPart(f *testing.F) { formattest.Fuzz(f, New(), rolePart, "storage/part/msg_1/prt_1.json") }
func FuzzRows(f *testing.F) { formattest.Fuzz(f, New(), roleRows, "opencode.db/ses_1/msg_1.ndjson") }

// counts are what stats says of the files of a case, and the requests behind it.
type counts struct {
	User, Assistant, Reasoning, Calls, Results, System, Runs, Links, Problems int
	Input, Output, CacheRead, CacheWrite, Cost                                int64
	Requests                                                                  int
}

// folder parses all files of a case.
func folder(t *testing.T, dir string) (all []transcript.Record) {
	t.Helper()
	in := filepath.Join("testdata", dir, "in")
	err := filepath.WalkDir(in, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		o := &formattest.Original{Path: filepath.ToSlash(strings.TrimPrefix(name, in+string(filepath.Separator))), Bytes: content}
		o.Claim = formattest.Detect(New(), o.Path, content)
		if _, ok := o.Content(); ok {
			all = append(all, formattest.Check(t, New(), o.Input(content))...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tally counts records as the archive does: by session, each event and request once, after Resolve.
func tally(all []transcript.Record) (c counts) {
	anchors := map[string]string{} // names of runs -> session
	for _, r := range all {
		if run, ok := r.(*transcript.Run); ok && run.Anchor != "" {
			anchors[run.ID] = run.Anchor
		}
	}
	families := map[string]*transcript.Family{}
	family := func(name string) *transcript.Family {
		if anchor := anchors[name]; anchor != "" {
			name = anchor
		}
		if families[name] == nil {
			families[name] = &transcript.Family{}
		}
		return families[name]
	}
	events, edges := map[*transcript.Family]map[string]*transcript.Event{}, map[[2]transcript.End]bool{}
	var current *transcript.Family
	for _, r := range all {
		switch r := r.(type) {
		case *transcript.Run:
			if !r.Named && !r.Child {
				c.Runs++
			}
		case *transcript.Conversation:
			current = family(r.Run)
			current.Conversations = append(current.Conversations, &transcript.FamilyConversation{Conversation: *r, Verdict: transcript.Counted})
		case *transcript.Event:
			if events[current] == nil {
				events[current] = map[string]*transcript.Event{}
			}
			events[current][r.ID] = r
		case *transcript.Usage:
			f := family(r.Run)
			f.Usage = append(f.Usage, r)
		case *transcript.Hint:
			f := family(r.Run)
			f.Hints = append(f.Hints, r)
		case *transcript.Link:
			edges[[2]transcript.End{r.From, r.To}] = true
		case *transcript.Problem:
			c.Problems++
		}
	}
	for _, f := range families {
		New().(format.Resolver).Resolve(f)
		if f.Conversations != nil && f.Conversations[0].Verdict == transcript.Counted {
			for _, e := range events[f] {
				c.event(e)
			}
		}
		c.usage(f.Usage)
	}
	c.Links = len(edges)
	return c
}

func (c *counts) usage(all []*transcript.Usage) {
	seen := map[string]bool{}
	for _, u := range all {
		if u.Verdict != "" || seen[u.Key] {
			continue
		}
		seen[u.Key] = true
		c.Requests++
		c.Input += u.Input.N
		c.Output += u.Output.N
		c.CacheRead += u.CacheRead.N
		c.CacheWrite += u.CacheWrite.N
		c.Cost += u.Cost.N / 1000
	}
}

func (c *counts) event(e *transcript.Event) {
	switch {
	case e.Verdict != transcript.Counted:
	case e.Kind == transcript.KindMessage && e.Role == "user":
		c.User++
	case e.Kind == transcript.KindMessage:
		c.Assistant++
	case e.Kind == transcript.KindReasoning:
		c.Reasoning++
	case e.Kind == transcript.KindToolCall:
		c.Calls++
	case e.Kind == transcript.KindToolResult:
		c.Results++
	default:
		c.System++
	}
}

// TestCounts has every number worked out by hand from the files of the cases.
func TestCounts(t *testing.T) {
	for name, want := range map[string]counts{
		// The steps of msg_2, the totals of msg_4, which has none, and of msg_5, whose session is lost.
		"tree": {User: 2, Assistant: 2, Reasoning: 1, Calls: 4, Results: 3, System: 2, Runs: 1, Links: 1, Problems: 2,
			Input: 15 + 900 + 1, Output: 140 + 100 + 2, CacheRead: 2900, CacheWrite: 2500, Cost: 30000, Requests: 4},
		"early": {User: 1, Runs: 1},
		"rows": {User: 1, Assistant: 1, Reasoning: 1, Calls: 1, Results: 1, System: 1, Links: 1, Problems: 1,
			Input: 8, Output: 32, CacheRead: 2602, CacheWrite: 1, Cost: 500000, Requests: 2},
		"elsewhere": {},
	} {
		if got := tally(folder(t, name)); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
}

// TestModels names the model of each request of a tree, where messages and steps are different files.
func TestModels(t *testing.T) {
	f := &transcript.Family{}
	for _, r := range folder(t, "tree") {
		switch r := r.(type) {
		case *transcript.Usage:
			f.Usage = append(f.Usage, r)
		case *transcript.Hint:
			f.Hints = append(f.Hints, r)
		}
	}
	New().(format.Resolver).Resolve(f)
	for _, u := range f.Usage {
		want := "gpt-5"
		if strings.Contains(u.Key, "msg_2") {
			want = "claude-sonnet-4-5"
		}
		if u.Model != want {
			t.Errorf("%s: model %q, want %q", u.Key, u.Model, want)
		}
	}
}

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE `session` (CREATE TABLE `message` (`session_id` CREATE TABLE `part` (`message_id`"
	for _, c := range []struct {
		path, bytes string
		want        format.Claim
	}{
		{"opencode/opencode.db", head, format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}},
		{"opencode/opencode-dev.db", head, format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}},
		{"kilo/kilo.db", head, format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}},
		{"mine.sqlite", schema, format.Claim{Strength: format.Likely, Role: roleDatabase, Database: true}},
		{"mine.sqlite", head, format.Claim{}},
		{"opencode/opencode.db", "no database", format.Claim{}},
		{"opencode/opencode.db-wal", "", format.Claim{}},
	} {
		if got := formattest.Detect(New(), c.path, []byte(c.bytes)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.path, got, c.want)
		}
	}
}

func TestIDTime(t *testing.T) {
	for id, want := range map[string]string{
		"prt_92e58de00001" + strings.Repeat("a", 14): "2025-09-09T12:00:00Z",
		"prt_01":                         "",
		"prt_" + strings.Repeat("z", 26): "",
	} {
		got := idTime(id)
		if want == "" && got.Valid || want != "" && format.Time(want).UnixMicro/3600e6 != got.UnixMicro/3600e6 {
			t.Errorf("%s: %v, want %s", id, got, want)
		}
	}
}
