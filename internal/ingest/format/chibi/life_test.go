package chibi

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/transcript"
)

// TestCases counts the golden cases as one archive would: a view adds nothing, a file that stands alone counts.
func TestCases(t *testing.T) {
	for _, tt := range []struct {
		dir, context    string
		runs, events    int
		calls, results  int
		links, problems int
	}{
		{dir: "compaction", context: "notes", runs: 1, events: 15, calls: 2, results: 2},
		{dir: "rotation", context: "long", runs: 2, events: 6, calls: 1, results: 1},
		{dir: "rotation", context: "fresh", runs: 2, events: 2},
		{dir: "cleared", context: "blank", runs: 1, events: 6},
		{dir: "flat", context: "old", runs: 1, events: 9, calls: 2, results: 2},
		{dir: "own-partitions", context: "early", runs: 1, events: 6},
		{dir: "flow-control", context: "asked", runs: 1, events: 4},
		{dir: "without-ids", context: "bare", runs: 1, events: 5, calls: 1, results: 1},
		{dir: "oldest", context: "first", runs: 2, events: 5, problems: 2},
		{dir: "readable", context: "only", runs: 1, events: 5},
		{dir: "entries", context: "odd", runs: 1, events: 12, calls: 3, results: 3},
		{dir: "inbox", context: "desk", runs: 1, events: 4, links: 3, problems: 1},
		{dir: "broken", context: "rough", runs: 1, events: 3, problems: 7},
		{dir: "empty", context: "quiet", runs: 2},
		{dir: "empty", context: "hush", runs: 2},
		{dir: "debug", context: "paid"},
		{dir: "destroyed", context: "gone", links: 1},
		{dir: "renamed", context: "after", runs: 1, events: 3},
	} {
		t.Run(tt.dir+"/"+tt.context, func(t *testing.T) {
			w := read(t, "testdata/"+tt.dir+"/in")
			runs := 0
			for _, c := range w.contexts {
				if c.counted {
					runs++
				}
			}
			c := w.contexts["home/.chibi/"+tt.context]
			if c == nil {
				t.Fatalf("no context %s in %v", tt.context, slices.Collect(maps.Keys(w.contexts)))
			}
			n := c.count()
			got := fmt.Sprint(runs, n.Events, n.ToolCalls, n.ToolResults, len(w.links), w.problems)
			want := fmt.Sprint(tt.runs, tt.events, tt.calls, tt.results, tt.links, tt.problems)
			if got != want {
				t.Errorf("runs, events, calls, results, links, problems: %s; want %s", got, want)
			}
		})
	}
}

// line writes an entry as the program does.
func line(id int, second int64, from, to, content, kind, more string) string {
	return fmt.Sprintf(`{"id":"%08d-0000-4000-8000-000000000000","timestamp":%d,"from":%q,"to":%q,"content":%q,"entry_type":%q%s}`+"\n",
		id, second, from, to, content, kind, more)
}

// TestRotation moves the active file into a partition, before and after the manifest lists it: neither the events nor the
// anchor change.
func TestRotation(t *testing.T) {
	const now = 1770600000
	one := line(1, now, "system", "c", "Context created", "context_created", "") +
		line(2, now+1, "ana", "c", "one", "message", `,"role":"user"`)
	two := line(3, now+2, "c", "ana", "two", "message", `,"role":"agent"`)
	dir := ".chibi/contexts/c/"
	for name, files := range map[string]map[string][]byte{
		"before":   {"transcript/active.jsonl": []byte(one + two)},
		"moved":    {"transcript/partitions/1770600000-1770600001.jsonl": []byte(one)},
		"anew":     {"transcript/partitions/1770600000-1770600001.jsonl": []byte(one), "transcript/active.jsonl": []byte(two)},
		"windowed": {"transcript/active.jsonl": []byte(one + two), "context.jsonl": []byte(line(9, now+5, "user", "c", "one", "message", ""))},
		"adopted":  {"transcript/context.jsonl": []byte(one + two)},
		"own":      {"partitions/1770600000-1770600001.jsonl": []byte(one), "active.jsonl": []byte(two)},
		"outlived": {"transcript/active.jsonl": []byte(one + two), "active.jsonl": []byte(line(8, now, "ana", "c", "zero", "message", ""))},
		"left":     {"transcript/active.jsonl": []byte(one + two), "transcript_archive.jsonl": []byte(line(8, now, "ana", "c", "zero", "message", ""))},
	} {
		placed := map[string][]byte{}
		for path, b := range files {
			placed[dir+path] = b
		}
		c := join(t, placed).contexts[".chibi/c"]
		want := 3
		if name == "moved" {
			want = 2
		}
		if n := c.count(); n.Events != want {
			t.Errorf("%s: %d events, want %d", name, n.Events, want)
		}
		if a := slices.Min(c.anchors); a != "001770600000/00000001-0000-4000-8000-000000000000" {
			t.Errorf("%s: anchor %s", name, a)
		}
	}
}

