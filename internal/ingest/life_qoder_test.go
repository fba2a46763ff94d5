package ingest_test

import (
	"fmt"
	"testing"
)

// TestLifeQoder has a session of Qoder's editor, whose lines the program writes to several places, and one of its CLI, whose usage counts cached
// tokens as input, too.
func TestLifeQoder(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	const (
		task   = "task-0c0ffee00000000000aa.session.execution"
		full   = "home/.qoder/projects/-home-ada-shop/transcript/" + task + ".jsonl"
		copied = "home/.config/Qoder/SharedClientCache/cli/projects/" + task + ".jsonl"
		brief  = "home/.qoder/cache/projects/shop-5a02c36b/conversation-history/task-0c0/task-0c0.jsonl"
		lost   = "home/.qoder/cache/projects/shop-5a02c36b/conversation-history/5e6f7a8b/5e6f7a8b.jsonl"
	)
	line := func(session string, n int, kind, message string) string {
		return fmt.Sprintf(`{"type":"%s","sessionId":"%s","uuid":"90d%s0000-0000-4000-8000-%012d","timestamp":"2026-09-03T09:10:%02dZ",`+
			`"cwd":"/home/ada/shop",%s}`+"\n", kind, session, session[:2], n, n, message)
	}
	said := func(role, text string) string {
		return fmt.Sprintf(`{"role":"%s","message":{"content":[{"type":"text","text":"%s"}]}}`+"\n", role, text)
	}
	asked := line(task, 1, "session_meta", `"data":{"meta_type":"session_info","content":{"mode":"agent"}}`) +
		line(task, 2, "user", `"message":{"role":"user","content":"line the basket"}`)
	answered := line(task, 3, "assistant", `"message":{"role":"assistant","content":[{"type":"text","text":"lined with felt"}]}`)
	// The text comes first, and alone.
	l.write(brief, said("user", "<user_query>line the basket</user_query>"))
	l.ingestAndCheck("brief", counts{})
	l.checkSearch("basket", 1)
	l.write(full, asked)
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	l.append(full, answered)
	l.append(brief, said("assistant", "lined with felt"))
	l.write(copied, asked)
	once := counts{runs: 1, conversations: 1, events: 2}
	l.ingestAndCheck("answered", once)
	l.append(copied, answered)
	l.ingestAndCheck("copied", once)
	l.checkFresh("copied")
	// Of another session nothing else is left.
	l.write(lost, said("user", "<user_query>weave a lid</user_query>")+said("assistant", "woven of willow"))
	l.ingestAndCheck("lost", once)
	l.checkSearch("willow", 1)
	l.checkQuery("lost", "SELECT title FROM runs WHERE native_id = 'conversation-history/shop-5a02c36b/5e6f7a8b'", "weave a lid")
	const cli = "11111111-2222-4333-8444-555555555555"
	answer := func(n int, usage string) string {
		return line(cli, n, "assistant", fmt.Sprintf(`"message":{"id":"m%d","role":"assistant","model":"auto",`+
			`"content":[{"type":"text","text":"dyed"}],"usage":%s}`, n, usage))
	}
	l.write("home/.qoder/projects/-home-ada-shop/"+cli+".jsonl", line(cli, 1, "user", `"message":{"role":"user","content":"dye it"}`)+
		answer(2, `{"input_tokens":100,"output_tokens":10,"cache_read_input_tokens":40,"cache_creation_input_tokens":0,"credits":0.5,"context_usage_ratio":0.01}`)+
		answer(3, `{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"credits":0.25}`))
	all := counts{runs: 2, conversations: 2, events: 5, in: 60, out: 10}
	l.ingestAndCheck("cli", all)
	l.checkQuery("cli", "SELECT count(*) || ' ' || sum(cache_read_tokens) || ' ' || sum(attributes ->> 'credits') FROM v_usage WHERE counted", "2 40 0.75")
	l.checkFresh("cli")
	for _, file := range []string{full, brief, lost} {
		l.remove(file)
	}
	l.ingestAndCheck("deleted", all)
	l.checkSearch("willow", 1)
	l.checkCopy("laptop", all)
}
