package openhands

import (
	"slices"
	"strconv"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

const (
	dir   = ".openhands/conversations/0e000001000040008000000000000001/"
	event = dir + "events/event-00001-0e000101-0000-4000-8000-000000000101.json"
	first = ".openhands/sessions/0e000007000040008000000000000007/events/1.json"
)

func FuzzEvent(f *testing.F) { formattest.Fuzz(f, New(), roleEvent, event) }

func FuzzState(f *testing.F) { formattest.Fuzz(f, New(), roleState, dir+stateFile) }

func FuzzFirst(f *testing.F) { formattest.Fuzz(f, New(), roleFirst, first) }

func FuzzTrajectory(f *testing.F) {
	formattest.Fuzz(f, New(), roleTrajectory, "x/trajectory-0e000001000040008000000000000001.json")
}

// TestDetect claims files of conversations by name with content, and in the program's own directories by name alone. Files of other programs with
// such names are not claimed, and no directory that may be another program's.
func TestDetect(t *testing.T) {
	const (
		said   = `{"id":"0e000101-0000-4000-8000-000000000101","timestamp":"2026-10-01T08:00:01","source":"user","kind":"MessageEvent"}`
		acted  = `{"id":1,"timestamp":"2025-05-01T08:00:00","source":"agent","message":"","action":"run"}`
		state  = `{"id":"0e000101-0000-4000-8000-000000000101","agent":{"kind":"Agent"}}`
		meta   = `{"conversation_id":"x","selected_repository":null}`
		stored = `{"id":"0e000001-0000-4000-8000-000000000001","workspace":{"kind":"LocalWorkspace"},"title":null}`
		id     = "0e000001000040008000000000000001"
		named  = "events/event-00001-0e000101-0000-4000-8000-000000000101.json"
	)
	claim := func(role, root string) format.Claim {
		return format.Claim{Strength: format.Certain, Role: role, Root: root}
	}
	own := dir[:len(dir)-1]
	formattest.CheckClaims(t, New(), formattest.Claims{
		{event, said, claim(roleEvent, own)},
		{event, "", claim(roleEvent, own)},
		{event, `{"kin`, claim(roleEvent, own)},
		{dir + "subagents/" + id + "/events/event-00001-0e000101-0000-4000-8000-000000000101.json", said, claim(roleEvent, own)},
		{"x/y/" + named, said, claim(roleEvent, "")},
		{"x/conversations/y/" + named, said, claim(roleEvent, "x/conversations/y")},
		{"x/" + id + "/" + named, said, claim(roleEvent, "x/"+id)},
		{"x/" + id + "/" + named, "", claim(roleEvent, "x/"+id)},
		{"app/subagents/" + id + "/" + named, said, claim(roleEvent, "app/subagents/"+id)},
		{"x/y/events/event-123456-0e000101-0000-4000-8000-000000000101.json", said, claim(roleEvent, "")},
		{"x/y/" + named, "[]", format.Claim{}},
		{"x/y/" + named, "", format.Claim{}},
		{"x/y/" + named, `{"id":"0e000101","kind":"click"}`, format.Claim{}},
		{"x/y/events/event-1-0e000101.json", said, format.Claim{}},
		{"x/y/event_000001_0e000101-0000-4000-8000-000000000101.json", said, claim(roleEvent, "")},
		{dir + "events/.eventlog-count-2.marker", "", format.Claim{Strength: format.Certain, Skip: true}},
		{dir + "events/notes.txt", said, format.Claim{}},
		{dir + stateFile, state, claim(roleState, own)},
		{dir + stateFile, "", claim(roleState, own)},
		{"x/" + id + "/" + stateFile, state, claim(roleState, "x/"+id)},
		{"x/y/" + stateFile, state, claim(roleState, "")},
		{"x/y/" + stateFile, `{"id":1}`, format.Claim{}},
		{"game/" + stateFile, `{"id":1,"agent":"bond"}`, format.Claim{}},
		{"x/v1_conversations/" + id + "/" + id + ".json", said, claim(roleEvent, "x/v1_conversations/"+id)},
		{"x/v1_conversations/" + id + "/notes.json", said, format.Claim{}},
		{first, acted, claim(roleFirst, ".openhands/sessions/0e000007000040008000000000000007")},
		{first, "", claim(roleFirst, ".openhands/sessions/0e000007000040008000000000000007")},
		{"x/events/1.json", acted, claim(roleFirst, "")},
		{"x/sessions/y/events/1.json", acted, claim(roleFirst, "x/sessions/y")},
		{"x/events/1.json", `{"id":1}`, format.Claim{}},
		{"x/events/1.json", `{"timestamp":"2025-05-01T08:00:00","source":"user","action":"click"}`, format.Claim{}},
		{"x/sessions/y/events/1.json", `{"timestamp":"2025-05-01T08:00:00","source":"user","action":"click"}`, format.Claim{}},
		{"x/events/2.json", acted, format.Claim{}},
		{"x/y/metadata.json", meta, claim(roleMeta, "")},
		{"x/y/metadata.json", `{"conversation_id":"x"}`, format.Claim{}},
		{"x/" + id + "/meta.json", stored, claim(roleMeta, "x/"+id)},
		{"x/y/meta.json", stored, format.Claim{}},
		{"x/" + id + "/meta.json", `{"agent":{"llm":{"model":"gpt-5.2"},"tools":[{"name":"terminal`, claim(roleMeta, "x/"+id)}, // the rest is too far away
		{"x/" + id + "/meta.json", `{"id":"p1","agent":{"llm":{}}}`, format.Claim{}},
		{"x/" + id + "/meta.json", `{"id":"p1","workspace":"acme"}`, format.Claim{}},
		{"x/" + id + "/metadata.json", `{"conversation_id":"c9","trigger":"email"}`, format.Claim{}},
		{"x/t.json", "[" + acted + "]", format.Claim{Strength: format.Likely, Role: roleTrajectory}},
		{"x/t.json", "[" + said + "]", format.Claim{Strength: format.Likely, Role: roleTrajectory}},
		{"x/event_cache/0-25.json", "[" + acted + "]", format.Claim{}},
		{"x/t.json", acted, format.Claim{}},
		{"x/t.json", `[{"id":1,"timestamp":"2025-05-01T08:00:00","source":"sensor","message":""}]`, format.Claim{}},
		{"x/t.json", `[{"id":1,"timestamp":"2025-05-01T08:00:00","source":"user","action":"login"}]`, format.Claim{}},
		{"x/t.json", `[{"timestamp":"2025-05-01T08:00:00","source":"user","kind":"ClickEvent"}]`, format.Claim{}},
		{"x/t.json", `[{"id":1,"timestamp":"today","source":"agent","message":""}]`, format.Claim{}},
	})
}

// TestJudge decides between requests and totals, which are given as the output tokens of each.
func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		requests, totals []int64
		delegates        bool
		want             []string // keys that count
	}{
		"all requests are known":              {[]int64{10, 20}, []int64{10, 30}, false, []string{"r0", "r1"}},
		"an answer without a call":            {[]int64{10, 20}, []int64{10, 30, 45}, false, []string{"t2"}},
		"no totals":                           {[]int64{10}, nil, false, []string{"r0"}},
		"no requests":                         {nil, []int64{10, 30}, false, []string{"t1"}},
		"nothing":                             {nil, nil, false, []string{"meta"}},
		"begun again":                         {nil, []int64{10, 30, 5, 50}, false, []string{"t1", "t3"}},
		"delegates with totals of their own":  {nil, []int64{100, 10, 25, 120}, true, []string{"t2", "t3"}},
		"delegates that add to the same":      {nil, []int64{100, 110, 125}, true, []string{"t2"}},
		"one delegate, and the next, and all": {nil, []int64{100, 10, 20, 5, 130}, true, []string{"t2", "t3", "t4"}},
	} {
		var all []*transcript.Usage
		for i, n := range c.requests {
			all = append(all, &transcript.Usage{Key: "r" + strconv.Itoa(i), Output: transcript.Known(n)})
		}
		for i, n := range c.totals {
			all = append(all, &transcript.Usage{Key: "t" + strconv.Itoa(i), Output: transcript.Known(n), Input: transcript.Known(0),
				Attributes: transcript.Attributes{"of": ofTotal, "event": strconv.Itoa(i)}})
		}
		all = append(all, &transcript.Usage{Key: "meta", Output: transcript.Known(7), Attributes: transcript.Attributes{"of": ofMeta}})
		for range 2 { // in any order
			for _, u := range all {
				u.Verdict = ""
			}
			judge(all, c.delegates)
			var got []string
			for _, u := range all {
				if u.Verdict == "" {
					got = append(got, u.Key)
				}
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v count, want %v", name, got, c.want)
			}
			slices.Reverse(all)
		}
	}
}
