package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	handsStore = ".openhands/conversations/"
	handsA     = "0e00000000004000800000000000000a"
	handsB     = "0e00000000004000800000000000000b"
	handsC     = "0e00000000004000800000000000000c"
)

// handsID returns the id of an event.
func handsID(n int) string { return fmt.Sprintf("0e000000-0000-4000-8000-%012d", n) }

// handsSaid writes an event in which the user, or the agent with a response, says something.
func (l *life) handsSaid(dir string, place, n int, source, response string) {
	role := map[string]string{"user": "user", "agent": "assistant"}[source]
	l.write(fmt.Sprintf("%s/events/event-%05d-%s.json", dir, place, handsID(n)),
		fmt.Sprintf(`{"id":"%s","timestamp":"2026-10-01T08:%02d:00","source":"%s","llm_message":{"role":"%s","content":[{"type":"text","text":"basket %d"}]},%s"kind":"MessageEvent"}`,
			handsID(n), n, source, role, n, response))
}

// handsState returns the state of a conversation. uses are what its requests were for, with the requests.
func handsState(uses ...string) string {
	return `{"id":"x","agent":{"kind":"Agent","llm":{"model":"gpt-5.2"}},"workspace":{"working_dir":"/home/ada/shop"},"execution_status":"idle","stats":{"usage_to_metrics":{` +
		strings.Join(uses, ",") + `}}}`
}

// handsUse returns requests for a use of a model. Each costs 0.01, or nothing is known of its cost.
func handsUse(use string, costs bool, responses ...string) string {
	var usages, spent []string
	for i, id := range responses {
		usages = append(usages, fmt.Sprintf(`{"model":"gpt-5.2","prompt_tokens":100,"completion_tokens":10,"cache_read_tokens":40,"response_id":"%s"}`, id))
		if costs {
			spent = append(spent, fmt.Sprintf(`{"model":"gpt-5.2","cost":0.01,"timestamp":%d.5}`, 1790841600+60*i))
		}
	}
	return fmt.Sprintf(`"%s":{"model_name":"gpt-5.2","accumulated_cost":%g,"costs":[%s],"token_usages":[%s]}`, use, 0.01*float64(len(spent)), strings.Join(spent, ","), strings.Join(usages, ","))
}

// TestLifeOpenHands has a conversation that grows, gives a task to a sub-agent, and is forked. Its state is rewritten meanwhile.
func TestLifeOpenHands(t *testing.T) {
	t.Parallel()
	l := newLife(t, "openhands")
	a, b, c := handsStore+handsA, handsStore+handsB, handsStore+handsA+"/subagents/"+handsC
	l.handsSaid(a, 0, 1, "user", "")
	l.handsSaid(a, 1, 2, "agent", `"llm_response_id":"r1",`)
	l.write(a+"/base_state.json", handsState(handsUse("agent", false, "r1")))
	l.ingestAndCheck("answered", counts{runs: 1, conversations: 1, events: 2, in: 60, out: 10})
	l.checkQuery("answered", "SELECT u.time || ' ' || r.started || ' ' || c.title || ' ' || c.model || ' ' || r.project FROM v_usage u JOIN v_runs r USING (run_id) JOIN v_conversations c USING (run_id) WHERE c.events > 0",
		"2026-10-01T08:02:00.000000Z 2026-10-01T08:01:00.000000Z basket 1 gpt-5.2 /home/ada/shop")
	l.handsSaid(a, 2, 3, "agent", `"llm_response_id":"r2",`)
	l.handsSaid(c, 0, 4, "user", "")
	l.write(c+"/base_state.json", handsState(handsUse("agent", true, "r3")))
	l.write(a+"/base_state.json", handsState(handsUse("agent", true, "r1", "r2"), handsUse("task:task_00000001", true, "r3")))
	all := counts{runs: 1, conversations: 2, events: 4, in: 180, out: 30, cost: 30000, links: 1}
	l.ingestAndCheck("with a task", all)
	l.checkQuery("with a task", "SELECT count(*) FROM v_usage WHERE counted AND run_id = (SELECT run_id FROM v_runs WHERE native_id = '"+handsC+"')", "1")
	l.checkFresh("with a task")
	l.handsSaid(b, 0, 1, "user", "")
	l.handsSaid(b, 1, 2, "agent", `"llm_response_id":"r1",`)
	l.handsSaid(b, 2, 5, "user", "")
	l.write(b+"/base_state.json", handsState())
	all.runs, all.conversations, all.events, all.links = 2, 3, 5, 2
	l.remove(a + "/base_state.json")
	l.ingestAndCheck("forked, and without its state", all)
	l.checkCopy("laptop", all)
}

