package devflow

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
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

// totals and runs are what testdata/sample.json states, by its keys.
type totals struct {
	Runs         int     `json:"runs"`
	RunsLive     int     `json:"runs_live"`
	RunsArchived int     `json:"runs_archived"`
	Events       int     `json:"events"`
	EventsLive   int     `json:"events_live"`
	ToolCalls    int     `json:"tool_calls"`
	ToolResults  int     `json:"tool_results"`
	TokensIn     int64   `json:"tokens_in"`
	TokensOut    int64   `json:"tokens_out"`
	Cost         float64 `json:"cost"`
	Links        int     `json:"links"`
	Problems     int     `json:"problems"`
}

type sampleRun struct {
	ID, Where, Status, Flow string
	Events                  int
	ToolCalls               int   `json:"tool_calls"`
	ToolResults             int   `json:"tool_results"`
	TokensIn                int64 `json:"tokens_in"`
	TokensOut               int64 `json:"tokens_out"`
	Cost                    float64
	Transcript              string
}

// held is what an archive would count of one run: by rank, one of several conversations and usages.
type held struct {
	run          *transcript.Run
	conversation *transcript.Conversation
	file         string
	events       []*transcript.Event
	usage        *transcript.Usage
	asides       []string
}

type store struct {
	runs            map[string]*held
	problems, links int
}

func (s *store) of(id string) *held {
	if s.runs[id] == nil {
		s.runs[id] = &held{}
	}
	return s.runs[id]
}

// add parses one file and keeps what counts.
func (s *store) add(t *testing.T, file string, b []byte) {
	t.Helper()
	claim := formattest.Detect(Format{}, file, b)
	if claim.Strength == format.None || claim.Role == format.Other {
		return
	}
	counts := map[string]bool{} // runs whose conversation counts in this file
	for _, record := range formattest.Check(t, Format{}, formattest.Input{Path: file, Root: claim.Root, Role: claim.Role, Bytes: b}) {
		switch r := record.(type) {
		case *transcript.Run:
			if h := s.of(r.ID); !r.Named && (h.run == nil || r.Rank > h.run.Rank) {
				h.run = r
			}
		case *transcript.Conversation:
			h := s.of(r.Run)
			if counts[r.Run] = h.conversation == nil || r.Rank > h.conversation.Rank; counts[r.Run] {
				h.conversation, h.events, h.file = r, nil, file
			}
		case *transcript.Event:
			if h := s.of(r.Run); r.Verdict == transcript.Uncounted {
				h.asides = append(h.asides, r.Parts[0].Text)
			} else if counts[r.Run] {
				h.events = append(h.events, r)
			}
		case *transcript.Usage:
			if h := s.of(r.Run); r.Verdict == "" && (h.usage == nil || r.Rank > h.usage.Rank) {
				h.usage = r
			}
		case *transcript.Link:
			s.links++
		case *transcript.Problem:
			s.problems++
		}
	}
}

func (h *held) sample() sampleRun {
	r := sampleRun{ID: h.run.ID, Where: "runs", Status: h.run.Status, Flow: h.run.Flow, Events: len(h.events)}
	if h.file != "" {
		r.Transcript = filepath.Base(h.file)
	}
	if h.run.Attributes["archived"] == true {
		r.Where = "archive"
		r.Transcript = "transcript.json"
	}
	for _, e := range h.events {
		for _, p := range e.Parts {
			if p.Call != nil {
				r.ToolCalls++
			}
			if p.Result != nil {
				r.ToolResults++
			}
		}
	}
	if u := h.usage; u != nil {
		r.TokensIn, r.TokensOut, r.Cost = u.Input.N, u.Output.N, float64(u.Cost.N)/1e9
	}
	return r
}

func (s *store) counted() []*held {
	return slices.Collect(func(yield func(*held) bool) {
		for _, id := range slices.Sorted(maps.Keys(s.runs)) {
			if s.runs[id].run != nil && !yield(s.runs[id]) {
				return
			}
		}
	})
}

func (s *store) totals() totals {
	n := totals{Links: s.links, Problems: s.problems}
	var nano int64
	for _, h := range s.counted() {
		r := h.sample()
		n.Runs++
		n.Events += r.Events
		n.ToolCalls += r.ToolCalls
		n.ToolResults += r.ToolResults
		n.TokensIn += r.TokensIn
		n.TokensOut += r.TokensOut
		if h.usage != nil {
			nano += h.usage.Cost.N
		}
		if r.Where == "runs" {
			n.RunsLive++
			n.EventsLive += r.Events
		} else {
			n.RunsArchived++
		}
	}
	n.Cost = float64(nano) / 1e9
	return n
}

