package claudecode

import (
	"cmp"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// totals are what the archive counts of a set of files.
type totals struct {
	Runs, Conversations, Events, Calls, Results, Links, Problems             int
	User, Assistant, Reasoning, System, Uncounted                            int
	Requests, Input, Output, CacheRead, CacheCreation, CacheCreation1h, Cost int64
}

// tally judges records as the archive does: a Global event counts once, where it was written first; a request counts
// once, the highest rank, and not at all when a counted one has its key as alias; a link whose event does not count
// does not count either.
type tally struct {
	totals
	runs    map[string]bool
	owner   map[string]string // event id -> file
	usage   []*transcript.Usage
	links   map[edge]bool
	tools   map[string]int
	models  map[string][4]int64
	problem []string
}

type edge struct{ kind, from, to string }

func count(originals []*formattest.Original) *tally {
	t := &tally{runs: map[string]bool{}, owner: map[string]string{}, links: map[edge]bool{}, tools: map[string]int{}, models: map[string][4]int64{}}
	for _, home := range []bool{true, false} {
		for _, o := range originals {
			for _, record := range o.Records() {
				if e, ok := record.(*transcript.Event); ok && e.Global && e.Home == home && t.owner[e.ID] == "" {
					t.owner[e.ID] = o.Path
				}
			}
		}
	}
	copies := map[[2]string]bool{}
	for _, o := range originals {
		conversations := map[string]bool{}
		for _, record := range o.Records() {
			switch r := record.(type) {
			case *transcript.Run:
				if !r.Named && !r.Child {
					t.runs[r.ID] = true
				}
			case *transcript.Conversation:
				conversations[r.Run] = true
			case *transcript.Event:
				if !r.Global || t.owner[r.ID] == o.Path {
					t.event(r)
				} else {
					copies[[2]string{o.Path, t.owner[r.ID]}] = true
				}
			case *transcript.Usage:
				t.usage = append(t.usage, r)
			case *transcript.Link:
				if !r.Uncounted && (r.Event == "" || t.owner[r.Event] == o.Path || t.owner[r.Event] == "") {
					t.links[edge{r.Kind, r.From.ID, r.To.ID}] = true
				}
			case *transcript.Problem:
				t.Problems++
				t.problem = append(t.problem, o.Path+": "+r.Kind)
			}
		}
		t.Conversations += len(conversations)
	}
	t.Runs, t.Links = len(t.runs), len(t.links)+len(copies)
	t.requests()
	return t
}

func (t *tally) event(e *transcript.Event) {
	switch e.Verdict {
	case "", transcript.Counted:
	case transcript.Uncounted:
		t.Uncounted++
		return
	default:
		return
	}
	t.Events++
	switch first := e.Parts[0]; {
	case first.Call != nil:
		t.Calls++
		t.tools[first.Call.Name]++
	case first.Result != nil:
		t.Results++
	case e.Role == "system":
		t.System++
	case e.Kind == transcript.KindReasoning:
		t.Reasoning++
	case e.Role == "user":
		t.User++
	case e.Role == "assistant":
		t.Assistant++
	}
}

func (t *tally) requests() {
	slices.SortStableFunc(t.usage, func(a, b *transcript.Usage) int { return cmp.Compare(b.Rank, a.Rank) })
	keys, aliases := map[string]bool{}, map[string]bool{}
	for _, u := range t.usage {
		aliases[u.Alias] = true
	}
	for _, u := range t.usage {
		if u.Key != "" && (keys[u.Key] || aliases[u.Key]) {
			continue
		}
		keys[u.Key] = true
		t.Requests++
		t.Input += u.Input.N
		t.Output += u.Output.N
		t.CacheRead += u.CacheRead.N
		t.CacheCreation += u.CacheWrite.N + u.CacheWrite1h.N
		t.CacheCreation1h += u.CacheWrite1h.N
		t.Cost += u.Cost.N
		m := t.models[u.Model]
		for i, n := range []int64{u.Input.N, u.Output.N, u.CacheRead.N, u.CacheWrite.N + u.CacheWrite1h.N} {
			m[i] += n
		}
		t.models[u.Model] = m
	}
}
