package ingest_test

import (
	"fmt"
	"testing"
)

const (
	muxStore = ".mux/sessions/"
	muxA     = muxStore + "a1b2c3d4e5/"
	muxB     = "f00dcafe01"
)

// muxLine is a message of a workspace.
func muxLine(workspace string, n int, role, parts, more string) string {
	return fmt.Sprintf(`{"id":"%s-%d-abc","role":%q,"parts":[%s],"metadata":{"historySequence":%d,"timestamp":%d%s},"workspaceId":%q}`+"\n",
		role, n, role, parts, n, 1787000000000+1000*int64(n), more, workspace)
}

func muxSays(workspace string, n int, text string) string {
	return muxLine(workspace, n, "user", fmt.Sprintf(`{"type":"text","text":%q}`, text), "")
}

const muxUsed = `,"model":"anthropic:claude-opus-4-8","usage":{"inputTokens":100,"outputTokens":10,"cachedInputTokens":40}`

// TestLifeMux has an answer whose row is first empty and then written anew, a call that is the last row of it, a prompt that is edited, a compaction that moves rows to
// the archive, and a sub-agent whose workspace goes to that of its parent.
func TestLifeMux(t *testing.T) {
	t.Parallel()
	l := newLife(t, "mux")
	asked := muxSays("a", 1, "mend")
	l.write(muxA+"chat.jsonl", asked+muxLine("a", 2, "assistant", "", `,"partial":true`))
	l.write(muxA+"partial.json", `{"id":"assistant-2-abc"}`)
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	l.remove(muxA + "partial.json")
	const call = `{"type":"dynamic-tool","toolCallId":"c1","toolName":"task","state":"%s","input":{"prompt":"find"}%s}`
	answered := asked + muxLine("a", 2, "assistant", `{"type":"text","text":"mend"},{"type":"text","text":"ed"},`+fmt.Sprintf(call, "output-available", `,"output":{"status":"completed","taskId":"f00dcafe01"}`), muxUsed)
	l.write(muxA+"chat.jsonl", answered)
	child := muxSays(muxB, 5, "find") + muxLine(muxB, 6, "assistant", `{"type":"text","text":"found"}`, muxUsed)
	l.write(muxStore+muxB+"/chat.jsonl", child)
	l.ingestAndCheck("answered", counts{runs: 2, conversations: 2, events: 6, calls: 1, results: 1, in: 120, out: 20, links: 1})
	l.checkSearch("mended", 1)
	l.remove(muxStore + muxB + "/chat.jsonl")
	l.write(muxA+"subagent-transcripts/"+muxB+"/chat.jsonl", child)
	l.write(muxA+"subagent-transcripts.json", `{"version":1,"artifactsByChildTaskId":{"f00dcafe01":{"parentWorkspaceId":"a1b2c3d4e5"}}}`)
	one := counts{runs: 1, conversations: 2, events: 6, calls: 1, results: 1, in: 120, out: 20, links: 1}
	l.ingestAndCheck("child archived", one)

	// The user edits what was said next: what followed is cut off.
	l.write(muxA+"chat.jsonl", answered+muxSays("a", 3, "weave")+muxLine("a", 4, "assistant", `{"type":"text","text":"woven"}`, muxUsed))
	two := one
	two.events, two.in, two.out = 8, 180, 30
	l.ingestAndCheck("went on", two)
	l.write(muxA+"chat.jsonl", answered+muxSays("a", 7, "spin"))
	two.events = 9
	l.ingestAndCheck("edited", two)
	l.checkSearch("woven", 1)

	// A compaction: what was said goes to the archive.
	l.write(muxA+"chat-archive.jsonl", answered+muxSays("a", 7, "spin"))
	l.write(muxA+"chat.jsonl", muxLine("a", 8, "assistant", `{"type":"text","text":"a summary"}`, `,"compacted":"user","compactionBoundary":true,"compactionEpoch":1`))
	two.events = 10
	l.ingestAndCheck("compacted", two)
	l.checkQuery("compacted", "SELECT DISTINCT title || ' ' || model FROM v_conversations WHERE verdict = 'counted' ORDER BY 1", "find claude-opus-4-8", "mend claude-opus-4-8")
}
