package vibe

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

const session = ".vibe/logs/session/session_20260901_080000_1a2b3c4d/"

func FuzzMessages(f *testing.F) {
	formattest.Fuzz(f, New(), roleMessages, session+"messages.jsonl")
}

func FuzzMeta(f *testing.F) { formattest.Fuzz(f, New(), roleMeta, session+"meta.json") }

func FuzzDocument(f *testing.F) {
	formattest.Fuzz(f, New(), roleDocument, ".vibe/logs/session/session_20251210_100000_aa11bb22.json")
}

const unified = ".vibe/logs/session/unified/7d1c2b3a-5e6f-4a7b-8c9d-0e1f20260001/"

func FuzzJournal(f *testing.F) {
	formattest.Fuzz(f, New(), roleJournal, unified+"journal/0000000000000009.jsonl")
}

func FuzzChunk(f *testing.F) {
	formattest.Fuzz(f, New(), roleChunk, unified+"chunks/"+strings.Repeat("0", 64)+".json")
}

func FuzzProjection(f *testing.F) {
	formattest.Fuzz(f, New(), roleProjection, unified+"generations/0000000000000002/projection-state.json")
}

func FuzzRuntime(f *testing.F) {
	formattest.Fuzz(f, New(), roleRuntime, unified+"generations/0000000000000002/runtime-state.json")
}

// TestDetectUnified claims the files of sessions in the unified store, and leaves what is in a directory of the same name elsewhere.
func TestDetectUnified(t *testing.T) {
	const store, other = ".vibe/logs/session", "x/unified/7d1c2b3a/"
	chunk := "chunks/" + strings.Repeat("0a", 32) + ".json"
	const journal, record = "journal/0000000000000009.jsonl", `{"payload":{},"recovery_journal_record_version":1}`
	const generation = "generations/0000000000000002/"
	certain := func(role string) format.Claim { return format.Claim{Strength: format.Certain, Role: role, Root: store} }
	log, skip := certain(roleJournal), format.Claim{Strength: format.Certain, Skip: true}
	log.Log = true
	likely := log
	likely.Strength = format.Likely
	formattest.CheckClaims(t, New(), formattest.Claims{
		{unified + journal, record, log},
		{unified + journal, "", likely},
		{unified + chunk, "[]", certain(roleChunk)},
		{unified + generation + "projection-state.json", `{"projection_state_version":1}`, certain(roleProjection)},
		{unified + generation + "runtime-state.json", `{"session_metadata":{}}`, certain(roleRuntime)},
		{unified + "meta.json", `{"session_id":"x"}`, certain(roleMeta)},
		{unified + generation + "manifest.json", "{}", format.Claim{}},
		{unified + "CURRENT", "{}", format.Claim{}},
		{unified + "x.lock", "", skip},
		{unified + generation + "a.tmp", "", skip},
		{".vibe/logs/session/unified/.session-index.json", "{}", skip},
		{other + journal, record, format.Claim{Strength: format.Certain, Role: roleJournal, Root: "x/unified/7d1c2b3a", Log: true}},
		{other + journal, `{"payload":{}}`, format.Claim{}},
		{other + "meta.json", `{"title":"x"}`, format.Claim{}},
		{other + "meta.json", `{"about":"session_id"}`, format.Claim{}},
		{other + "meta.json", `{"session_id":"x","start_time":"2026-11-01T08:00:00"}`, format.Claim{Strength: format.Likely, Role: roleMeta}},
		{other + chunk, "[]", format.Claim{Strength: format.Likely, Role: roleChunk}},
		{other + chunk, `{"weights":[1]}`, format.Claim{}},
		{other + "x.lock", "", format.Claim{}},
		{"x/unified/s_20260901_080000_1a2b3c4d/meta.json", `{"session_id":"1a2b3c4d-","start_time":"2026-09-01T08:00:00"}`,
			format.Claim{Strength: format.Certain, Role: roleMeta, Root: "x/unified/s_20260901_080000_1a2b3c4d"}},
	})
}

