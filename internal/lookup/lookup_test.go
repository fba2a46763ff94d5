package lookup

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/index/sqlite/sqlitetest"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/transcript"
)

// small is an index of indextest.Small, whose source "runs" is root, and the ids that it has.
type small struct {
	*sqlite.DB
	root                            string
	parent, child, conversation, of string // runs; the conversations of the parent and of the child
}

func openSmall(t *testing.T, more ...indextest.Original) small {
	t.Helper()
	s := small{DB: sqlitetest.Open(t, filepath.Join(t.TempDir(), "index.db")), root: t.TempDir()}
	b := indextest.Batch("p1", append(indextest.Small(), more...)...)
	value, err := json.Marshal(source.Source{Root: s.root, Added: indextest.Epoch})
	if err != nil {
		t.Fatal(err)
	}
	b.Facts = []index.FactRow{{Fact: blob.Fact{Kind: source.Fact, Key: "runs", Time: indextest.Epoch, Value: value}, Pack: "p1"}}
	if err := s.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for r, err := range s.Runs(t.Context(), index.Selection{}, index.Page{}) {
		if err != nil {
			t.Fatal(err)
		}
		run, conversation := &s.parent, &s.conversation
		if r.NativeID == "child" {
			run, conversation = &s.child, &s.of
		}
		if r.NativeID == "parent" || r.NativeID == "child" {
			*run = r.ID
			for c, err := range s.Conversations(t.Context(), r.ID) {
				if err != nil {
					t.Fatal(err)
				}
				if *conversation == "" { // the other has what does not count
					*conversation = c.ID
				}
			}
		}
	}
	return s
}

// wantFailure checks the code of an error and what its text and hint contain together.
func wantFailure(t *testing.T, what string, err error, code int, contains ...string) {
	t.Helper()
	e, ok := errors.AsType[*failure.Error](err)
	if !ok || e.Code != code {
		t.Errorf("%s: %v, want an error with code %d", what, err, code)
		return
	}
	for _, part := range contains {
		if !strings.Contains(e.Text+"\n"+e.Hint, part) {
			t.Errorf("%s: %q, %q, want %q in it", what, e.Text, e.Hint, part)
		}
	}
}

func TestResolve(t *testing.T) {
	s := openSmall(t)
	parent := Target{Run: s.parent}
	conversation := Target{Run: s.parent, Conversation: s.conversation}
	id := ""
	for n := 1; id == "" && n < 20; n++ { // of the event with two parts
		if rows, err := s.Event(t.Context(), fmt.Sprintf("%s:%d", s.conversation, n)); err == nil && len(rows) == 2 {
			id = fmt.Sprintf(":%d", n)
		}
	}
	event := Target{Run: s.parent, Conversation: s.conversation, Event: s.conversation + id}
	for name, want := range map[string]Target{
		s.parent:                        parent,
		s.parent[:8]:                    parent,
		"parent":                        parent,
		s.conversation:                  conversation,
		s.conversation[:8]:              conversation,
		s.conversation + id:             event,
		s.conversation[:8] + id:         event,
		s.conversation + id + ".2":      {Run: s.parent, Conversation: s.conversation, Event: s.conversation + id + ".2"},
		" '" + s.parent + "',\n":        parent,
		strings.ToUpper(s.conversation): conversation,
		"`" + s.conversation + id + "`": event,
		"child":                         {Run: s.child},
	} {
		if got, err := Resolve(t.Context(), s, name); err != nil || got != want {
			t.Errorf("%q: %+v (%v), want %+v", name, got, err, want)
		}
	}
	for name, hint := range map[string]string{
		"r000000":                  "`txarchive search WORDS` shows ids",
		"":                         "",
		s.parent + ":1":            "events are numbered by conversation",
		s.conversation + ":99":     "`txarchive show " + s.conversation + " --last 1` shows its last event",
		s.conversation + id + ".7": "the event has 2 parts: `txarchive show " + s.conversation + id + "`",
	} {
		_, err := Resolve(t.Context(), s, name)
		wantFailure(t, name, err, failure.ExitNotFound, hint)
	}
}

