package ingest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const (
	vibeStore = ".vibe/logs/session/"
	vibeA     = "session_20260901_080000_aaaaaaaa"
	vibeB     = "session_20260902_080000_bbbbbbbb"
)

// vibeTurn returns a prompt and its answer. id is the beginning of the messages' ids; without one they have none.
func vibeTurn(id string, n int) string {
	said := fmt.Sprintf(`{"role":"user","content":"mend basket %d","message_id":"%s%du"}`, n, id, n) + "\n" +
		fmt.Sprintf(`{"role":"assistant","content":"mended %d","message_id":"%s%da"}`, n, id, n) + "\n"
	if id == "" {
		said = strings.NewReplacer(fmt.Sprintf(`,"message_id":"%du"`, n), "", fmt.Sprintf(`,"message_id":"%da"`, n), "").Replace(said)
	}
	return said
}

// vibeMeta is the metadata of a session with its totals at a minute.
func vibeMeta(session, parent string, minute, prompt, output int) string {
	id := func(name string) string {
		if name == "" {
			return "null"
		}
		return `"` + name[len(name)-8:] + `-0000-4000-8000-00000000cccc"`
	}
	return fmt.Sprintf(`{"session_id":%s,"parent_session_id":%s,"start_time":"2026-09-01T08:00:00+00:00","end_time":"2026-09-01T08:%02d:00+00:00",`+
		`"environment":{"working_directory":"/home/ada/shop"},"title":"Basket %d","stats":{"session_prompt_tokens":%d,"session_completion_tokens":%d,"session_cost":0.01},`+
		`"config":{"active_model":"devstral-2"}}`, id(session), id(parent), minute, minute, prompt, output)
}

// TestLifeVibe has a session that grows, is resumed with counters that begin anew, rewound, and forked.
func TestLifeVibe(t *testing.T) {
	t.Parallel()
	l := newLife(t, "vibe")
	said, meta := vibeStore+vibeA+"/messages.jsonl", vibeStore+vibeA+"/meta.json"
	l.write(said, vibeTurn("a", 1))
	l.ingestAndCheck("not yet described", counts{runs: 1, conversations: 1, events: 2})
	l.write(meta, vibeMeta(vibeA, "", 1, 100, 10))
	l.ingestAndCheck("described", counts{runs: 1, conversations: 1, events: 2, in: 100, out: 10, cost: 10000})
	l.checkQuery("described", "SELECT c.title || ' ' || r.title || ' ' || r.project || ' ' || c.model FROM v_conversations c JOIN v_runs r USING (run_id) WHERE c.events > 0", "Basket 1 Basket 1 /home/ada/shop devstral-2")
	l.append(said, vibeTurn("a", 2))
	l.write(meta, vibeMeta(vibeA, "", 2, 250, 20))
	l.ingestAndCheck("gone on", counts{runs: 1, conversations: 1, events: 4, in: 250, out: 20, cost: 10000})
	l.append(said, vibeTurn("a", 3))
	l.write(meta, vibeMeta(vibeA, "", 30, 70, 5))
	l.ingestAndCheck("resumed", counts{runs: 1, conversations: 1, events: 6, in: 320, out: 25, cost: 20000})
	l.write(said, vibeTurn("a", 1)+vibeTurn("b", 2))
	l.write(meta, vibeMeta(vibeA, "", 40, 130, 9))
	l.ingestAndCheck("rewound", counts{runs: 1, conversations: 1, events: 4, in: 380, out: 29, cost: 20000})
	// What was spent before it was resumed is only in an earlier state of meta.json.
	l.checkFreshCounts("rewound", counts{runs: 1, conversations: 1, events: 4, in: 130, out: 9, cost: 10000})
	l.write(vibeStore+vibeB+"/messages.jsonl", vibeTurn("a", 1)+vibeTurn("c", 9))
	l.write(vibeStore+vibeB+"/meta.json", vibeMeta(vibeB, vibeA, 50, 600, 60))
	all := counts{runs: 2, conversations: 2, events: 6, in: 980, out: 89, cost: 30000, links: 1}
	l.ingestAndCheck("forked", all)
	l.checkFreshCounts("forked", counts{runs: 2, conversations: 2, events: 6, in: 730, out: 69, cost: 20000, links: 1})
	l.checkCopy("laptop", all)
}

