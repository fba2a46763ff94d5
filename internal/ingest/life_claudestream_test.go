package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// claudePrinted returns what a headless run prints of the answer of claudeTurn. The message has less output than the sum of the turn, which is 7. A
// title took 5 and 2 more of another model; its sums go on from turn to turn of a process, from the given one.
func claudePrinted(session string, n, first int) string {
	const sums = `{"claude-sonnet-4-5":{"inputTokens":%d,"outputTokens":%d},"claude-haiku-4-5":{"inputTokens":%d,"outputTokens":%d}}`
	turns := n - first + 1
	line := func(id int, block string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"usage":{"input_tokens":10,"output_tokens":1}},"parent_tool_use_id":null,"session_id":%q,"uuid":"u%d-%d"}`,
			n, block, session, n, id) + "\n"
	}
	return fmt.Sprintf(`{"type":"system","subtype":"init","cwd":"/home/ada/shop","session_id":%q,"tools":[],"permissionMode":"default","claude_code_version":"2.1.0","uuid":"init-%d"}`, session, n) + "\n" +
		line(2, `{"type":"thinking","thinking":"wicker"}`) + line(3, `{"type":"text","text":"mended"}`) + claudeResult(session, n, fmt.Sprintf(sums, 10*turns, 7*turns, 5*turns, 2*turns))
}

func claudeResult(session string, n int, sums string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"mended","session_id":%q,"total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":7},"modelUsage":%s,"uuid":"result-%d"}`,
		session, sums, n) + "\n"
}

// TestLifeClaudeStream saves what runs of a session print: the first with its result once more, the second, which goes on in its process, and copies.
// Each turn counts once. Then the transcript of the session is found: it counts, and the output is a copy.
func TestLifeClaudeStream(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	one := claudePrinted(claudeA, 1, 1)
	l.write("ci/1.jsonl", "npm warn\n"+one)
	l.ingestAndCheck("a run", counts{runs: 1, conversations: 1, events: 2, in: 15, out: 9, problems: 1})
	lines := strings.SplitAfter(one, "\n")
	l.write("ci/1.json", lines[3])
	l.ingestAndCheck("its result", counts{runs: 1, conversations: 1, events: 2, in: 15, out: 9, problems: 1})
	l.write("ci/2.log", claudePrinted(claudeA, 2, 2))
	two := counts{runs: 1, conversations: 2, events: 4, in: 30, out: 18, problems: 1}
	l.ingestAndCheck("resumed", two)
	l.write("copy/2.log", claudePrinted(claudeA, 2, 2))
	l.ingestAndCheck("copied", two)
	l.append("ci/2.log", claudePrinted(claudeA, 3, 2))
	three := counts{runs: 1, conversations: 2, events: 6, in: 45, out: 27, problems: 1}
	l.ingestAndCheck("another prompt", three)
	l.checkFresh("another prompt")
	l.checkQuery("the last result", "SELECT outcome FROM v_runs", "succeeded")
	l.checkCopy("laptop", counts{runs: 1, conversations: 2, events: 6, in: 45, out: 27, problems: 1})

	l.write(claudeFile(claudeA), claudeTurn(claudeA, 1)+claudeTurn(claudeA, 2)+claudeTurn(claudeA, 3))
	l.ingestAndCheck("the transcript", counts{runs: 1, conversations: 1, events: 9, in: 30, out: 9, problems: 1})
	l.checkFresh("the transcript")
}

