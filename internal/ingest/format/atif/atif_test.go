package atif

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

const trial = "jobs/j/harbour-log__AbCdEfG/"

func FuzzTrajectory(f *testing.F) {
	formattest.Fuzz(f, New(), roleTrajectory, trial+"agent/trajectory.json")
}

func FuzzList(f *testing.F) { formattest.Fuzz(f, New(), roleList, "set.json") }

func FuzzLines(f *testing.F) { formattest.Fuzz(f, New(), roleLines, "set.jsonl") }

func FuzzResult(f *testing.F) { formattest.Fuzz(f, New(), roleResult, trial+"result.json") }

func FuzzConfig(f *testing.F) { formattest.Fuzz(f, New(), roleConfig, trial+"config.json") }

func FuzzVerifier(f *testing.F) {
	formattest.Fuzz(f, New(), roleVerifier, trial+"verifier/test-stdout.txt")
}

// TestDetect claims trajectories by content, and what lies beside them in a trial by place and content.
func TestDetect(t *testing.T) {
	long := strings.Repeat("x", format.HeadSize)
	const (
		said   = `{"schema_version":"ATIF-v1.9","steps":[]}`
		result = `{"id":"x","task_name":"t","trial_name":"t__AbCdEfG","trial_uri":"file:///x"}`
		config = `{"task":{"path":"t"},"trial_name":"t__AbCdEfG","trials_dir":"jobs/j"}`
	)
	document := format.Claim{Strength: format.Certain, Role: roleTrajectory}
	printed := format.Claim{Strength: format.Likely, Role: roleVerifier}
	kept := format.Claim{Strength: format.Likely, Role: format.Other}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"x/trajectory.json", said, document},
		{"x/any name", "\xef\xbb\xbf " + said, document},
		{"x/openhands.trajectory.json", said, document},
		{"x/late.json", `{"agent":{},"extra":{},"schema_version":"ATIF-v1.7"`, document},
		{"x/set.json", "[" + said + "," + said + "]", format.Claim{Strength: format.Certain, Role: roleList}},
		{"x/set.jsonl", "\n" + said + "\n" + said, format.Claim{Strength: format.Certain, Role: roleLines, Log: true}},
		{"x/trajectory.json", `{"schema_version":"1.0","steps":[]}`, format.Claim{}},
		{"x/trajectory.json", `{"schema_version":"ATIF-validator-1","steps":[]}`, format.Claim{}},
		{"x/trajectory.json", `{"trajectory":` + said + `}`, format.Claim{}},
		{"x/trajectory.json", "", format.Claim{}},
		{"x/late.json", `{"steps":[{"step_id":1,"source":"user","message":"` + long, format.Claim{Strength: format.Likely, Role: roleTrajectory}},
		{"x/trajectory.json", `{"agent":{"name":"a","tool_definitions":[{"d":"` + long, format.Claim{Strength: format.Likely, Role: roleTrajectory}},
		{"x/late.json", `{"steps":[{"step_id":1,"source":"node","message":"` + long, format.Claim{}},
		{"x/late.json", `{"steps":[{"step_id":1,"source":"user","message":"x"}]}`, format.Claim{}},
		{trial + "result.json", result, format.Claim{Strength: format.Certain, Role: roleResult}},
		{"x/result.json", result, format.Claim{Strength: format.Certain, Role: roleResult}},
		{"x/other.json", result, format.Claim{}},
		{trial + "config.json", config, format.Claim{Strength: format.Certain, Role: roleConfig}},
		{"jobs/j/result.json", `{"id":"x","n_total_trials":2,"stats":{}}`, kept},
		{"jobs/j/config.json", `{"job_name":"j","jobs_dir":"jobs"}`, kept},
		{trial + "trial.log", "x", kept},
		{trial + "verifier/reward.txt", "1", printed},
		{trial + "steps/one/verifier/test-stdout.txt", "ok", printed},
		{trial + "exception.txt", "x", printed},
		{"search/result.json", `{"n_total_trials":10,"best":0.5}`, format.Claim{}},
		{trial + "agent/reward.txt", "1", format.Claim{}},
		{"jobs/j/harbour/verifier/reward.txt", "1", format.Claim{}},
		{"jobs/j/exception.txt", "x", format.Claim{}},
	})
}