// TestDetect claims files by their places and content, and only directories that have nothing but sessions.
func TestDetect(t *testing.T) {
	const said, metadata = `{"role":"user","content":"x"}`, `{"session_id":"1a2b3c4d-","start_time":"2026-09-01T08:00:00"}`
	const agent = session + "agents/explore_20260901_080102_5e6f7a8b/"
	formattest.CheckClaims(t, New(), formattest.Claims{
		{session + "messages.jsonl", said, format.Claim{Strength: format.Certain, Role: roleMessages, Root: ".vibe/logs/session", Log: true}},
		{session + "messages.jsonl", "", format.Claim{Strength: format.Likely, Role: roleMessages, Root: ".vibe/logs/session", Log: true}},
		{session + "messages.jsonl", `{"type":"user","role":"user"}`, format.Claim{}},
		{session + "meta.json", metadata, format.Claim{Strength: format.Certain, Role: roleMeta, Root: ".vibe/logs/session"}},
		{session + "meta.json", `{"session_id":"x"}`, format.Claim{}},
		{agent + "messages.jsonl", said, format.Claim{Strength: format.Certain, Role: roleMessages, Root: ".vibe/logs/session", Log: true}},
		{"x/s_20260901_080000_1a2b3c4d/meta.json", metadata, format.Claim{Strength: format.Certain, Role: roleMeta, Root: "x/s_20260901_080000_1a2b3c4d"}},
		{"x/s_20260901_080000_1a2b3c4d/agents/e_20260901_080000_5e6f7a8b/meta.json", metadata,
			format.Claim{Strength: format.Certain, Role: roleMeta, Root: "x/s_20260901_080000_1a2b3c4d"}},
		{"x/session/meta.json", metadata, format.Claim{}},
		{"x/s_20251210_100000_aa11bb22.json", `{"metadata":` + metadata + `,"messages":[]}`, format.Claim{Strength: format.Certain, Role: roleDocument}},
		{"x/s_20251210_100000_aa11bb22.json", `{"messages":[]}`, format.Claim{}},
		{".vibe/logs/session/active/x.lock", "", format.Claim{Strength: format.Certain, Skip: true}},
		{".vibe/logs/session/.session_index.json", "{}", format.Claim{Strength: format.Certain, Skip: true}},
		{session + "a.jsonl.tmp", said, format.Claim{Strength: format.Certain, Skip: true}},
		{"x/active/x.lock", "", format.Claim{}},
	})
}

// TestTotals decides which totals of a session count.
func TestTotals(t *testing.T) {
	type total struct{ minute, prompt, output int64 }
	parent := func(first string, totals ...string) map[string][]*transcript.Hint {
		hints := []*transcript.Hint{{Run: "p", Key: hintFirst, Value: first}}
		for _, v := range totals {
			hints = append(hints, &transcript.Hint{Run: "p", Key: hintTotal, Value: v})
		}
		return map[string][]*transcript.Hint{"p": hints}
	}
	child := []*transcript.Hint{{Key: hintParent, Value: "p"}, {Key: hintFirst, Value: "m5"}}
	for name, c := range map[string]struct {
		states           []total
		hints            []*transcript.Hint
		related          map[string][]*transcript.Hint
		session, lineage int64 // prompt tokens that count
	}{
		"grows":                         {[]total{{2, 20, 2}, {1, 10, 1}, {3, 30, 3}}, nil, nil, 0, 30},
		"resumed":                       {[]total{{1, 10, 1}, {2, 20, 2}, {3, 5, 1}, {4, 9, 2}}, nil, nil, 20, 9},
		"a copy of an old state":        {[]total{{1, 10, 1}, {2, 20, 2}, {1, 10, 1}}, nil, nil, 0, 20},
		"forked":                        {[]total{{1, 90, 9}}, child, parent("m5", "50\t5"), 90, 0},
		"goes on counting":              {[]total{{1, 90, 9}}, child, parent("m1", "50\t5", "20\t2"), 0, 90},
		"begins at 0":                   {[]total{{1, 30, 9}}, child, parent("m1", "50\t5"), 30, 0},
		"of a parent that is not there": {[]total{{1, 90, 9}}, child, nil, 90, 0},
	} {
		f := &transcript.Family{Run: &transcript.Run{}, Hints: c.hints, Related: c.related}
		for _, s := range c.states {
			for _, of := range []string{ofSession, ofLineage} {
				f.Usage = append(f.Usage, &transcript.Usage{
					Key: of, Time: timestamp.UnixSeconds(60 * s.minute), Input: transcript.Known(s.prompt), Output: transcript.Known(s.output),
					Attributes: transcript.Attributes{"of": of},
				})
			}
		}
		New().(format.Resolver).Resolve(f)
		got := map[string]int64{}
		for _, u := range f.Usage {
			if u.Verdict == transcript.Counted {
				got[u.Attributes["of"].(string)] += u.Input.N
			}
		}
		if got[ofSession] != c.session || got[ofLineage] != c.lineage {
			t.Errorf("%s: %v, want %d of the session and %d of the lineage", name, got, c.session, c.lineage)
		}
	}
}