// TestResolveAmbiguous: a name that two things have is an error that names both.
func TestResolveAmbiguous(t *testing.T) {
	other := indextest.Original{Source: "elsewhere", Path: "parent.jsonl", Format: "leslie", Role: "transcript", Claim: ".", Size: 200, Records: []transcript.Record{
		&transcript.Run{ID: "parent"}, &transcript.Conversation{Run: "parent"},
		&transcript.Event{Run: "parent", Kind: transcript.KindMessage, Time: indextest.At(1), Origin: indextest.Place(0), Parts: []transcript.Part{{Text: "x"}}}}}
	s := openSmall(t, other)
	_, err := Resolve(t.Context(), s, "parent")
	wantFailure(t, "parent", err, failure.ExitUsage, `several things are called "parent"`, "use the id of one: r")
	_, err = Resolve(t.Context(), s, "r")
	wantFailure(t, "r", err, failure.ExitUsage, `several ids start with "r"`, s.parent, s.child)
}

func TestRequireRun(t *testing.T) {
	s := openSmall(t)
	if run, err := Run(t.Context(), s, s.conversation+":1"); err != nil || run != s.parent {
		t.Errorf("the run of an event is %q (%v), want %q", run, err, s.parent)
	}
	if run, err := RequireRun(t.Context(), s, "parent", "hint"); err != nil || run != s.parent {
		t.Errorf("%q (%v), want %q", run, err, s.parent)
	}
	_, err := RequireRun(t.Context(), s, s.conversation, "name its run")
	wantFailure(t, "a conversation", err, failure.ExitUsage, "is not a run", "name its run")
}

// TestVersion takes names as people type them: as in the archive, as on this machine, or the id of what a file holds.
func TestVersion(t *testing.T) {
	s := openSmall(t)
	for _, c := range []struct {
		name   string
		number int
		want   string
		is     int
	}{
		{"runs/child.jsonl", 0, "child.jsonl", 1},
		{"runs/parent.jsonl", 0, "parent.jsonl", 2},
		{"runs/parent.jsonl", 1, "parent.jsonl", 1},
		{filepath.Join(s.root, "mirror", "parent.jsonl"), 0, "mirror/parent.jsonl", 2},
		{"child", 0, "child.jsonl", 1},
		{s.of, 0, "child.jsonl", 1},
		{s.of + ":1", 0, "child.jsonl", 1},
	} {
		if v, err := Version(t.Context(), s, c.name, c.number); err != nil || v.Path != c.want || v.Number != c.is {
			t.Errorf("%s, version %d: %s, version %d (%v), want %s, %d", c.name, c.number, v.Path, v.Number, err, c.want, c.is)
		}
	}
	_, err := Version(t.Context(), s, "runs/child.jsonl", 9)
	wantFailure(t, "a version that is not there", err, failure.ExitNotFound, "has no version 9")
	_, err = Version(t.Context(), s, "runs/nothing", 0)
	wantFailure(t, "a file that is not there", err, failure.ExitNotFound, "no file runs/nothing")
	_, err = Version(t.Context(), s, "parent", 0)
	wantFailure(t, "a run of several files", err, failure.ExitUsage, "stored in 2 files", "runs/mirror/parent.jsonl", "runs/parent.jsonl")
}

func TestFile(t *testing.T) {
	s := openSmall(t)
	unknown := errors.New("nothing of this name")
	if what, err := File(t.Context(), s, "runs/child.jsonl", unknown); err != nil || what != (Target{Run: s.child, Conversation: s.of}) {
		t.Errorf("%+v (%v), want the conversation of the child", what, err)
	}
	if _, err := File(t.Context(), s, "runs/nothing", unknown); !errors.Is(err, unknown) {
		t.Errorf("%v, want the error for what is not known", err)
	}
	_, err := File(t.Context(), s, "runs/notes.txt", unknown)
	wantFailure(t, "a file without a conversation", err, failure.ExitNotFound, "no conversation in runs/notes.txt", "txarchive cat")
}

func TestName(t *testing.T) {
	s := openSmall(t)
	known, err := source.All(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	known = append(known, source.Named{Name: "inner", Source: source.Source{Root: filepath.Join(s.root, "mirror")}})
	for abs, want := range map[string]string{
		filepath.Join(s.root, "child.jsonl"):            "runs/child.jsonl",
		filepath.Join(s.root, "mirror", "parent.jsonl"): "runs/mirror/parent.jsonl", // it is stored under this name
		filepath.Join(s.root, "mirror", "new.jsonl"):    "inner/new.jsonl",
		filepath.Join(s.root, "new.jsonl"):              "runs/new.jsonl",
		"/elsewhere/x":                                  "/elsewhere/x",
	} {
		if got, err := Name(t.Context(), s, known, abs); err != nil || got != want {
			t.Errorf("%s: %s (%v), want %s", abs, got, err, want)
		}
	}
}