// TestLifeVibeCompaction has a session that goes on in another one, with its counters, whichever of the two is met first.
func TestLifeVibeCompaction(t *testing.T) {
	t.Parallel()
	l := newLife(t, "vibe")
	write := func(session, parent, said string, minute, prompt, output int) {
		l.write(vibeStore+session+"/messages.jsonl", said)
		l.write(vibeStore+session+"/meta.json", vibeMeta(session, parent, minute, prompt, output))
	}
	write(vibeB, vibeA, vibeTurn("b", 1), 20, 900, 90)
	l.ingestAndCheck("without the first", counts{runs: 1, conversations: 1, events: 2, in: 900, out: 90, cost: 10000, links: 1})
	write(vibeA, "", vibeTurn("a", 1), 10, 500, 50)
	all := counts{runs: 2, conversations: 2, events: 4, in: 900, out: 90, cost: 10000, links: 1}
	l.ingestAndCheck("with it", all)
	l.checkFresh("with it")
	l.append(vibeStore+vibeB+"/messages.jsonl", vibeTurn("b", 2))
	l.write(vibeStore+vibeB+"/meta.json", vibeMeta(vibeB, vibeA, 25, 1000, 95))
	l.ingestAndCheck("gone on", counts{runs: 2, conversations: 2, events: 6, in: 1000, out: 95, cost: 10000, links: 1})
	l.checkFresh("gone on")
}

// TestLifeVibeConverted has a session of version 1, in one document, that a newer version converts and goes on with.
func TestLifeVibeConverted(t *testing.T) {
	t.Parallel()
	l := newLife(t, "vibe")
	messages := "[" + strings.ReplaceAll(strings.TrimSpace(vibeTurn("", 1)+vibeTurn("", 2)), "\n", ",") + "]"
	if !json.Valid([]byte(messages)) {
		t.Fatal(messages)
	}
	l.write(vibeStore+vibeA+".json", `{"metadata":`+vibeMeta(vibeA, "", 1, 100, 10)+`,"messages":`+messages+`}`)
	said := counts{runs: 1, conversations: 1, events: 4, in: 100, out: 10, cost: 10000}
	l.ingestAndCheck("said", said)
	l.write(vibeStore+vibeA+"/messages.jsonl", vibeTurn("", 1)+vibeTurn("", 2))
	l.write(vibeStore+vibeA+"/meta.json", vibeMeta(vibeA, "", 1, 100, 10))
	l.remove(vibeStore + vibeA + ".json")
	l.ingestAndCheck("converted", said)
	l.checkFresh("converted")
	l.append(vibeStore+vibeA+"/messages.jsonl", vibeTurn("a", 3))
	l.write(vibeStore+vibeA+"/meta.json", vibeMeta(vibeA, "", 9, 40, 4))
	l.ingestAndCheck("gone on", counts{runs: 1, conversations: 1, events: 6, in: 140, out: 14, cost: 20000})
	l.checkFreshCounts("gone on", counts{runs: 1, conversations: 1, events: 6, in: 40, out: 4, cost: 10000})
}