// handsFirst is an event of version 0: an action of the agent with a response, unless that is "", and the total so far.
func handsFirst(n int, action, response string, prompt, output int) string {
	metadata := ""
	if response != "" {
		metadata = fmt.Sprintf(`"tool_call_metadata":{"function_name":"bash","tool_call_id":"c%d","model_response":{"id":"%s","model":"gpt-5.2","usage":{"prompt_tokens":100,"completion_tokens":10}}},`, n, response)
	}
	return fmt.Sprintf(`{"id":%d,"timestamp":"2025-05-01T08:%02d:00","source":"agent","message":"","action":"%s",%s"llm_metrics":{"accumulated_cost":%g,"accumulated_token_usage":{"prompt_tokens":%d,"completion_tokens":%d}},"args":{"content":"basket %d","command":"ls"}}`,
		n, n, action, metadata, float64(prompt)/10000, prompt, output, n)
}

// TestLifeOpenHandsFirst has a conversation of version 0, whose requests count until one of them is known only from the total. It is exported, and deleted.
func TestLifeOpenHandsFirst(t *testing.T) {
	t.Parallel()
	l := newLife(t, "openhands")
	dir := ".openhands/sessions/" + handsA + "/events/"
	said := `{"id":0,"timestamp":"2025-05-01T08:00:00","source":"user","message":"x","action":"message","args":{"content":"basket 0"}}`
	l.write(dir+"0.json", said)
	l.write(dir+"1.json", handsFirst(1, "run", "r1", 100, 10))
	l.write(dir+"2.json", handsFirst(2, "run", "r2", 200, 20))
	l.ingestAndCheck("two calls", counts{runs: 1, conversations: 1, events: 3, calls: 2, in: 200, out: 20})
	l.write(dir+"3.json", handsFirst(3, "message", "", 260, 25))
	l.write(".openhands/sessions/"+handsA+"/metadata.json", `{"conversation_id":"x","selected_repository":"ada/shop","title":"Baskets","accumulated_cost":0.026,"prompt_tokens":260,"completion_tokens":25}`)
	all := counts{runs: 1, conversations: 1, events: 4, calls: 2, in: 260, out: 25, cost: 26000}
	l.ingestAndCheck("an answer", all)
	l.checkQuery("an answer", "SELECT title || ' ' || project FROM v_runs", "Baskets ada/shop")
	l.checkFresh("an answer")
	l.write("Downloads/trajectory-"+handsA+".json", "["+said+","+handsFirst(1, "run", "r1", 100, 10)+","+handsFirst(2, "run", "r2", 200, 20)+"]")
	for n := range 4 {
		l.remove(fmt.Sprintf("%s%d.json", dir, n))
	}
	l.ingestAndCheck("exported, and deleted", all)
}

// TestOpenHandsZip has the export of a conversation, which the name of the zip identifies.
func TestOpenHandsZip(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	said := fmt.Sprintf(`{"id":"%s","timestamp":"2026-10-01T08:05:00","source":"user","llm_message":{"role":"user","content":"basket"},"kind":"MessageEvent"}`, handsID(5))
	s.write("conversation-"+handsB+".zip", zipOf(t, "event_000000_"+handsID(5)+".json", said, "meta.json", `{"id":"x","sandbox_id":"s","title":"Exported"}`))
	w.ingest("home", s.dir, ".")
	if got := w.query("SELECT native_id || ' ' || title || ' ' || events FROM v_runs WHERE counted"); fmt.Sprint(got) != "["+handsB+" Exported 1]" {
		t.Errorf("the export has %s", got)
	}
}
