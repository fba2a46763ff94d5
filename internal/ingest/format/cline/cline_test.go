package cline

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzUI(f *testing.F) { formattest.Fuzz(f, New(), roleUI, "tasks/1780000000000/ui_messages.json") }
func FuzzAPI(f *testing.F) {
	formattest.Fuzz(f, New(), roleAPI, "tasks/1/api_conversation_history.json")
}
func FuzzSession(f *testing.F) {
	formattest.Fuzz(f, New(), roleSession, "sessions/s-1/s-1.messages.json")
}
func FuzzHistory(f *testing.F) { formattest.Fuzz(f, New(), roleHistory, "tasks/1/history_item.json") }

func read(t *testing.T, name string) []transcript.Record {
	t.Helper()
	names, err := filepath.Glob("testdata/" + name)
	if err != nil || len(names) != 1 {
		t.Fatal(err, names)
	}
	content, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	o := &formattest.Original{Path: filepath.ToSlash(names[0]), Bytes: content}
	o.Claim = formattest.Detect(New(), o.Path, content)
	return formattest.Check(t, New(), o.Input(content))
}

// family collects the records of one task's files; a file whose path repeats is a later state.
func family(all ...[]transcript.Record) *transcript.Family {
	f := &transcript.Family{Run: &transcript.Run{}}
	for _, records := range all {
		for _, r := range records {
			switch r := r.(type) {
			case *transcript.Usage:
				u := *r
				f.Usage = append(f.Usage, &u)
			case *transcript.Hint:
				f.Hints = append(f.Hints, r)
			}
		}
	}
	return f
}

// TestModels checks that requests of a Roo task, which state no model, get it from the environment details.
func TestModels(t *testing.T) {
	f := family(read(t, "roo/in/storage/tasks/*1/ui_messages.json"), read(t, "roo/in/storage/tasks/*1/api_conversation_history.json"))
	New().(format.Resolver).Resolve(f)
	for i, want := range []string{"claude-sonnet-4-5", "gpt-5", "gpt-5", "gpt-5"} {
		if got := f.Usage[i].Model; got != want {
			t.Errorf("request %d: model %q, want %q", i, got, want)
		}
	}
}

// TestDeleted rewinds a task: deleted requests count once, by themselves if the archive has them all, else as a sum.
func TestDeleted(t *testing.T) {
	request := func(offset, ts, input int64, sum bool) *transcript.Usage {
		u := &transcript.Usage{Key: fmt.Sprint(ts), Time: timestamp.UnixMilli(ts), Input: transcript.Known(input),
			Origin: transcript.Origin{Offset: offset}}
		if sum {
			u.Attributes = transcript.Attributes{deletedMark: true}
		}
		return u
	}
	for name, c := range map[string]struct {
		states []*transcript.Usage
		want   int64
	}{
		"nothing seen": {[]*transcript.Usage{request(0, 1, 5, false), request(1, 9, 7, true)}, 12},
		"all seen":     {[]*transcript.Usage{request(0, 1, 5, false), request(1, 2, 7, false), request(0, 1, 5, false), request(1, 9, 7, true)}, 12},
		"some seen":    {[]*transcript.Usage{request(0, 1, 5, false), request(1, 2, 7, false), request(0, 1, 5, false), request(1, 9, 11, true)}, 16},
		"two rewinds": {[]*transcript.Usage{request(0, 1, 5, false), request(1, 2, 7, false),
			request(0, 1, 5, false), request(1, 9, 7, true), request(2, 10, 3, false),
			request(0, 1, 5, false), request(1, 9, 7, true), request(2, 11, 3, true)}, 15},
		"a sum rewound": {[]*transcript.Usage{request(0, 1, 5, false), request(1, 2, 7, false),
			request(0, 1, 5, false), request(1, 9, 7, true), request(0, 10, 12, true)}, 12},
		"rewound without a sum": {[]*transcript.Usage{request(0, 1, 5, false), request(1, 2, 7, false), request(0, 1, 5, false)}, 12},
	} {
		f := &transcript.Family{Run: &transcript.Run{}, Usage: c.states}
		New().(format.Resolver).Resolve(f)
		counted := map[string]int64{}
		for _, u := range f.Usage {
			if u.Verdict == "" {
				counted[u.Key] = u.Input.N
			}
		}
		got := int64(0)
		for _, n := range counted {
			got += n
		}
		if got != c.want {
			t.Errorf("%s: %d tokens, want %d", name, got, c.want)
		}
	}
}

// TestCopies finds where a session's own messages begin.
func TestCopies(t *testing.T) {
	const session = "sessions/s/s.messages.json"
	hint := func(key, value string) *transcript.Hint { return &transcript.Hint{Run: "s", Key: key, Value: value} }
	turns := []*transcript.Hint{hint(hintTurn, "1000\t10"), hint(hintTurn, "2000\t200"), hint(hintTurn, "3000\t300"), hint(hintTurn, "2000\t220")} // two at once
	for name, c := range map[string]struct {
		task bool
		more []*transcript.Hint
		want int64
	}{
		"its own":                {false, nil, 0},
		"forked":                 {false, []*transcript.Hint{hint(hintForked, "1500")}, 200},
		"forked, not gone on":    {false, []*transcript.Hint{hint(hintForked, "3500")}, math.MaxInt64},
		"a task, that is there":  {true, []*transcript.Hint{hint(hintResumed, "120")}, 120},
		"a task, that is gone":   {false, []*transcript.Hint{hint(hintResumed, "120")}, 0},
		"a task, and forked":     {true, []*transcript.Hint{hint(hintResumed, "120"), hint(hintForked, "2500")}, 300},
		"forked before anything": {false, []*transcript.Hint{hint(hintForked, "5"), hint(hintForked, "x")}, 10},
	} {
		f := &transcript.Family{Run: &transcript.Run{}, Hints: append(c.more, turns...), Conversations: []*transcript.FamilyConversation{{Path: session, Events: 3, Hints: append(c.more, turns...)}}}
		if c.task {
			f.Conversations = append(f.Conversations, &transcript.FamilyConversation{Path: "tasks/s/ui_messages.json", Events: 1})
		}
		New().(format.Resolver).Resolve(f)
		for i, v := range f.Conversations {
			if want := []int64{c.want, 0}[i]; v.CopiedUntil != want {
				t.Errorf("%s: %s copied until %d, want %d", name, v.Path, v.CopiedUntil, want)
			}
		}
	}
}
