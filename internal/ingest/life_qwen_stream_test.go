package ingest_test

import (
	"fmt"
	"testing"
)

// qwenOutput returns what a run of the program prints: a request with a call, and one with the answer. The total says more than both.
func qwenOutput(session string, n int) string {
	answer := func(i int, block string, in, out int) string {
		id := fmt.Sprintf("3a%06d-0000-4000-8000-00000000000%d", n, i)
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,"session_id":%q,"parent_tool_use_id":null,"message":{"id":%[1]q,"type":"message","role":"assistant","model":"qwen3-coder-plus","content":[%[3]s],"stop_reason":null,"usage":{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":4}}}`,
			id, session, block, in, out) + "\n"
	}
	return fmt.Sprintf(`{"type":"system","subtype":"init","uuid":%q,"session_id":%[1]q,"cwd":"/home/ada/shop","tools":[],"model":"qwen3-coder-plus","permission_mode":"yolo","qwen_code_version":"0.15.2"}`, session) + "\n" +
		answer(1, `{"type":"tool_use","id":"call_1","name":"read_file","input":{"path":"basket.go"}}`, 20, 2) +
		fmt.Sprintf(`{"type":"user","uuid":"3b%06d-0000-4000-8000-000000000001","session_id":%q,"parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","is_error":false,"content":"wicker"}]}}`, n, session) + "\n" +
		answer(2, `{"type":"text","text":"mended"}`, 30, 3) +
		fmt.Sprintf(`{"type":"result","subtype":"success","uuid":"3c%06d-0000-4000-8000-000000000001","session_id":%q,"is_error":false,"duration_ms":9,"num_turns":2,"result":"mended","usage":{"input_tokens":70,"output_tokens":9,"cache_read_input_tokens":8}}`, n, session) + "\n"
}

// TestLifeQwenStream has the saved output of a session that was resumed. It grows and is copied, and is only a copy as soon as there is
// the session.
func TestLifeQwenStream(t *testing.T) {
	t.Parallel()
	l := newLife(t, "qwen-code")
	first := qwenOutput(qwenA, 1)
	l.write("ci/1.log", first[:len(first)-500])
	l.ingestAndCheck("torn", counts{runs: 1, conversations: 1, events: 2, calls: 1, results: 1, in: 16, out: 2, problems: 1})
	l.append("ci/1.log", first[len(first)-500:])
	want := counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 42, out: 5}
	l.ingestAndCheck("whole", want)
	l.write("ci/copy", first+"done\n")
	want.problems = 1
	l.ingestAndCheck("copied", want)
	l.write("ci/2.txt", qwenOutput(qwenA, 2))
	want = counts{runs: 1, conversations: 1, events: 6, calls: 2, results: 2, in: 84, out: 10, problems: 1}
	l.ingestAndCheck("resumed", want)
	l.checkFresh("resumed")
	l.write(qwenFile(qwenA), qwenTurn(qwenA, 1)+qwenTurn(qwenA, 2))
	want = counts{runs: 1, conversations: 1, events: 4, in: 12, out: 6, problems: 1}
	l.ingestAndCheck("the session", want)
	l.checkFresh("the session")
	l.checkCopy("laptop", want)
}
