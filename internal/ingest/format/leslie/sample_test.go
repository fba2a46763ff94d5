package leslie

import (
	"encoding/json"
	"fmt"
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

// counts are the numbers that testdata/sample.json states for the set or for one run, by its keys.
type counts struct {
	Threads         int     `json:"threads"`
	Files           int     `json:"transcript_files"`
	Runs            int     `json:"runs"`
	Copies          int     `json:"copies"`
	Events          int     `json:"events"`
	ToolCalls       int     `json:"tool_calls"`
	ToolCallsHeader int64   `json:"tool_calls_header"`
	ToolResults     int     `json:"tool_results"`
	Errors          int     `json:"errors"`
	TokensIn        int64   `json:"tokens_in"`
	TokensOut       int64   `json:"tokens_out"`
	Cost            float64 `json:"cost_usd"`
	Links           int     `json:"links"`
	LinksParent     int     `json:"links_parent"`
	LinksReference  int     `json:"links_reference"`
	Problems        int     `json:"problems"`
}

type sampleRun struct {
	ID, File        string
	Events          int
	ToolCalls       int   `json:"tool_calls"`
	ToolResults     int   `json:"tool_results"`
	ToolCallsHeader int64 `json:"tool_calls_header"`
	Errors          int
	Cut             bool   `json:"cut_at_20k"`
	StopReason      string `json:"stop_reason"`
	Mode            string
}

type sampleLink struct{ Parent, Child, Kind string }

// held is what an archive would count of a transcript: the file whose conversation counts, and its records.
type held struct {
	file   string
	rank   int
	run    *transcript.Run
	events []*transcript.Event
}

// tally gathers the records of files as an archive does: one of equal keys counts.
type tally struct {
	counts
	runs    map[string]*held
	threads map[string]bool
	links   map[sampleLink]bool
	usage   map[string]int64
}

func newTally() *tally {
	return &tally{runs: map[string]*held{}, threads: map[string]bool{}, links: map[sampleLink]bool{}, usage: map[string]int64{}}
}

func (n *tally) add(file string, records []transcript.Record) {
	var here *held
	for _, record := range records {
		switch r := record.(type) {
		case *transcript.Run:
			if r.Named {
				if r.Title != "" && r.Group != "" {
					n.threads[r.Group] = true
				}
				continue
			}
			n.Files++
			here = &held{file: file, rank: r.Rank, run: r}
			if have := n.runs[r.ID]; have == nil {
				n.runs[r.ID] = here
			} else if n.Copies++; here.rank > have.rank {
				*have = *here
				here = have
			}
		case *transcript.Event:
			if r.Verdict == "" {
				here.events = append(here.events, r)
			}
		case *transcript.Usage:
			n.usage[r.Key] = r.Cost.N
			n.TokensIn += r.Input.N
			n.TokensOut += r.Output.N
		case *transcript.Link:
			if !r.Uncounted {
				n.links[sampleLink{r.From.ID, r.To.ID, r.Kind}] = true
			}
		case *transcript.Problem:
			n.Problems++
		}
	}
}

func (h *held) sample() sampleRun {
	s := sampleRun{
		ID: h.run.Group + "/" + h.run.Attributes["chat_id"].(string), File: h.file, Events: len(h.events),
		StopReason: h.run.Status, Mode: h.run.Attributes["agent_mode"].(string), Cut: h.run.Attributes["cut_at_20k"] == true,
		ToolCallsHeader: h.run.Attributes["tool_calls_declared"].(int64),
	}
	for _, e := range h.events {
		switch e.Kind {
		case transcript.KindToolCall:
			s.ToolCalls++
		case transcript.KindToolResult:
			s.ToolResults++
		case transcript.KindError:
			s.Errors++
		}
	}
	return s
}

func (n *tally) total() counts {
	c := n.counts
	c.Runs, c.Threads, c.Links = len(n.runs), len(n.threads), len(n.links)
	for _, h := range n.runs {
		s := h.sample()
		c.Events += s.Events
		c.ToolCalls += s.ToolCalls
		c.ToolResults += s.ToolResults
		c.ToolCallsHeader += s.ToolCallsHeader
		c.Errors += s.Errors
	}
	for l := range n.links {
		if l.Kind == "parent" {
			c.LinksParent++
		} else {
			c.LinksReference++
		}
	}
	var nano int64
	for _, cost := range n.usage {
		nano += cost
	}
	c.Cost = float64(nano) / 1e9
	return c
}

// parse stores one file: claimed, checked and parsed.
func parse(t *testing.T, file string, b []byte) []transcript.Record {
	t.Helper()
	claim := formattest.Detect(Format{}, file, b)
	if claim.Strength == format.None || claim.Role == format.Other {
		return nil
	}
	return formattest.Check(t, Format{}, formattest.Input{Path: file, Root: claim.Root, Role: claim.Role, Bytes: b})
}

func TestSample(t *testing.T) {
	var want struct {
		Totals counts
		Runs   []sampleRun
		Links  []sampleLink
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
	files := formattest.Files(t, filepath.Join("..", "..", "..", "..", "testdata", "runs", "leslie"))
	// The order of files and the place of the source change nothing.
	for _, cut := range []string{"", "leslie/", "leslie/shop/", "leslie/shop/.leslie/"} {
		n := newTally()
		for file, b := range files {
			file = "leslie/" + file
			n.add(file, parse(t, strings.TrimPrefix(file, cut), b))
		}
		if got := n.total(); got != want.Totals {
			t.Errorf("below %q: got  %+v\nwant %+v", cut, got, want.Totals)
		}
		var runs []sampleRun
		for _, h := range n.runs {
			runs = append(runs, h.sample())
		}
		slices.SortFunc(runs, func(a, b sampleRun) int { return strings.Compare(a.ID, b.ID) })
		if !reflect.DeepEqual(runs, want.Runs) {
			t.Errorf("below %q: got  %+v\nwant %+v", cut, runs, want.Runs)
		}
		for _, l := range want.Links {
			if !n.links[l] {
				t.Errorf("below %q: link %+v is missing in %v", cut, l, n.links)
			}
		}
		for _, q := range want.Search {
			runs, events := n.find(q.Query)
			if events != q.Events || !slices.Equal(runs, q.Runs) {
				t.Errorf("search %q: %d events in %v, want %d in %v", q.Query, events, runs, q.Events, q.Runs)
			}
		}
	}
}

func (n *tally) find(query string) (runs []string, events int) {
	for _, h := range n.runs {
		before := events
		for _, e := range h.events {
			if strings.Contains(e.Parts[0].Text, query) {
				events++
			}
		}
		if events > before {
			runs = append(runs, h.sample().ID)
		}
	}
	return runs, events
}

// A thread keeps its 50 newest files by name: the 51st deletes the first, NaN names stay for ever. What a run is
// does not depend on that, nor on which of the files a copy keeps.
func TestFiftyOneTranscripts(t *testing.T) {
	n := newTally()
	for _, dir := range []string{"threads/thread-aaaa0001", "threads/thread-bbbb0002/context/inherited/thread-aaaa0001"} {
		for i := range 51 {
			name := fmt.Sprintf("20260301-10%02d-same-words.txt", i)
			if i == 50 {
				name = "NaNNaNNaN-NaNNaN-same-words.txt"
			}
			b := fmt.Sprintf("Thread ID: thread-aaaa0001\nChat ID: c\nTime Range: 2026-03-01T10:%02d:00Z ~ x\n"+
				"Agent Mode: agent\nStop Reason: end_turn\nTool Calls: 0\n---\nassistant:\n%d\n", i, i)
			n.add(name, parse(t, ".leslie/"+dir+"/.meta/transcripts/"+name, []byte(b)))
		}
	}
	if got := n.total(); got.Runs != 51 || got.Copies != 51 || got.Events != 51 {
		t.Errorf("got %+v, want 51 runs, 51 copies, 51 events", got)
	}
	for id, h := range n.runs {
		if h.rank != 1 {
			t.Errorf("%s counts at a copy", id)
		}
	}
}

func TestDetect(t *testing.T) {
	header := []byte("Thread ID: thread-1\r\nChat ID: 1\r\n---\r\n")
	far := []byte("Thread ID: thread-1\n" + strings.Repeat("x", 1024) + "\n---\n")
	for _, c := range []struct {
		path string
		b    []byte
		want format.Claim
	}{
		{"a.txt", header, format.Claim{Strength: format.Likely, Role: roleTranscript}},
		{"a.txt", far, format.Claim{}},
		{"a/.leslie/threads/t/.meta/transcripts/a.txt", nil, format.Claim{Strength: format.Certain, Role: roleTranscript, Root: "a/.leslie"}},
		{"a/.leslie/threads/t/.meta/transcripts/a.md", []byte("x"), format.Claim{Strength: format.Weak, Role: roleDocument, Root: "a/.leslie"}},
		{".leslie/threads/t/plan/", nil, format.Claim{Strength: format.Weak, Role: format.Other, Root: ".leslie"}},
		{".leslie/threads/t/plan.md", nil, format.Claim{Strength: format.Weak, Role: format.Other, Root: ".leslie"}},
		{".leslie/threads/t/blob", []byte{0}, format.Claim{Strength: format.Weak, Role: format.Other, Root: ".leslie"}},
		{".leslie", []byte("x"), format.Claim{}},
		{"objectives.json", []byte(`{"goals":[]}`), format.Claim{}},
		{"objectives.json", []byte(`{"objectives":{"o":{"thread_ids":[]}}}`), format.Claim{Strength: format.Likely, Role: roleObjectives, Root: "."}},
		{"threads/thread-0000000g/plan.md", []byte("x"), format.Claim{}},
	} {
		if got := formattest.Detect(Format{}, c.path, c.b); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.path, got, c.want)
		}
	}
}