func (s *store) find(query string) (runs []string, events int) {
	for _, h := range s.counted() {
		before := events
		for _, e := range h.events {
			if slices.ContainsFunc(e.Parts, func(p transcript.Part) bool { return strings.Contains(p.Text, query) }) {
				events++
			}
		}
		if events > before {
			runs = append(runs, h.run.ID)
		}
	}
	return runs, events
}

func sampleFiles(t *testing.T) map[string][]byte {
	t.Helper()
	return formattest.Files(t, filepath.Join("..", "..", "..", "..", "testdata", "runs", "devflow"))
}

func TestSample(t *testing.T) {
	var want struct {
		Totals totals
		Runs   []sampleRun
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
	slices.SortFunc(want.Runs, func(a, b sampleRun) int { return strings.Compare(a.ID, b.ID) })
	files := sampleFiles(t)
	// The order of files (a map has none) and the name of the base change nothing.
	for _, base := range []string{".devflow/", "", "data/", ".devflow/runs/"} {
		s := &store{runs: map[string]*held{}}
		for file, b := range files {
			s.add(t, base+strings.TrimPrefix(file, ".devflow/"), b)
		}
		if got := s.totals(); got != want.Totals {
			t.Errorf("base %q: got  %+v\nwant %+v", base, got, want.Totals)
		}
		var runs []sampleRun
		for _, h := range s.counted() {
			runs = append(runs, h.sample())
		}
		if !reflect.DeepEqual(runs, want.Runs) {
			t.Errorf("base %q: got  %+v\nwant %+v", base, runs, want.Runs)
		}
		for _, q := range want.Search {
			runs, events := s.find(q.Query)
			if events != q.Events || !slices.Equal(runs, q.Runs) {
				t.Errorf("search %q: %d events in %v, want %d in %v", q.Query, events, runs, q.Events, q.Runs)
			}
		}
		if asides := s.runs["2026-11-18-ticket-to-pr-3fa91c07"].asides; !slices.Contains(asides, "TK-421") {
			t.Errorf("base %q: TK-421 does not find the run, only %q is there", base, asides)
		}
	}
}

// A run's life: it starts, finishes, grows beyond 100 KB, moves into an archive and comes back. Whatever of these
// files an archive has seen, it is one run, and the best of them counts.
func TestLife(t *testing.T) {
	const dir = ".devflow/runs/2026-11-18-review-pr-123/"
	files := sampleFiles(t)
	finished, meta := files[dir+"transcript.json"], files[dir+"metadata.json"]
	running := bytes.Replace(meta, []byte(`"failed"`), []byte(`"running"`), 1)
	running = bytes.Replace(running, []byte("2500"), []byte("0"), 1)
	var packed, archived bytes.Buffer
	z := gzip.NewWriter(&packed)
	write(t, z, finished)
	z = gzip.NewWriter(&archived)
	w := tar.NewWriter(z)
	for name, b := range map[string][]byte{"metadata.json": meta, "transcript.json.gz": packed.Bytes(), "artifacts/spec.md": []byte("spec")} {
		if err := w.WriteHeader(&tar.Header{Name: "2026-11-18-review-pr-123/" + name, Size: int64(len(b)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, z, nil)

	s := &store{runs: map[string]*held{}}
	for i, step := range []struct {
		file   string
		b      []byte
		events int
		in     int64
		status string
		where  string
	}{
		{dir + "metadata.json", running, 0, 0, "running", ""},
		{dir + "transcript.json", finished, 3, 2500, "failed", dir + "transcript.json"},
		{dir + "metadata.json", meta, 3, 2500, "failed", dir + "transcript.json"},
		{dir + "transcript.json.gz", packed.Bytes(), 3, 2500, "failed", dir + "transcript.json.gz"},
		{".devflow/archive/2026-11/2026-11-18-review-pr-123.tar.gz", archived.Bytes(), 3, 2500, "failed", dir + "transcript.json.gz"},
		{dir + "transcript.json.gz", packed.Bytes()[:40], 3, 2500, "failed", dir + "transcript.json.gz"},
	} {
		s.add(t, step.file, step.b)
		all := s.counted()
		if len(all) != 1 {
			t.Fatalf("step %d: %d runs", i, len(all))
		}
		got := all[0].sample()
		if got.Events != step.events || got.TokensIn != step.in || got.Status != step.status || all[0].file != step.where {
			t.Errorf("step %d (%s): got %+v from %q", i, step.file, got, all[0].file)
		}
	}
	alone := &store{runs: map[string]*held{}}
	alone.add(t, ".devflow/archive/2026-11/2026-11-18-review-pr-123.tar.gz", archived.Bytes())
	if got := alone.totals(); got.Runs != 1 || got.Events != 3 || got.TokensIn != 2500 || got.Problems != 0 {
		t.Errorf("the archive alone: %+v", got)
	}
}

func write(t *testing.T, z *gzip.Writer, b []byte) {
	t.Helper()
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}
