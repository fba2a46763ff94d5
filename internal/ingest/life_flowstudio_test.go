package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const flowRun = "swarm/runs/run-20261101-100000-abc123"

// flowMeta is a run's meta.json.
func flowMeta(status string) string {
	return fmt.Sprintf(`{
  "id": "run-20261101-100000-abc123",
  "spec": {"flow_keys": ["build"], "profile_id": null, "backend": "claude-step-orchestrator", "initiator": "cli", "params": {}},
  "status": %q, "sdlc_status": "unknown",
  "created_at": "2026-11-01T10:00:00.000001+00:00Z", "updated_at": "2026-11-01T10:00:00.000001+00:00Z",
  "started_at": "2026-11-01T10:00:01.000001+00:00Z", "completed_at": null, "error": null, "tags": []
}`, status)
}

// flowEvent is a line of events.jsonl.
func flowEvent(seq int, kind, payload string) string {
	return fmt.Sprintf(`{"event_id":"e%d","seq":%d,"run_id":"run-20261101-100000-abc123","ts":"2026-11-01T10:00:%02d.5+00:00","kind":%q,"flow_key":"build","step_id":"implement","agent_key":null,"payload":%s}`+"\n",
		seq, seq, seq%60, kind, payload)
}

// flowTranscript returns the engine's transcript of one attempt at a step: init, prompt, answer, result, and a call with its
// result for each word. All lines have the minute of the attempt.
func flowTranscript(minute int, words []string, in, out int, usd string) string {
	at := fmt.Sprintf(`"timestamp": "2026-11-01T10:%02d:30.000000Z"`, minute)
	s := fmt.Sprintf(`{"type": "init", "session_id": "s%d", "model": "claude-sonnet-4-5", %s}`+"\n", minute, at) +
		fmt.Sprintf(`{"type": "message", "role": "user", "content": "implement the parser", %s}`+"\n", at)
	for i, word := range words {
		s += fmt.Sprintf(`{"type": "tool_use", "tool": "Bash", "id": "t%d", "input": {"command": "echo %s"}, %s}`+"\n", i, word, at) +
			fmt.Sprintf(`{"type": "tool_result", "tool": "Bash", "tool_use_id": "t%d", "success": true, "output": %q, %s}`+"\n", i, word, at)
	}
	return s + fmt.Sprintf(`{"type": "message", "role": "assistant", "content": "done at %d", %s}`+"\n", minute, at) +
		fmt.Sprintf(`{"type": "result", "subtype": "success", "usage": {"input_tokens": %d, "output_tokens": %d}, "model": "claude-sonnet-4-5", "total_cost_usd": %s, %s}`+"\n", in, out, usd, at)
}

// flowReceipt is the receipt of an attempt; routing is what the orchestrator adds when it writes the file again.
func flowReceipt(minute int, status string, in, out int, routing string) string {
	return fmt.Sprintf(`{
  "engine": "claude-step", "mode": "cli", "execution_mode": "legacy", "provider": "anthropic", "model": "claude-sonnet-4-20250514",
  "step_id": "implement", "flow_key": "build", "run_id": "run-20261101-100000-abc123", "agent_key": "code-implementer",
  "started_at": "2026-11-01T10:%02d:00.000000+00:00Z", "completed_at": "2026-11-01T10:%02d:31.000000+00:00Z", "duration_ms": 31000,
  "status": %q, "tokens": {"prompt": %d, "completion": %d, "total": %d},
  "transcript_path": "llm/implement-code-implementer-claude.jsonl"%s
}`, minute, minute, status, in, out, in+out, routing)
}

