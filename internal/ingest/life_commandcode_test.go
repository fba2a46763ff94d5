package ingest_test

import (
	"fmt"
	"testing"
)

const (
	commandStore = ".commandcode/projects/home-ada-shop/"
	commandA     = "c0000000-0000-4000-8000-00000000000a"
	commandB     = "c0000000-0000-4000-8000-00000000000b"
)

// commandFlat is a line of version 2, whose id each save makes anew.
func commandFlat(save, n int, role, text string) string {
	return fmt.Sprintf(`{"id":"d%d%d","timestamp":"2026-06-01T10:00:0%dZ","sessionId":%q,"role":%q,"content":[{"type":"text","text":%q}],"metadata":{"version":2,"source":"cli"}}`+"\n",
		save, n, n, commandA, role, text)
}

func commandHeader(session, at string) string {
	return fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-%sZ","cwd":"/home/ada/shop"}`+"\n", session, at)
}

func commandEntry(n int, at, role, text, more string) string {
	return fmt.Sprintf(`{"type":"message","id":"e%d","parentId":null,"timestamp":"2026-%sZ","message":{"role":%q,"content":[{"type":"text","text":%q}],"meta":{}}%s}`+"\n", n, at, role, text, more)
}

// TestLifeCommandCode has a session of version 2, which is written anew, and then in version 3, to which lines are added; a fork of it, a title, and what
// is left when the user deletes the session.
func TestLifeCommandCode(t *testing.T) {
	t.Parallel()
	l := newLife(t, "command-code")
	const file = commandStore + commandA + ".jsonl"
	l.write(file, commandFlat(1, 1, "user", "mend")+commandFlat(1, 2, "assistant", "mended"))
	l.ingestAndCheck("version 2", counts{runs: 1, conversations: 1, events: 2})
	flat := commandFlat(2, 1, "user", "mend") + commandFlat(2, 2, "assistant", "mended") + commandFlat(2, 3, "user", "weave")
	l.write(file, flat)
	l.ingestAndCheck("written anew", counts{runs: 1, conversations: 1, events: 3})

	const used = `,"usage":{"inputTokens":100,"outputTokens":10,"cacheReadTokens":400,"costUsd":0.25},"model":"kimi-k3"`
	same := commandEntry(1, "06-01T10:00:01", "user", "mend", "") + commandEntry(2, "06-01T10:00:02", "assistant", "mended", "") + commandEntry(3, "06-01T10:00:03", "user", "weave", "")
	l.write(file, commandHeader(commandA, "07-01T10:00:00")+same)
	l.write(file+".v2.bak", flat)
	l.ingestAndCheck("version 3", counts{runs: 1, conversations: 1, events: 3})
	l.append(file, commandEntry(4, "07-01T10:00:09", "assistant", "woven", used))
	one := counts{runs: 1, conversations: 1, events: 4, in: 100, out: 10, cost: 250000}
	l.ingestAndCheck("added to", one)
	l.write(commandStore+commandA+".meta.json", `{"title":"Baskets"}`)
	l.ingestAndCheck("titled", one)
	l.checkQuery("titled", "SELECT DISTINCT title || ' ' || project || ' ' || model FROM v_conversations WHERE verdict = 'counted'", "Baskets /home/ada/shop kimi-k3")
	l.checkFresh("titled")

	fork := commandStore + commandB + ".jsonl"
	l.write(fork, commandHeader(commandB, "07-02T10:00:00")+same+commandEntry(4, "07-01T10:00:09", "assistant", "woven", used)+commandEntry(5, "07-02T10:00:01", "user", "dye", ""))
	l.write(commandStore+commandB+".meta.json", `{"title":"Dyes","parentSessionId":"`+commandA+`"}`)
	two := counts{runs: 2, conversations: 2, events: 5, in: 100, out: 10, cost: 250000, links: 1}
	l.ingestAndCheck("forked", two)
	l.checkFresh("forked")
	l.remove(file)
	l.remove(commandStore + commandA + ".meta.json")
	l.ingestAndCheck("deleted", two)
	l.checkSearch("dye", 1)
}