// TestLifeClaudeStreamKeepsSums has the second run of a session, whose sums include the first one's, and then the first run.
func TestLifeClaudeStreamKeepsSums(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	newer := func(n int) string {
		return strings.Replace(claudePrinted(claudeA, n, 1), `"claude_code_version":"2.1.0"`, `"claude_code_version":"2.1.280"`, 1)
	}
	l.write("ci/2.jsonl", newer(2))
	l.ingestAndCheck("the second run", counts{runs: 1, conversations: 1, events: 2, in: 30, out: 18})
	first := strings.SplitAfter(newer(1), "\n")
	l.write("ci/1.jsonl", strings.Join(first[:3], ""))
	l.ingestAndCheck("the first, without sums", counts{runs: 1, conversations: 2, events: 4, in: 20, out: 8})
	l.checkFresh("without sums")
	l.append("ci/1.jsonl", first[3])
	l.ingestAndCheck("the first: what the second title took is unknown", counts{runs: 1, conversations: 2, events: 4, in: 25, out: 16})
	l.checkFresh("both")
}

// TestLifeClaudeStreamFirstRest has two runs of a session whose sums go on. The first made no title, so its sums do not name the model that the
// second one's have: nothing of that model is certain.
func TestLifeClaudeStreamFirstRest(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	run := func(n int, sums string) string {
		lines := strings.SplitAfter(claudePrinted(claudeA, n, n), "\n")
		lines[0] = strings.Replace(lines[0], "2.1.0", "2.1.280", 1)
		return strings.Join(lines[:3], "") + claudeResult(claudeA, n, sums)
	}
	second := run(2, `{"claude-sonnet-4-5":{"inputTokens":20,"outputTokens":14},"claude-haiku-4-5":{"inputTokens":5,"outputTokens":2}}`)
	l.write("ci/2", second)
	l.write("cut/2", second[:len(second)-99])
	l.ingestAndCheck("the second run", counts{runs: 1, conversations: 1, events: 2, in: 25, out: 16, problems: 1})
	l.write("ci/1", run(1, `{"claude-sonnet-4-5":{"inputTokens":10,"outputTokens":7}}`))
	l.ingestAndCheck("both", counts{runs: 1, conversations: 2, events: 4, in: 20, out: 14, problems: 1})
	l.checkFresh("both")
	l.write("ci/all", run(1, `{"claude-sonnet-4-5":{"inputTokens":10,"outputTokens":7}}`)+second)
	l.ingestAndCheck("joined, it is certain", counts{runs: 1, conversations: 2, events: 4, in: 25, out: 16, problems: 1})
	l.checkFresh("joined")
}

// TestLifeClaudeStreamOfAgents has a session with a sub-agent, and then what the run printed of both.
func TestLifeClaudeStreamOfAgents(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	printed := claudePrinted(claudeA, 1, 1)
	inside := strings.ReplaceAll(strings.ReplaceAll(printed, `"parent_tool_use_id":null`, `"parent_tool_use_id":"toolu_1"`), "1-", "agent-")
	inside = strings.ReplaceAll(strings.Join(strings.SplitAfter(inside, "\n")[1:3], ""), "msg_1", "msg_agent")
	stream := strings.Replace(printed, "\n", "\n"+inside, 1)
	agent := strings.ReplaceAll(claudeTurn(claudeA, 4), `"isSidechain":false`, `"isSidechain":true`)
	agent = strings.ReplaceAll(strings.ReplaceAll(agent, "u4-", "uagent-"), "msg_4", "msg_agent")
	dir := strings.TrimSuffix(claudeFile(claudeA), ".jsonl")
	said := counts{runs: 1, conversations: 2, events: 6, in: 20, out: 6, links: 1}

	l.write(claudeFile(claudeA), claudeTurn(claudeA, 1))
	l.write(dir+"/subagents/agent-c0ffee1.jsonl", agent)
	l.ingestAndCheck("a session", said)
	l.write("ci/run.txt", stream)
	l.ingestAndCheck("its output", said)
	l.checkQuery("they are copies", "SELECT count(*) FROM v_events WHERE path = 'ci/run.txt' AND counted", "0")
	l.checkFresh("its output")

	alone := newLife(t, "claude-code")
	alone.write("ci/run.txt", stream)
	alone.ingestAndCheck("its output alone", counts{runs: 1, conversations: 1, events: 4, in: 25, out: 10})
}