// TestPlace has directories that are called like a trial, but do not have what one has.
func TestPlace(t *testing.T) {
	for path, want := range map[string]string{
		trial + "agent/trajectory.json":           "harbour-log__AbCdEfG",
		trial + "steps/one/agent/trajectory.json": "harbour-log__AbCdEfG",
		trial + "result.json":                     "harbour-log__AbCdEfG",
		"notes__project/sessions/a.json":          "",
		"notes__project/steps/one/logs/a.json":    "",
	} {
		if got := placeOf(path).trial; got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// TestCut cuts trajectories off everywhere: what is read of them must keep its names when they are whole.
func TestCut(t *testing.T) {
	files, err := filepath.Glob("testdata/*/in/*.json")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if raw = bytes.TrimSpace(raw); raw[0] != '{' {
			continue
		}
		whole := namesIn(t, raw)
		for n := range raw {
			for name := range namesIn(t, raw[:n]) {
				if !whole[name] {
					t.Fatalf("%s, %d bytes: %s", file, n, name)
				}
			}
		}
	}
}

// namesIn returns the names of what counts in a trajectory.
func namesIn(t *testing.T, raw []byte) map[string]bool {
	names := map[string]bool{}
	for r, err := range New().Parse(format.Input{Role: roleTrajectory, Path: "x.json", Reader: bytes.NewReader(raw)}) {
		if err != nil {
			t.Fatal(err)
		}
		switch r := r.(type) {
		case *transcript.Run:
			names["run "+r.ID] = true
		case *transcript.Conversation:
			names["conversation "+r.ID] = true
		case *transcript.Event:
			names["event "+r.ID] = true
		case *transcript.Usage:
			names["usage "+r.Key] = true
		}
	}
	return names
}

// TestLargeStep has steps with so many members, calls and results that they are only read to their end if none is looked for among all others.
func TestLargeStep(t *testing.T) {
	const n = 300_000
	begin := `{"schema_version":"ATIF-v1.4","session_id":"s","steps":[{"step_id":1,"source":"agent","message":"",`
	for name, c := range map[string]struct {
		step string
		want int // events
	}{
		"results of no call": {`"tool_calls":[` + strings.Repeat(`{"tool_call_id":"a"},`, n) + `{}],"observation":{"results":[` + strings.Repeat(`{"source_call_id":"b"},`, n) + `{}]}`, 2*n + 2},
		"members":            {strings.Repeat(`"x":0,`, n) + `"tool_calls":[` + strings.Repeat(`{},`, n) + `{}]`, n + 1},
	} {
		events := 0
		for r, err := range New().Parse(format.Input{Role: roleTrajectory, Reader: strings.NewReader(begin + c.step + "}]}")}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := r.(*transcript.Event); ok {
				events++
			}
		}
		if events != c.want {
			t.Errorf("%s: %d events, want %d", name, events, c.want)
		}
	}
}

// TestContinuedTotal has a session whose steps state tokens, and its continuation, which only states the sum of both. Each has an id of its own.
func TestContinuedTotal(t *testing.T) {
	const session, id = "123e4567-e89b-12d3-a456-426614174000", "-e89b-12d3-a456-426614174000"
	begin := func(first, suffix string) string {
		return `{"schema_version":"ATIF-v1.7","trajectory_id":"` + first + id + `","session_id":"` + session + suffix + `","steps":[{"step_id":1,"source":"agent","message":"x"`
	}
	f := &transcript.Family{}
	for _, doc := range []string{
		begin("aaaaaaaa", "") + `,"metrics":{"prompt_tokens":100,"completion_tokens":5}}]}`,
		begin("bbbbbbbb", "-cont-1") + `}],"final_metrics":{"total_prompt_tokens":150,"total_completion_tokens":7}}`,
	} {
		for r, err := range New().Parse(format.Input{Role: roleTrajectory, Path: "x.json", Reader: strings.NewReader(doc)}) {
			if err != nil {
				t.Fatal(err)
			}
			if u, ok := r.(*transcript.Usage); ok {
				f.Usage = append(f.Usage, u)
			}
		}
	}
	atif{}.Resolve(f)
	if len(f.Usage) != 2 || f.Usage[0].Verdict != "" || f.Usage[1].Verdict != transcript.DerivedTotal {
		t.Errorf("%+v", f.Usage)
	}
}