// TestOrder checks that bytewise order of files is the order of time.
func TestOrder(t *testing.T) {
	var paths = []string{
		"transcript_archive.jsonl", "transcript.jsonl", "context.jsonl",
		"partitions/999999990-1000000010.jsonl", "partitions/1000000010-1000000020.jsonl", "active.jsonl",
		"transcript/partitions/999999990-1000000010.jsonl",
		"transcript/partitions/1000000010-1000000010.jsonl",
		"transcript/partitions/1000000010-1000000020.jsonl",
		"transcript/partitions/1000000100-1000000101.jsonl",
		"transcript/active.jsonl",
	}
	last := ""
	for _, p := range paths {
		files := map[string][]byte{"h/contexts/c/" + p: []byte(line(1, 1000000000, "a", "c", "x", "message", ""))}
		conversations := join(t, files).contexts["h/c"].family.Conversations
		if o := conversations[0].Order; o <= last {
			t.Errorf("%s: order %q is not after %q", p, o, last)
		} else {
			last = o
		}
	}
}

// TestResolveKeeps checks that Resolve keeps verdicts that are already set, except for earlier versions: those get the
// verdict of the newest one.
func TestResolveKeeps(t *testing.T) {
	conversation := func(role string, verdict transcript.Verdict) *transcript.FamilyConversation {
		return &transcript.FamilyConversation{
			Conversation: transcript.Conversation{Attributes: transcript.Attributes{"role": role}}, Verdict: verdict,
		}
	}
	f := &transcript.Family{Conversations: []*transcript.FamilyConversation{
		conversation(roleTranscript, ""), conversation(roleWindow, transcript.EarlierVersion), conversation(roleWindow, transcript.Uncounted),
		conversation(roleTranscript, transcript.EarlierVersion), conversation(roleWindow, transcript.Counted), conversation(roleArchive, ""), conversation(roleOldest, ""), conversation(roleReadable, ""),
	}}
	chibi{}.Resolve(f)
	want := []transcript.Verdict{
		"", transcript.DerivedTotal, transcript.Uncounted, transcript.EarlierVersion, transcript.DerivedTotal, transcript.Uncounted, transcript.DerivedTotal, transcript.DerivedTotal,
	}
	for i, c := range f.Conversations {
		if c.Verdict != want[i] {
			t.Errorf("%s: verdict %q, want %q", c.Attributes["role"], c.Verdict, want[i])
		}
	}
}

// TestRenamed checks that a request counts once under all names of its context, and each request of one name by itself.
func TestRenamed(t *testing.T) {
	usage := func(run, rest string) *transcript.Usage { return &transcript.Usage{Run: run, Key: run + "|" + rest} }
	f := &transcript.Family{Usage: []*transcript.Usage{
		usage("new", "5|1|2||1"), usage("old", "5|1|2||1"), usage("new", "5|1|2||2"), usage("new", "6|1|2||1"), usage("old", "5|1|2||1"),
	}}
	chibi{}.Resolve(f)
	for i, want := range []transcript.Verdict{"", transcript.DuplicateOf, "", "", transcript.DuplicateOf} {
		if got := f.Usage[i].Verdict; got != want {
			t.Errorf("%d: verdict %q, want %q", i, got, want)
		}
	}
}

// TestNameModels pairs requests and responses by number, and by time when the logs are not of one length.
func TestNameModels(t *testing.T) {
	hints := []*transcript.Hint{
		{Key: "request/00000002/000000000020", Value: "b"}, {Key: "request/00000001/000000000010", Value: "a"},
		{Key: "request/00000001/000000000010", Value: "a"}, {Key: "other", Value: "x"},
	}
	usage := func(n any, second int64, model string) *transcript.Usage {
		return &transcript.Usage{
			Model: model, Time: transcript.Time{UnixMicro: second * 1e6, Valid: true}, Attributes: transcript.Attributes{"request": n},
		}
	}
	for _, tt := range []struct {
		name  string
		usage []*transcript.Usage
		want  []string
	}{
		{"by number", []*transcript.Usage{usage(int64(1), 25, ""), usage(float64(2), 26, "")}, []string{"a", "b"}},
		{"by time", []*transcript.Usage{usage(int64(1), 12, ""), usage(int64(2), 19, ""), usage(int64(3), 20, ""), usage(int64(4), 9, "")}, []string{"a", "a", "b", ""}},
		{"stated", []*transcript.Usage{usage(int64(1), 12, "own"), usage(int64(2), 21, "")}, []string{"own", "b"}},
	} {
		f := &transcript.Family{Hints: hints, Usage: tt.usage}
		chibi{}.Resolve(f)
		for i, u := range f.Usage {
			if u.Model != tt.want[i] {
				t.Errorf("%s %d: model %q, want %q", tt.name, i, u.Model, tt.want[i])
			}
		}
	}
}