// TestUnifiedTotals decides which sums and requests of a session in the unified store count.
func TestUnifiedTotals(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want []string
	}{
		"a sum":                       {[]string{"9/1"}, []string{"9/1"}},
		"sums of several generations": {[]string{"9/1", "20/3", "15/2"}, []string{"20/3"}},
		"requests from the start":     {[]string{"0/0 5/1", "5/1 9/2"}, []string{"0/0 5/1", "5/1 9/2"}},
		"requests after a sum, which the generation before states, too": {
			[]string{"9/1", "9/1", "9/1 12/2", "12/2 20/3"}, []string{"9/1", "9/1", "9/1 12/2", "12/2 20/3"}},
		"journals of two generations": {
			[]string{"0/0 5/1", "5/1 9/2", "9/2", "9/2 20/3"}, []string{"0/0 5/1", "5/1 9/2", "9/2 20/3"}},
		"a journal that is gone":                 {[]string{"0/0 5/1", "9/2", "9/2 20/3"}, []string{"9/2", "9/2 20/3"}},
		"a newer generation without its journal": {[]string{"0/0 5/1", "9/2"}, []string{"9/2"}},
		"a journal that begins with an answer":   {[]string{"5/1", "9/2", "9/2 20/3"}, []string{"9/2", "9/2 20/3"}},
		"two ways":                               {[]string{"0/0 5/1", "0/0 3/1", "3/1 5/1"}, []string{"0/0 3/1", "3/1 5/1"}},
		"nothing":                                {nil, nil},
	} {
		var usage []*transcript.Usage
		for _, key := range c.keys {
			of := ofUnified
			if strings.Contains(key, " ") {
				of = ofRequest
			}
			usage = append(usage, &transcript.Usage{Key: "run " + key, Attributes: transcript.Attributes{"of": of}})
		}
		resolveUnified(usage)
		var got []string
		for _, u := range usage {
			if u.Verdict == transcript.Counted {
				got = append(got, strings.TrimPrefix(u.Key, "run "))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q counts, want %q", name, got, c.want)
		}
	}
}

// TestRankOfState: later states outrank earlier ones, also where an int has 32 bits, and none is below meta.json.
func TestRankOfState(t *testing.T) {
	for updated, want := range map[string]int{"1793520039000": 1793520041, "1793520040000": 1793520042, "9223372036854775807": rankMeta, "-1": rankMeta, "253402300799000": math.MaxInt32} {
		in := `{"type":"projection_delta","payload":{"delta":[{"op":"set_envelope","state":{"session":{"title":"x","updatedAt":` + updated + `}}}]}}` + "\n"
		for record, err := range New().Parse(format.Input{Path: unified + "journal/0000000000000009.jsonl", Role: roleJournal, Reader: strings.NewReader(in)}) {
			if err != nil {
				t.Fatal(err)
			}
			if run, ok := record.(*transcript.Run); ok && run.Title != "" && run.Rank != want {
				t.Errorf("a state of %s has the rank %d, want %d", updated, run.Rank, want)
			}
		}
	}
}

// TestEntriesWithoutID: effects without an id are not one: each has its call and its result, and what goes into a tool is text whatever its members are called.
func TestEntriesWithoutID(t *testing.T) {
	const entry = `{"type":"effect","createdAt":1793520039000,"updatedAt":1793520039000,"detail":{"toolName":"weave","input":{"id":"%","status":"wet","state":{"name":7}}},"state":{"status":"completed","outputText":"%"}}`
	in := "[" + strings.ReplaceAll(entry, "%", "oak") + "," + strings.ReplaceAll(entry, "%", "ash") + "]"
	var got []string
	for record, err := range New().Parse(format.Input{Path: unified + "chunks/" + strings.Repeat("0", 64) + ".json", Role: roleChunk, Reader: strings.NewReader(in)}) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := record.(*transcript.Event); ok {
			got = append(got, e.ID+" "+string(e.Kind)+" "+strings.ReplaceAll(e.Parts[0].Text, "\n", " "))
		}
	}
	want := []string{" tool_call oak wet 7", " tool_result oak", " tool_call ash wet 7", " tool_result ash"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestModels names the models of requests by what the session states of them: the first that says so.
func TestModels(t *testing.T) {
	f := &transcript.Family{Run: &transcript.Run{Model: "small"}}
	for _, v := range []string{"large\tmistral-large-9\tmistral", "large\tother\tx", "b\tdevstral-9\tmistral", "c\tdevstral-9\tlocal"} {
		f.Hints = append(f.Hints, &transcript.Hint{Key: hintModel, Value: v})
	}
	asked := []string{"large", "mistral-large-9", "devstral-9", "c", "none", ""}
	for _, model := range asked {
		f.Usage = append(f.Usage, &transcript.Usage{Model: model})
	}
	New().(format.Resolver).Resolve(f)
	var got []string
	for _, u := range f.Usage {
		got = append(got, u.Model+" "+u.Provider)
	}
	want := []string{"mistral-large-9 mistral", "mistral-large-9 mistral", "devstral-9 mistral", "devstral-9 local", "none ", "small "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
