package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const codewhaleSessions = ".codewhale/sessions/"

func codewhaleSays(role, text string) string {
	return fmt.Sprintf(`{"role":%q,"content":[{"type":"text","text":%q}]}`, role, text)
}

// codewhaleSession is a session with what is given of its metadata.
func codewhaleSession(id string, minute, cents int, more string, messages ...string) string {
	return fmt.Sprintf(`{"schema_version":1,"metadata":{"id":%q,"title":"Weave","created_at":"2026-07-15T08:00:00Z","updated_at":"2026-07-15T08:%02d:00Z","message_count":%d,`+
		`"total_tokens":9,"model":"deepseek-v4-pro","workspace":"/home/ada/basket","cost":{"session_cost_usd":%d.%02d}%s},"messages":[%s],"system_prompt":null}`,
		id, minute, len(messages), cents/100, cents%100, more, strings.Join(messages, ","))
}

// codewhaleJournal adds a journal, of entries with their parents' numbers.
func codewhaleJournal(session string, entries ...string) string {
	return strings.TrimSuffix(session, "}") + `,"journal":{"entries":[` + strings.Join(entries, ",") + `]}}`
}

func codewhaleEntry(n, parent int, message string) string {
	return fmt.Sprintf(`{"id":"e%d","parent_id":"e%d","kind":"message","message":%s,"created_at":"2026-07-15T08:00:%02dZ"}`, n, parent, message, n)
}

// TestLifeCodeWhale has a session that is written anew with each turn, with a checkpoint while a turn lasts, two forks, one of which is made shorter, a fork
// of a fork, a move to the program's new home, and a session that is deleted.
func TestLifeCodeWhale(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codewhale")
	const a, b, c, d = codewhaleSessions + "a.json", codewhaleSessions + "b.json", codewhaleSessions + "c.json", codewhaleSessions + "d.json"
	asked, answered := codewhaleSays("user", "weave"), codewhaleSays("assistant", "woven")
	l.write(a, codewhaleSession("a", 0, 0, ""))
	l.ingestAndCheck("started", counts{})
	l.write(codewhaleSessions+"checkpoints/a.json", codewhaleSession("a", 1, 0, "", asked))
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	l.write(a, codewhaleSession("a", 2, 100, "", asked, answered))
	l.ingestAndCheck("answered", counts{runs: 1, conversations: 1, events: 2, cost: 1000000})
	l.remove(codewhaleSessions + "checkpoints/a.json")
	l.ingestAndCheck("no checkpoint", counts{runs: 1, conversations: 1, events: 2, cost: 1000000})
	l.checkFresh("no checkpoint")

	// What a fork begins with counts in its parent, and the cost in the one that has the greater.
	const fork = `,"parent_session_id":%q,"forked_from_message_count":%d`
	l.write(b, codewhaleSession("b", 3, 100, fmt.Sprintf(fork, "a", 2), asked, answered))
	l.ingestAndCheck("forked", counts{runs: 2, conversations: 2, links: 1, events: 2, cost: 1000000})
	more := codewhaleSays("user", "dye it")
	l.write(b, codewhaleSession("b", 4, 150, fmt.Sprintf(fork, "a", 2), asked, answered, more))
	l.ingestAndCheck("fork went on", counts{runs: 2, conversations: 2, links: 1, events: 3, cost: 1500000})
	l.write(c, codewhaleSession("c", 5, 175, fmt.Sprintf(fork, "b", 3), asked, answered, more, codewhaleSays("assistant", "red")))
	l.ingestAndCheck("fork of a fork", counts{runs: 3, conversations: 3, links: 2, events: 4, cost: 1500000})
	l.write(d, codewhaleSession("d", 6, 100, fmt.Sprintf(fork, "a", 2), codewhaleSays("system", "they wove"), codewhaleSays("user", "sell it")))
	all := counts{runs: 4, conversations: 4, links: 3, events: 6, cost: 1500000}
	l.ingestAndCheck("shorter fork", all)
	l.checkFresh("shorter fork")

	// The next version keeps a journal: what is kept when a session is made shorter is in it again.
	j1, j2, j3 := codewhaleEntry(1, 0, asked), codewhaleEntry(2, 1, answered), codewhaleEntry(3, 2, codewhaleSays("user", "and the lid"))
	l.write(a, codewhaleJournal(codewhaleSession("a", 10, 120, "", asked, answered), j1, j2, j3))
	all.events++
	l.ingestAndCheck("journal", all)
	l.write(a, codewhaleJournal(codewhaleSession("a", 11, 130, "", answered), j1, j2, j3, codewhaleEntry(4, 9, answered), codewhaleEntry(5, 4, codewhaleSays("assistant", "a lid"))))
	all.events++
	l.ingestAndCheck("shorter", all)
	l.checkQuery("shorter", "SELECT title || ' ' || project || ' ' || model FROM v_conversations WHERE verdict = 'counted' LIMIT 1", "Weave /home/ada/basket deepseek-v4-pro")
	l.checkFresh("shorter")

	// A fork of what is left takes that along, with the summary as a message.
	sum := codewhaleSays("system", "[compaction summary] they wove")
	l.write(a, codewhaleJournal(codewhaleSession("a", 12, 130, "", sum, answered), j1, j2, j3,
		`{"id":"e4","kind":"compaction","summary":"they wove","created_at":"2026-07-15T08:00:04Z"}`, codewhaleEntry(5, 4, answered), codewhaleEntry(6, 5, codewhaleSays("assistant", "a lid"))))
	all.events++
	l.ingestAndCheck("summary", all)
	e1, e2, e3 := codewhaleEntry(1, 0, sum), codewhaleEntry(2, 1, answered), codewhaleEntry(3, 2, codewhaleSays("user", "and a handle"))
	l.write(codewhaleSessions+"e.json", codewhaleJournal(codewhaleSession("e", 13, 130, fmt.Sprintf(fork, "a", 2), sum, answered), e1, e2, e3))
	all.runs, all.conversations, all.links, all.events = all.runs+1, all.conversations+1, all.links+1, all.events+1
	l.ingestAndCheck("fork of a summary", all)
	l.checkFresh("fork of a summary")

	// An old copy, at the place that the program had first.
	l.write(".deepseek/sessions/a.json", codewhaleSession("a", 2, 100, "", asked, answered))
	l.ingestAndCheck("old home", all)
	l.remove(a)
	l.ingestAndCheck("deleted", all)
}
