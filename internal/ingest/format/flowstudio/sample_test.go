package flowstudio

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// counts are the numbers that testdata/sample.json states, by its keys.
type counts struct {
	ID             string  `json:"id,omitempty"`
	Status         string  `json:"status,omitempty"`
	Runs           int     `json:"runs"`
	Conversations  int     `json:"conversations"`
	Events         int     `json:"events"`
	RunEvents      int     `json:"run_events"`
	Messages       int     `json:"messages"`
	ToolCalls      int     `json:"tool_calls"`
	ToolResults    int     `json:"tool_results"`
	Receipts       int     `json:"receipts"`
	Linked         int     `json:"receipts_linked"`
	WithoutReceipt int     `json:"transcripts_without_receipt"`
	Unlinked       int     `json:"receipts_without_transcript"`
	TokensIn       int64   `json:"tokens_in"`
	TokensOut      int64   `json:"tokens_out"`
	Cost           float64 `json:"cost_usd"`
	Links          int     `json:"links"`
	Problems       int     `json:"problems"`
}

// world is what an index would hold of one run, gathered record by record.
type world struct {
	runs     []*transcript.Run
	events   []*transcript.Event
	family   transcript.Family
	problems []*transcript.Problem
}

// put stores one file as an archive would: claimed, parsed, its records sorted into their runs.
func put(t *testing.T, worlds map[string]*world, file string, content []byte) format.Claim {
	t.Helper()
	claim := flowStudio{}.Detect(format.Head{Path: file, Size: int64(len(content)), Bytes: content[:min(len(content), format.HeadSize)]})
	if claim.Strength == format.None || claim.Role == format.Other {
		return claim
	}
	of := func(run string) *world {
		if run == "" {
			t.Fatalf("%s: record without run", file)
		}
		if worlds[run] == nil {
			worlds[run] = &world{}
		}
		return worlds[run]
	}
	conversations := map[string]*transcript.FamilyConversation{}
	in := format.Input{Path: file, Root: claim.Root, Role: claim.Role, Size: int64(len(content)), Reader: bytes.NewReader(content)}
	for record, err := range (flowStudio{}).Parse(in) {
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch r := record.(type) {
		case *transcript.Run:
			of(r.ID).runs = append(of(r.ID).runs, r)
		case *transcript.Conversation:
			if have := conversations[r.ID]; have != nil {
				have.Conversation = *r
				continue
			}
			v := &transcript.FamilyConversation{Conversation: *r, Path: file}
			conversations[r.ID] = v
			of(r.Run).family.Conversations = append(of(r.Run).family.Conversations, v)
		case *transcript.Event:
			of(r.Run).events = append(of(r.Run).events, r)
		case *transcript.Usage:
			of(r.Run).family.Usage = append(of(r.Run).family.Usage, r)
		case *transcript.Receipt:
			of(r.Run).family.Receipts = append(of(r.Run).family.Receipts, r)
		case *transcript.Step:
			of(r.Run).family.Steps = append(of(r.Run).family.Steps, r)
		case *transcript.Hint:
			of(r.Run).family.Hints = append(of(r.Run).family.Hints, r)
		case *transcript.Problem:
			of(r.Run).problems = append(of(r.Run).problems, r)
		}
	}
	return claim
}

// count gives the numbers of one run after Resolve; nil when the run is only named.
func (w *world) count(id string) *counts {
	n := &counts{ID: id, Runs: 1, Conversations: len(w.family.Conversations), Problems: len(w.problems)}
	counted, rank := false, -1
	for _, r := range w.runs {
		counted = counted || !r.Named
		if r.Status != "" && r.Rank > rank {
			n.Status, rank = r.Status, r.Rank
		}
	}
	if !counted {
		return nil
	}
	flowStudio{}.Resolve(&w.family)
	for _, e := range w.events {
		w.countEvent(n, e)
	}
	linked := map[string]bool{}
	for _, r := range w.family.Receipts {
		if r.Kind != "step" {
			continue
		}
		n.Receipts++
		if r.Conversation == "" {
			n.Unlinked++
			continue
		}
		n.Linked++
		linked[r.Conversation] = true
	}
	n.WithoutReceipt = n.Conversations - len(linked)
	seen := map[string]bool{}
	for _, u := range w.family.Usage {
		if u.Verdict != "" || u.Key != "" && seen[u.Key] {
			continue
		}
		seen[u.Key] = true
		n.TokensIn += u.Input.N
		n.TokensOut += u.Output.N
		n.Cost += float64(u.Cost.N)
	}
	return n
}

func (w *world) countEvent(n *counts, e *transcript.Event) {
	if e.Verdict != "" {
		if e.Seq.Known {
			n.RunEvents++
		}
		return
	}
	n.Events++
	if e.Kind == transcript.KindMessage {
		n.Messages++
	}
	for _, p := range e.Parts {
		if p.Call != nil {
			n.ToolCalls++
		}
		if p.Result != nil {
			n.ToolResults++
		}
	}
}

// sample is the sample's files by path.
func sample(t *testing.T) map[string][]byte {
	t.Helper()
	return formattest.Files(t, filepath.Join("..", "..", "..", "..", "testdata", "runs", "flow-studio"))
}

func TestSample(t *testing.T) {
	var want struct {
		Totals counts
		Runs   []counts
		Search []struct {
			Query  string
			Runs   []string
			Events int
		}
	}
	b, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	files := sample(t)
	// With swarm/, swarm/runs/ or its parent as the source the same runs come out.
	for _, prefix := range []string{"", "swarm/", "swarm/runs/"} {
		worlds := map[string]*world{}
		for _, file := range sortedKeys(files) {
			put(t, worlds, strings.TrimPrefix(file, prefix), files[file])
		}
		var totals counts
		for i, id := range sortedKeys(worlds) {
			got := worlds[id].count(id)
			add(&totals, got)
			got.Runs, got.Messages, got.Linked, got.WithoutReceipt, got.Cost = 0, 0, 0, 0, 0
			if !reflect.DeepEqual(*got, want.Runs[i]) {
				t.Errorf("prefix %q: got  %+v\nwant %+v", prefix, *got, want.Runs[i])
			}
		}
		totals.Cost /= 1e9
		if totals != want.Totals {
			t.Errorf("prefix %q: got  %+v\nwant %+v", prefix, totals, want.Totals)
		}
		for _, q := range want.Search {
			runs, events := find(worlds, q.Query)
			if events != q.Events || !slices.Equal(runs, q.Runs) {
				t.Errorf("search %q: %d events in %v, want %d in %v", q.Query, events, runs, q.Events, q.Runs)
			}
		}
	}
}

func find(worlds map[string]*world, text string) (runs []string, events int) {
	for _, id := range sortedKeys(worlds) {
		n := 0
		for _, e := range worlds[id].events {
			hit := func(p transcript.Part) bool { return strings.Contains(p.Text, text) }
			if e.Verdict == "" && slices.ContainsFunc(e.Parts, hit) {
				n++
			}
		}
		if n > 0 {
			runs = append(runs, id)
		}
		events += n
	}
	return runs, events
}

func add(sum, n *counts) {
	a, b := reflect.ValueOf(sum).Elem(), reflect.ValueOf(n).Elem()
	for i := range a.NumField() {
		switch {
		case a.Field(i).CanInt():
			a.Field(i).SetInt(a.Field(i).Int() + b.Field(i).Int())
		case a.Field(i).CanFloat():
			a.Field(i).SetFloat(a.Field(i).Float() + b.Field(i).Float())
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
