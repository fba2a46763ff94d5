package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// tavernChat returns a chat as SillyTavern writes it, without a line end after the last message.
func tavernChat(header string, messages ...string) string {
	return strings.Join(append([]string{header}, messages...), "\n")
}

// tavernSays returns a message of second n; of the character if tokens are counted or it is the greeting, else of the user.
func tavernSays(n, tokens int, texts ...string) string {
	at := func(n int) string { return fmt.Sprintf("2026-11-03T10:00:%02d.000Z", n) }
	if tokens == 0 {
		return fmt.Sprintf(`{"name":%q,"is_user":%t,"is_system":false,"send_date":%q,"mes":%q,"extra":{}}`, "Bo", n > 0, at(n), texts[0])
	}
	var swipes, infos []string
	last := len(texts) - 1
	info := func(i int) string {
		return fmt.Sprintf(`"send_date":%q,"gen_started":%q,"gen_finished":%q,"extra":{"api":"claude","model":"claude-sonnet-4-5","token_count":%d}`, at(n+i), at(n+i-1), at(n+i), tokens+i)
	}
	for i, text := range texts {
		swipes = append(swipes, fmt.Sprintf("%q", text))
		infos = append(infos, "{"+info(i)+"}")
	}
	return fmt.Sprintf(`{"name":"Ada","is_user":false,"is_system":false,"mes":%q,%s,"swipe_id":%d,"swipes":[%s],"swipe_info":[%s]}`,
		texts[last], info(last), last, strings.Join(swipes, ","), strings.Join(infos, ","))
}

// TestLifeSillyTavern has a chat that is answered, swiped, answered anew, backed up, branched, edited, renamed and opened by a version that writes
// another first line.
func TestLifeSillyTavern(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const dir = "SillyTavern/data/default-user/"
	const early = `{"user_name":"Bo","character_name":"Ada","create_date":"2026-11-3 @10h 00m 00s 000ms","chat_metadata":{}}`
	const later = `{"chat_metadata":{"integrity":"5f000000-0000-4000-8000-000000000001"},"user_name":"unused","character_name":"unused"}`
	main, greeting, ask := dir+"chats/Ada/Ada - 2026-11-03@10h00m00s000ms.jsonl", tavernSays(0, 0, "Welcome."), tavernSays(5, 0, "Which willow?")
	s.write(dir+"secrets.json", `{"api_key_claude":"key-of-ada"}`)
	s.write(main, tavernChat(early, greeting, ask))
	want := counts{runs: 1, conversations: 1, events: 2}
	w.ingestAndCheck("asked", "sillytavern", s.dir, want, 1, 0, 0)
	s.write(main, tavernChat(early, greeting, ask, tavernSays(10, 100, "Purpurea.")))
	want.events, want.out = 3, 100
	w.ingestAndCheck("answered", "sillytavern", s.dir, want, 0, 0, 1)
	s.write(dir+"backups/chat_ada_20261103-100100.jsonl", tavernChat(early, greeting, ask, tavernSays(10, 100, "Purpurea."), tavernSays(12, 0, "Never mind.")))
	w.ingestAndCheck("backed up", "sillytavern", s.dir, want, 1, 0, 0)
	s.write(main, tavernChat(early, greeting, ask, tavernSays(10, 100, "Purpurea.", "Viminalis.")))
	want.events, want.out = 4, 201
	w.ingestAndCheck("swiped", "sillytavern", s.dir, want, 0, 0, 1)
	s.write(main, tavernChat(early, greeting, ask, tavernSays(20, 10, "Alba.")))
	want.events, want.out = 3, 211 // what was answered anew was spent
	w.ingestAndCheck("answered anew", "sillytavern", s.dir, want, 0, 0, 1)

	branch := dir + "chats/Ada/Branch #2 - 2026-11-03@10h01m00s000ms.jsonl"
	s.write(branch, tavernChat(early, greeting, ask))
	w.ingestAndCheck("branched", "sillytavern", s.dir, want, 0, 0, 0) // the bytes are known
	s.write(branch, tavernChat(early, greeting, ask, tavernSays(30, 20, "Caprea.")))
	want.conversations, want.events, want.out = 2, 4, 231
	w.ingestAndCheck("the branch goes on", "sillytavern", s.dir, want, 0, 0, 1)

	s.write(main, tavernChat(later, greeting, ask, tavernSays(20, 10, "Alba, or white willow.")))
	w.ingestAndCheck("edited by a newer version", "sillytavern", s.dir, want, 0, 0, 1)
	s.move(main, dir+"chats/Ada/Willows.jsonl")
	w.ingestAndCheck("renamed", "sillytavern", s.dir, want)
	s.remove(dir + "chats/Ada/Willows.jsonl")
	s.remove(branch)
	w.ingestAndCheck("deleted", "sillytavern", s.dir, want)
	if got := w.query("SELECT path FROM v_files WHERE path LIKE '%secrets%'"); len(got) != 0 {
		t.Errorf("archived: %q", got)
	}

	late := newWorld(t) // there is only the backup
	late.ingest("home", s.dir, ".")
	if got := countsOf(late.totals().Formats["sillytavern"]); got != (counts{runs: 1, conversations: 1, events: 4, out: 100}) {
		t.Errorf("late: %+v", got)
	}
}