// TestLifeFlowStudio follows a run through a retry: the cost of an attempt still counts after its files are overwritten.
func TestLifeFlowStudio(t *testing.T) {
	t.Parallel()
	const (
		meta     = flowRun + "/meta.json"
		timeline = flowRun + "/events.jsonl"
		llm      = flowRun + "/build/llm/implement-code-implementer-claude.jsonl"
		receipt  = flowRun + "/build/receipts/implement-code-implementer.json"
	)
	l := newLife(t, "flow-studio")
	l.write(meta, flowMeta("pending"))
	l.write(flowRun+"/spec.json", `{"flow_keys": ["build"], "backend": "claude-step-orchestrator"}`)
	l.write(timeline, flowEvent(1, "run_created", `{}`)+flowEvent(2, "step_start", `{"step_index": 1}`))
	// The directory makes the run; nobody has said anything yet.
	l.ingestAndCheck("begun", counts{runs: 1})
	l.checkFresh("begun")

	// Attempt 1: init, prompt, two calls with results, answer, result are 8 lines. Tokens from the receipt, cost from
	// the result line.
	l.write(llm, flowTranscript(1, []string{"alpha", "beta"}, 1000, 200, "0.0123"))
	l.write(receipt, flowReceipt(1, "failed", 1000, 200, ""))
	l.append(timeline, flowEvent(3, "tool_start", `{"tool":"Bash"}`)+flowEvent(4, "step_end", `{"status":"failed"}`))
	l.replace(meta, flowMeta("running"))
	one := counts{runs: 1, conversations: 1, events: 8, calls: 2, results: 2, in: 1000, out: 200, cost: 12300}
	l.ingestAndCheck("attempt 1", one)
	l.checkFresh("attempt 1")
	l.checkQuery("attempt 1", "SELECT status, outcome FROM v_runs", "running running")

	// Written again with its routing: the same receipt, its tokens count once. The line of the timeline that is being
	// written is a problem until it is complete.
	l.write(receipt, flowReceipt(1, "failed", 1000, 200, `, "routing": {"loop_iteration": 0, "max_iterations": 3, "decision": "loop", "reason": "failed"}`))
	torn := flowEvent(5, "route_decision", `{"decision":"loop"}`)
	l.append(timeline, torn[:50])
	one.problems = 1
	l.ingestAndCheck("routed", one)
	l.checkFresh("routed")
	l.append(timeline, torn[50:])
	one.problems = 0
	l.ingestAndCheck("timeline complete", one)
	l.checkFresh("timeline complete")
	l.checkQuery("routed", "SELECT counted, verdict, attributes ->> '$.\"routing.decision\"' FROM v_receipts ORDER BY version",
		"0 earlier version <nil>", "1 counted loop")

	// The retry overwrites both: 6 lines and one call now, the 8 lines of attempt 1 are an earlier version. Its
	// tokens and its cost were spent: 1000+700, 200+90, 12300+4000.
	l.write(llm, flowTranscript(2, []string{"gamma"}, 700, 90, "0.004"))
	l.write(receipt, flowReceipt(2, "succeeded", 700, 90, ""))
	l.append(timeline, flowEvent(6, "step_start", `{"step_index": 1}`)+flowEvent(7, "step_end", `{"status":"succeeded"}`))
	two := counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1, in: 1700, out: 290, cost: 16300}
	l.ingestAndCheck("attempt 2", two)
	// An archive that was not there cannot know of attempt 1.
	late := counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1, in: 700, out: 90, cost: 4000}
	l.checkFreshCounts("attempt 2", late)

	l.write(receipt, flowReceipt(2, "succeeded", 700, 90, `, "routing": {"loop_iteration": 1, "max_iterations": 3, "decision": "advance", "reason": "ok"}`))
	l.append(timeline, flowEvent(8, "run_completed", `{}`))
	l.write(meta+".x7f3k2.tmp", "{")
	l.replace(meta, flowMeta("succeeded"))
	l.ingestAndCheck("succeeded", two)
	l.checkFreshCounts("succeeded", late)
	l.checkQuery("succeeded", "SELECT status, outcome, input_tokens, events FROM v_runs", "succeeded succeeded 1700 6")
	l.checkQuery("attempts", "SELECT verdict, version, events, status, step, agent, attributes ->> '$.named_by' FROM v_conversations WHERE path LIKE '%/llm/%' ORDER BY version",
		"earlier version 1 8 failed implement code-implementer receipt", "counted 2 6 succeeded implement code-implementer receipt")
	l.checkQuery("spent", "SELECT counted, version, input_tokens, cost_microusd FROM v_usage WHERE reported_by = 'total_cost_usd' ORDER BY version", "1 1 <nil> 12300", "1 2 <nil> 4000")
	// Call and result of each attempt hold its words; both stay to be found.
	l.checkSearch("beta", 2)
	l.checkSearch("gamma", 2)

	// The garbage collector moves the run away: it was there, and what is in quarantine is no run.
	l.move(flowRun, "swarm/runs/_corrupt/run-20261101-100000-abc123")
	l.ingestAndCheck("quarantined", two)
	l.checkFreshCounts("quarantined", counts{})
	l.checkQuery("quarantined", "SELECT native_id FROM v_runs WHERE counted", "run-20261101-100000-abc123")
}

