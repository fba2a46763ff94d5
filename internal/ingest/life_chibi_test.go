package ingest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const (
	chibiHome = "home/.chibi/"
	notes     = chibiHome + "contexts/notes/"
	active    = notes + "transcript/active.jsonl"
	window    = notes + "context.jsonl"
)

// chibiEntry returns a line of a context's log. Its id is derived from n, and its time is n seconds after the first.
func chibiEntry(n int, from, to, kind, content, more string) string {
	return fmt.Sprintf(`{"id":"%08d-0000-4000-8000-000000000000","timestamp":%d,"from":%q,"to":%q,"content":%q,"entry_type":%q%s}`+"\n",
		n, 1793534400+n, from, to, content, kind, more)
}

// chibiTurn returns the lines of a turn: a prompt, a call with its result, an answer. n is the first of their four numbers.
func chibiTurn(n int, context, prompt string) string {
	call := fmt.Sprintf(`,"tool_call_id":"call_%d"`, n)
	return chibiEntry(n, "ana", context, "message", "[20261101-1200+0000] "+prompt, `,"role":"user"`) +
		chibiEntry(n+1, context, "file_head", "tool_call", `{"path":"src/lib.rs"}`, call) +
		chibiEntry(n+2, "file_head", context, "tool_result", "first lines", call) +
		chibiEntry(n+3, context, "ana", "message", "answer to "+prompt, `,"role":"agent"`)
}

func chibiState(contexts ...string) string {
	var list []string
	for _, c := range contexts {
		list = append(list, fmt.Sprintf(`{"name":%q,"created_at":1793534400,"last_activity_at":1793534500,"destroy_after_seconds_inactive":0,"destroy_at":0,"cwd":"/w"}`, c))
	}
	return `{"contexts":[` + strings.Join(list, ",") + `]}`
}

// TestLifeChibiWindow compacts, rotates, compacts again and clears: the window is saved under new ids again and
// again, and none of them is an event.
func TestLifeChibiWindow(t *testing.T) {
	t.Parallel()
	l := newLife(t, "chibi")
	created := chibiEntry(0, "system", "notes", "context_created", "Context created", "")
	first := created + chibiTurn(1, "notes", "one")
	l.write(chibiHome+"state.json", chibiState("notes"))
	l.write(active, first)
	l.write(window, first)
	// One anchor and one turn of four entries; the window repeats them under the same ids.
	want := counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1}
	l.ingestAndCheck("one turn", want)
	l.checkFresh("one turn")

	// Compaction: an anchor in the log; the window is written from memory with new ids and reduced names.
	anchor := chibiEntry(5, "system", "notes", "compaction", "Context compacted", `,"metadata":{"summary":"they spoke of parsers"}`)
	copied := func(n int) string {
		return anchor + chibiEntry(n, "user", "notes", "message", "[20261101-1200+0000] one", "") + chibiEntry(n+1, "tool", "notes", "tool_result", "first lines", "")
	}
	l.append(active, anchor)
	l.write(notes+"summary.md", "they spoke of parsers")
	l.replace(window, copied(900))
	want.events = 6
	l.ingestAndCheck("compacted", want)
	l.checkFresh("compacted")
	l.checkQuery("compacted", "SELECT count(*) FROM v_events WHERE verdict = 'derived total' AND path LIKE '%/context.jsonl'", "8")

	// Saved once more, with new ids again. The contents of the window before are still there, and still no events.
	l.replace(window, copied(910))
	l.ingestAndCheck("saved again", want)
	l.checkFresh("saved again")

	// The next turn, then a rotation with no ingest between: the log becomes a partition with entries that no ingest
	// has met in active.jsonl, which begins anew.
	l.append(active, chibiTurn(6, "notes", "two"))
	partition := notes + "transcript/partitions/1793534400-1793534409.jsonl"
	l.move(active, partition)
	l.write(partition+".bloom", `{"bits":8}`)
	l.write(notes+"transcript/manifest.json", `{"version":1,"active_partition":"active.jsonl","partitions":[{"file":"partitions/1793534400-1793534409.jsonl","start_ts":1793534400,"end_ts":1793534409,"entry_count":10,"prompt_count":2}],"rotation_policy":{}}`)
	l.write(active, chibiTurn(10, "notes", "three"))
	want.events, want.calls, want.results = 14, 3, 3
	l.ingestAndCheck("rotated behind our back", want)
	l.checkFresh("rotated behind our back")

	// The next rotation right after an ingest: the partition has the very bytes that active.jsonl had, which is gone
	// until the next entry.
	l.move(active, notes+"transcript/partitions/1793534410-1793534413.jsonl")
	l.ingestAndCheck("rotated before our eyes", want)
	l.checkFresh("rotated before our eyes")

	// Clearing writes an archival anchor and an empty window.
	l.write(active, chibiEntry(14, "system", "notes", "archival", "Context archived", `,"metadata":{"summary":""}`))
	l.replace(window, chibiEntry(14, "system", "notes", "archival", "Context archived", ""))
	want.events = 15
	l.ingestAndCheck("cleared", want)
	l.checkFresh("cleared")
	l.append(active, chibiTurn(15, "notes", "four"))
	want.events, want.calls, want.results = 19, 4, 4
	l.ingestAndCheck("went on", want)
	l.checkFresh("went on")
	l.checkQuery("order", "SELECT group_concat(n, ' ') FROM (SELECT substr(attributes ->> '$.id', 1, 8) + 0 AS n FROM v_events WHERE counted ORDER BY seq)",
		"0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18")
}