// TestLifeVibeUnified has a session of version 3: its journal grows, a tool answers, a generation replaces journal and history, and it is rewound.
func TestLifeVibeUnified(t *testing.T) {
	t.Parallel()
	l := newLife(t, "vibe")
	const id = "7d1c2b3a-5e6f-4a7b-8c9d-0e1f20260001"
	const dir = vibeStore + "unified/" + id + "/"
	entry := func(typ, entry string, second int, more string) string {
		return fmt.Sprintf(`{"createdAt":17935200%02d000,"generationStatus":"completed","id":%q,"sessionId":%q,"turnId":"turn-1","type":%q,"updatedAt":17935200%02d000,%s}`, second, entry, id, typ, second, more)
	}
	said := func(role, name string, second int) string {
		return entry("message", name, second, fmt.Sprintf(`"role":%q,"content":[{"type":"text","text":"basket %s"}]`, role, name))
	}
	call := func(state string) string {
		return entry("effect", "effect-a1", 2, `"title":"bash","detail":{"kind":"tool","toolName":"bash","input":{"command":"ls"}},"state":{`+state+`}`)
	}
	const done = `"status":"completed","outputText":"basket.txt"`
	state := func(second, in, out int, entries string) string {
		return fmt.Sprintf(`{"format":"harness.public-session-state/v1","session":{"id":%q,"title":null,"preview":"basket u1","createdAt":1793520000000,"updatedAt":17935200%02d000,`+
			`"tokenUsage":{"inputTokens":%d,"outputTokens":%d,"totalTokens":0,"cachedInputTokens":0}},"history":{"entries":[%s],"range":"latest"}}`, id, second, in, out, entries)
	}
	line := func(ops ...string) string {
		return `{"payload":{"delta":[` + strings.Join(ops, ",") + `]},"recovery_journal_record_version":1,"type":"projection_delta"}` + "\n"
	}
	app := func(e string) string { return `{"op":"append_entry","entry":` + e + `}` }
	env := func(second, in, out int) string {
		return `{"op":"set_envelope","state":` + state(second, in, out, "") + `}`
	}
	generation := func(n, second, in, out int, entries string) {
		at := fmt.Sprintf("%sgenerations/%016d/", dir, n)
		l.write(at+"projection-state.json", `{"projection_state_version":1,"session_id":"`+id+`","snapshot":`+state(second, in, out, entries)+"}\n")
		l.write(at+"runtime-state.json", `{"identity":{"kind":"root"},"session_metadata":{"active_model":"devstral-2","cwd":"/home/ada/shop"}}`+"\n")
	}
	const first, second = dir + "journal/0000000000000001.jsonl", dir + "journal/0000000000000009.jsonl"
	generation(1, 0, 0, 0, "")
	l.write(first, line(app(said("user", "u1", 1))))
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	l.append(first, line(app(call(`"status":"running"`)), env(2, 100, 10)))
	l.ingestAndCheck("a tool runs", counts{runs: 1, conversations: 1, events: 2, calls: 1, in: 100, out: 10})
	l.append(first, line(`{"op":"replace_entry","id":"effect-a1","entry":`+strings.Replace(call(done), `"updatedAt":1793520002000`, `"updatedAt":1793520003000`, 1)+`}`)+
		line(app(said("assistant", "a1", 4)), env(4, 250, 20)))
	l.ingestAndCheck("answered", counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, in: 250, out: 20})
	l.checkQuery("answered", "SELECT r.title || ' ' || r.project || ' ' || c.model FROM v_conversations c JOIN v_runs r USING (run_id) WHERE c.events > 0", "basket u1 /home/ada/shop devstral-2")
	generation(2, 4, 250, 20, "")
	l.write(dir+"chunks/"+strings.Repeat("a", 64)+".json", "["+said("user", "u1", 1)+","+call(done)+","+said("assistant", "a1", 4)+"]\n")
	l.write(dir+"chunks/"+strings.Repeat("b", 64)+".json", `[{"role":"user","content":[{"type":"text","text":"basket u1"}]}]`+"\n")
	l.ingestAndCheck("both generations", counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, in: 250, out: 20})
	l.remove(first)
	l.write(second, line(app(said("user", "u2", 5)), app(said("assistant", "a2", 6)), env(6, 400, 30)))
	l.ingestAndCheck("gone on", counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1, in: 400, out: 30})
	l.checkFreshCounts("gone on", counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1, in: 400, out: 30})
	generation(3, 7, 400, 30, said("user", "u1", 1)+","+call(done)+","+said("assistant", "a1", 4))
	l.ingestAndCheck("rewound: what was said counts", counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1, in: 400, out: 30})
}