// TestLifeFlowStudioTwice ingests a step before and after its receipt, and again after both files were rewritten with the same bytes.
// Then the run is deleted: what was ingested still counts.
func TestLifeFlowStudioTwice(t *testing.T) {
	t.Parallel()
	const (
		llm     = flowRun + "/build/llm/implement-code-implementer-claude.jsonl"
		receipt = flowRun + "/build/receipts/implement-code-implementer.json"
	)
	l := newLife(t, "flow-studio")
	l.write(flowRun+"/meta.json", flowMeta("running"))
	l.write(llm, flowTranscript(1, nil, 10, 1, "0.001"))
	// The receipt is not written yet: the tokens of the transcript alone are in no total.
	l.ingestAndCheck("no receipt", counts{runs: 1, conversations: 1, events: 4, cost: 1000})
	l.write(receipt, flowReceipt(1, "succeeded", 10, 1, ""))
	l.ingestAndCheck("receipt", counts{runs: 1, conversations: 1, events: 4, in: 10, out: 1, cost: 1000})
	l.checkFresh("receipt")
	// The same bytes again, at another time: nothing has happened.
	l.write(llm, l.read(llm))
	l.write(receipt, l.read(receipt))
	l.ingestAndCheck("touched", counts{runs: 1, conversations: 1, events: 4, in: 10, out: 1, cost: 1000})
	l.remove(flowRun)
	l.ingestAndCheck("pruned", counts{runs: 1, conversations: 1, events: 4, in: 10, out: 1, cost: 1000})
}

// TestReceiptOverMidnight has a step that runs past the end of a day and month: its tokens count on the day on which
// it ended.
func TestReceiptOverMidnight(t *testing.T) {
	t.Parallel()
	l := newLife(t, "flow-studio")
	l.write(flowRun+"/meta.json", flowMeta("succeeded"))
	late := strings.NewReplacer("2026-11-01T10:01:00", "2026-10-31T23:58:00", "2026-11-01T10:01:31", "2026-11-01T00:05:00").Replace(flowReceipt(1, "succeeded", 1000, 200, ""))
	l.write(flowRun+"/build/receipts/implement-code-implementer.json", late)
	l.ingestAndCheck("over midnight", counts{runs: 1, in: 1000, out: 200})
	l.checkQuery("over midnight", "SELECT day, input_tokens + output_tokens FROM v_cost_daily", "2026-11-01 1200")
}

// TestSameBadLine: two files of a run that end in the same torn bytes are two problems; a copy of one of them adds none.
func TestSameBadLine(t *testing.T) {
	t.Parallel()
	l := newLife(t, "flow-studio")
	for _, flow := range []string{"build", "plan"} {
		l.write(flowRun+"/"+flow+"/llm/impl-coder-claude.jsonl", "{torn\n"+
			`{"timestamp":"2026-11-01T10:00:00Z","phase":"work","type":"assistant","message":{"content":[{"type":"text","text":"`+flow+`"}]},"sessionId":"s"}`+"\n")
	}
	l.ingestShuffled()
	if got := l.world.totals().Formats["flow-studio"].Problems; got != 2 {
		t.Errorf("%d problems, want 2", got)
	}
	l.write("kept/"+flowRun+"/build/llm/impl-coder-claude.jsonl", l.read(flowRun+"/build/llm/impl-coder-claude.jsonl"))
	l.ingestShuffled()
	if got := l.world.totals().Formats["flow-studio"].Problems; got != 2 {
		t.Errorf("%d problems with a copy, want 2", got)
	}
	l.world.checkReindex("with a copy")
}

// TestEmptyDocuments: documents of a run that a full disk left empty, or nearly so, have the same bytes, and each is a
// problem; copies of them in a copy of the run add none.
func TestEmptyDocuments(t *testing.T) {
	l := newLife(t, "flow-studio")
	for name, content := range map[string]string{"meta.json": "", "run_state.json": "", "build/receipts/impl-coder.json": "", "plan/receipts/impl-coder.json": "",
		"gate/receipts/check-coder.json": "{\n", "deploy/receipts/check-coder.json": "{\n"} {
		l.write(flowRun+"/"+name, content)
		l.write("kept/"+flowRun+"/"+name, content)
	}
	l.ingestShuffled()
	if got := l.world.totals().Formats["flow-studio"].Problems; got != 6 {
		t.Errorf("%d problems, want 6", got)
	}
	l.world.checkReindex("with a copy")
}