// TestLifeChibiSameBytes ingests a log and its window while they have the same bytes, in either order, and then after
// they diverge.
func TestLifeChibiSameBytes(t *testing.T) {
	t.Parallel()
	for _, first := range []string{active, window} {
		l := newLife(t, "chibi")
		begin := chibiEntry(0, "system", "notes", "context_created", "Context created", "") + chibiTurn(1, "notes", "one")
		l.write(active, begin)
		l.write(window, begin)
		l.world.ingest("home", l.dir, first)
		want := counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1}
		l.ingestAndCheck("both after "+first, want)
		l.checkQuery("rows", "SELECT verdict, count(*) FROM v_events GROUP BY 1", "counted 5", "derived total 5")
		l.append(first, chibiTurn(5, "notes", "two"))
		if first == active {
			want.events, want.calls, want.results = 9, 2, 2
		}
		l.ingestAndCheck("grown "+first, want)
		l.checkFresh("grown " + first)
	}
}

// TestLifeChibiUnrotated compacts while there is no manifest: the log itself gets a second beginning and copies of
// what was kept, which are entries like any other.
func TestLifeChibiUnrotated(t *testing.T) {
	t.Parallel()
	l := newLife(t, "chibi")
	l.write(active, chibiEntry(0, "system", "notes", "context_created", "Context created", "")+chibiTurn(1, "notes", "one"))
	want := counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1}
	l.ingestAndCheck("one turn", want)
	// Anchor, second context_created and the copy of one message: three entries more.
	l.append(active, chibiEntry(5, "system", "notes", "compaction", "Context compacted", `,"metadata":{"summary":"short"}`)+
		chibiEntry(5, "system", "notes", "context_created", "Context created", "")+ // the id of the anchor by mistake: the same event
		strings.Replace(chibiEntry(5, "user", "notes", "message", "[20261101-1200+0000] one", ""), "00000005-", "00000905-", 1))
	want.events = 7
	l.ingestAndCheck("compacted", want)
	l.checkFresh("compacted")
}

// TestLifeChibiInbox sends messages to a context, which gets them with its next prompt.
func TestLifeChibiInbox(t *testing.T) {
	t.Parallel()
	l := newLife(t, "chibi")
	desk := chibiHome + "contexts/desk/"
	l.write(chibiHome+"state.json", chibiState("notes", "desk"))
	l.write(active, chibiEntry(0, "system", "notes", "context_created", "Context created", ""))
	l.write(desk+"transcript/active.jsonl", chibiEntry(20, "system", "desk", "context_created", "Context created", ""))
	l.write(desk+"inbox.jsonl", "")
	l.ingestAndCheck("empty", counts{runs: 2, conversations: 2, events: 2})

	pending := func(n int, from, content string) string {
		return fmt.Sprintf(`{"id":"%08d-0000-4000-8000-000000000000","timestamp":%d,"from":%q,"to":"desk","content":%q}`+"\n", n, 1793534400+n, from, content)
	}
	l.write(desk+"inbox.jsonl", pending(21, "notes", "please review zebra"))
	l.append(desk+"inbox.jsonl", pending(22, "ci-bot", "build is red"))
	// Two senders, two links; what waits is found and is no event.
	want := counts{runs: 2, conversations: 2, events: 2, links: 2}
	l.ingestAndCheck("pending", want)
	l.checkFresh("pending")
	l.checkSearch("zebra", 1)

	// The context's own directory is a source of another archive, where nothing tells its name.
	alone := newWorld(t)
	linked := func(what string, want int64) {
		t.Helper()
		alone.ingest("desk", filepath.Join(l.dir, filepath.FromSlash(desk)), ".")
		if got := alone.totals().Formats["chibi"].Links; got != want {
			t.Errorf("%s: %d links, want %d", what, got, want)
		}
	}
	linked("pending", 2)

	// Delivered: the inbox is truncated, the text stands before the prompt. The same two edges; a third message that
	// came and went between two ingests is known from the prompt alone.
	l.write(desk+"inbox.jsonl", "")
	l.append(desk+"transcript/active.jsonl", chibiEntry(23, "ana", "desk", "message",
		"[20261101-1200+0000] --- INBOX MESSAGES ---\n[From: notes] please review zebra\n[From: ci-bot] build is red\n[From: cron] tick\n--- END INBOX ---\n\ngo on", `,"role":"user"`))
	want.events, want.links = 3, 3
	l.ingestAndCheck("delivered", want)
	linked("delivered", 3)
	l.checkFresh("delivered")
	l.checkSearch("zebra", 2)
	l.checkQuery("edges", "SELECT from_native_id, to_native_id, from_found, to_found FROM v_links WHERE counted ORDER BY 1", "ci-bot desk 0 1", "cron desk 0 1", "notes desk 1 1")

	// Used again: a message of a sender that is known is no other edge.
	l.write(desk+"inbox.jsonl", pending(24, "notes", "thanks"))
	l.ingestAndCheck("again", want)
	l.checkFresh("again")
}

