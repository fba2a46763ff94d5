package indextest

import (
	"github.com/txarchive/txarchive/internal/transcript"
)

// Small returns a corpus with one of everything: two runs of a family whose third is mentioned but not archived, an
// earlier version of an original, a copy, uncounted rows, tool calls, usage, a receipt, steps, links with a cycle,
// and problems.
func Small() []Original {
	awf := func(path string, number int, size int64, records ...transcript.Record) Original {
		return Original{Source: "runs", Path: path, Number: number, Format: "awf", Role: "transcript", Claim: ".", Size: size, Records: records}
	}
	parent := &transcript.Run{ID: "parent", Group: "nightly", Project: "/srv/shop", Flow: "build", Title: "Build the shop", Agent: "planner",
		Status: "success", Outcome: transcript.Succeeded, Attributes: transcript.Attributes{"queue": "fast"}}
	original := awf("parent.jsonl", 2, 2600, append([]transcript.Record{parent, &transcript.Conversation{Run: "parent", Model: "m-large"}}, parentRecords()...)...)
	earlier := awf("parent.jsonl", 1, 300, &transcript.Run{ID: "parent"}, &transcript.Conversation{Run: "parent"},
		message("parent", 0, "user", "please build the shop"), message("parent", 1, "assistant", "forgotten answer"))
	copied := original
	copied.Path, copied.Claim, copied.Content = "mirror/parent.jsonl", "mirror", "the same bytes"
	original.Content = copied.Content
	child := awf("child.jsonl", 1, 400, &transcript.Run{ID: "child", Group: "nightly", Started: At(50), Outcome: transcript.Failed},
		&transcript.Conversation{Run: "child"}, message("child", 0, "user", "find the bug"),
		&transcript.Link{Kind: "message", From: run("child"), To: run("parent"), Time: At(60), Origin: Place(1)},
		&transcript.Problem{Run: "child", Kind: "bad json", Reason: "line is no object", Origin: Place(2)})
	return []Original{earlier, original, copied, child,
		{Source: "runs", Path: "notes.txt", Claim: ".", Size: 10},
		{Source: "runs", Path: "empty.txt", Claim: ".", Size: 0}}
}

func run(id string) transcript.End { return transcript.End{Type: "run", ID: id} }

func message(run string, n int, role, text string) *transcript.Event {
	return &transcript.Event{Run: run, Kind: transcript.KindMessage, Role: role, Type: "message." + role, Time: At(int64(n)), Origin: Place(n),
		Parts: []transcript.Part{{Text: text}}}
}

// parentRecords returns a conversation of six events, the third with two parts.
func parentRecords() []transcript.Record {
	tools := &transcript.Event{Run: "parent", Kind: transcript.KindToolCall, Role: "assistant", Time: At(2), Origin: Place(2), Parts: []transcript.Part{
		{Kind: transcript.KindReasoning, Text: "I should look at srcFile first"},
		{Kind: transcript.KindToolCall, Text: "cat src/health.py", Call: &transcript.Call{ID: "t1", Name: "Bash", Input: 17, Paths: []string{"src/health.py"}}}}}
	result := &transcript.Event{Run: "parent", Kind: transcript.KindToolResult, Role: "tool", Time: At(4), Origin: Place(3), Parts: []transcript.Part{
		{Text: "permission denied", Result: &transcript.Result{Call: "t1", Name: "Bash", Failed: transcript.Yes, Status: "error", Output: 17}}}}
	aside := &transcript.Event{Run: "parent", Verdict: transcript.Uncounted, Kind: transcript.KindSystem, Time: At(1), Origin: Place(10),
		Parts: []transcript.Part{{Text: "workflow input about the shop"}}}
	untimed := &transcript.Event{Run: "parent", Kind: transcript.KindMessage, Role: "assistant", Origin: Place(5), Agent: "coder",
		Attributes: transcript.Attributes{"stop_reason": "max_tokens"}, Parts: []transcript.Part{{Text: "done without a time"}}}
	return []transcript.Record{
		message("parent", 0, "user", "please build the shop"), message("parent", 1, "assistant", "building"), tools, result,
		message("parent", 4, "assistant", "the answer is 42"), untimed, aside,
		&transcript.Usage{Run: "parent", Key: "req-1", Time: At(1), Model: "m-large", Input: transcript.Known(100), Output: transcript.Known(20),
			CacheRead: transcript.Known(5), CacheWrite: transcript.Known(7), CacheWrite1h: transcript.Known(1), Cost: transcript.Known(1_234_567), CostSource: "cost_usd", Origin: Place(1)},
		&transcript.Usage{Run: "parent", Key: "req-2", Time: At(4), Model: "m-large", Input: transcript.Known(50), Output: transcript.Known(10), Origin: Place(4)},
		&transcript.Receipt{Run: "parent", Key: "build", Kind: "step", Flow: "build", Step: "compile", Status: "ok", Outcome: transcript.Succeeded,
			Started: At(0), Ended: At(5), Duration: transcript.Known(5_000_000), Origin: Place(11)},
		&transcript.Step{Run: "parent", Key: "s1", Name: "compile", Kind: "agent", Status: "done", Started: At(0), Ended: At(5), Origin: Place(12)},
		&transcript.Step{Run: "parent", Key: "s2", Parent: "s1", Name: "test", Kind: "command", ChildRun: "child", Origin: Place(13)},
		&transcript.Link{Kind: "parent", From: run("parent"), To: run("child"), Time: At(3), Origin: Place(14)},
		&transcript.Link{Kind: "parent", From: run("parent"), To: run("child"), Time: At(4), Origin: Place(15)},
		&transcript.Run{ID: "lost", Named: true},
		&transcript.Link{Kind: "parent", From: run("parent"), To: run("lost"), Time: At(5), Origin: Place(16)},
		&transcript.Link{Kind: "fork", From: run("ghost"), To: run("parent"), Time: At(6), Origin: Place(20)},
		&transcript.Link{Kind: "message", From: run("parent"), To: transcript.End{Type: "actor", ID: "operator"}, Uncounted: true, Origin: Place(17)},
		&transcript.Link{Kind: "reference", From: run("parent"), To: transcript.End{Type: "group", ID: "nightly"}, Origin: Place(18)},
		&transcript.Problem{Run: "parent", Kind: "bad json", Reason: "unexpected end", Origin: Place(19)},
	}
}