// TestLifeChibiNames renames a context and destroys one between two ingests.
func TestLifeChibiNames(t *testing.T) {
	t.Parallel()
	l := newLife(t, "chibi")
	old, now, gone := chibiHome+"contexts/draft/", chibiHome+"contexts/final/", chibiHome+"contexts/gone/"
	usage := func(second, in, out int) string {
		return fmt.Sprintf(`{"response":{"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}},"timestamp":%d}`+"\n", in, out, in+out, 1793534400+second)
	}
	l.write(chibiHome+"state.json", chibiState("draft", "gone"))
	l.write(old+"transcript/active.jsonl", chibiEntry(0, "system", "draft", "context_created", "Context created", "")+
		chibiEntry(1, "ana", "draft", "message", "--- INBOX MESSAGES ---\n[From: gone] hello\n--- END INBOX ---\n\nhi", `,"role":"user"`))
	l.write(old+"context.jsonl", chibiEntry(90, "user", "draft", "message", "hi", ""))
	l.write(old+"response_meta.jsonl", usage(1, 100, 10))
	l.write(gone+"transcript/active.jsonl", chibiEntry(50, "system", "gone", "context_created", "Context created", "")+chibiTurn(51, "gone", "secret plan"))
	// Two contexts; 2 and 5 entries; one message from one to the other.
	want := counts{runs: 2, conversations: 2, events: 7, calls: 1, results: 1, in: 100, out: 10, links: 1}
	l.ingestAndCheck("two contexts", want)
	l.checkFresh("two contexts")

	// Renamed as a whole, and used under the new name: the entries and the usage are the same ones.
	l.move(chibiHome+"contexts/draft", chibiHome+"contexts/final")
	l.write(chibiHome+"state.json", chibiState("final", "gone"))
	l.ingestAndCheck("renamed", want)
	l.checkFresh("renamed")
	l.append(now+"transcript/active.jsonl", chibiTurn(2, "final", "two"))
	l.append(now+"response_meta.jsonl", usage(5, 200, 20)+usage(5, 200, 20))
	want.events, want.calls, want.results, want.in, want.out = 11, 2, 2, 500, 50
	l.ingestAndCheck("went on", want)
	l.checkFresh("went on")
	l.checkQuery("name", "SELECT native_id, events FROM v_runs WHERE counted ORDER BY 1", "final 6", "gone 5")

	// Destroyed: nobody else has it.
	l.remove(chibiHome + "contexts/gone")
	l.write(chibiHome+"state.json", chibiState("final"))
	l.ingestAndCheck("destroyed", want)
	l.checkSearch("secret plan", 2)
}

// TestLifeChibiNamesInLinks has links by the old and the new name of a renamed context: an archive made after the rename knows the
// old name from the log.
func TestLifeChibiNamesInLinks(t *testing.T) {
	t.Parallel()
	l := newLife(t, "chibi")
	const log = "transcript/active.jsonl"
	draft, final := chibiHome+"contexts/draft/", chibiHome+"contexts/final/"
	told := func(n int, from, to string) string {
		return chibiEntry(n, "ana", to, "message", "--- INBOX MESSAGES ---\n[From: "+from+"] hello\n--- END INBOX ---\n\nhi", `,"role":"user"`)
	}
	pending := `{"id":"00000052-0000-4000-8000-000000000000","timestamp":1793534452,"from":"notes","to":"draft","content":"x"}` + "\n"
	l.write(draft+log, chibiEntry(0, "system", "draft", "context_created", "Context created", ""))
	l.write(draft+"inbox.jsonl", pending)
	l.write(active, chibiEntry(50, "system", "notes", "context_created", "Context created", "")+told(51, "draft", "notes"))
	want := counts{runs: 2, conversations: 2, events: 3, links: 2} // one each way
	l.ingestAndCheck("draft", want)
	l.checkFresh("draft")

	// One message waits under the old name, and one comes under each.
	l.move(chibiHome+"contexts/draft", chibiHome+"contexts/final")
	l.append(final+log, told(60, "notes", "final"))
	l.append(active, told(61, "final", "notes"))
	want.events = 5
	l.ingestAndCheck("final", want)
	l.checkFresh("final")
	l.checkQuery("final", "SELECT from_found, to_found FROM v_links WHERE counted", "1 1", "1 1")

	// Whoever has the name now is who is meant by it, as far as a late archive knows.
	l.write(draft+log, chibiEntry(70, "system", "draft", "context_created", "Context created", ""))
	l.checkFreshCounts("anew", counts{runs: 3, conversations: 3, events: 6, links: 3})
}
