package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	studioDir   = ".lmstudio/conversations/"
	studioBegan = int64(1783000000000)
)

func studioFile(n int) string {
	return fmt.Sprintf("%s%d.conversation.json", studioDir, studioBegan+int64(n))
}

// studioStep is the identifier of a step that began so many milliseconds after the first chat.
func studioStep(n int) string { return fmt.Sprintf("%d-0.%016d", studioBegan+int64(n), 7*n+1) }

func studioAsks(versions ...string) string {
	all := make([]string, len(versions))
	for i, text := range versions {
		all[i] = fmt.Sprintf(`{"type":"singleStep","role":"user","content":[{"type":"text","text":%q}]}`, text)
	}
	return fmt.Sprintf(`{"versions":[%s],"currentlySelected":%d}`, strings.Join(all, ","), len(versions)-1)
}

// studioSays is a block of an answer, whose prediction has taken its own time.
func studioSays(n, in, out int, pieces ...string) string {
	return fmt.Sprintf(`{"type":"contentBlock","stepIdentifier":%q,"content":[%s],"genInfo":{"identifier":"weaver-7b",`+
		`"stats":{"stopReason":"eosFound","tokensPerSecond":41.%012d,"promptTokensCount":%d,"predictedTokensCount":%d}}}`,
		studioStep(n), strings.Join(pieces, ","), n, in, out)
}

func studioText(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }

// studioAnswers is an answer with its versions, each a list of steps, of which one is shown.
func studioAnswers(shown int, versions ...string) string {
	for i, steps := range versions {
		versions[i] = fmt.Sprintf(`{"type":"multiStep","role":"assistant","senderInfo":{"senderName":"weaver-7b"},"steps":[%s]}`, steps)
	}
	return fmt.Sprintf(`{"versions":[%s],"currentlySelected":%d}`, strings.Join(versions, ","), shown)
}

func studioChat(name string, began, last int, messages ...string) string {
	return fmt.Sprintf(`{"name":%q,"createdAt":%d,"tokenCount":0,"assistantLastMessagedAt":%d,"systemPrompt":"","messages":[%s]}`,
		name, studioBegan+int64(began), studioBegan+int64(last), strings.Join(messages, ","))
}

// TestLifeLMStudio has a chat that is written anew with each message, once only in part: its prompt is edited, its answers are made
// anew, one of them deleted. It is moved into a folder, copied, and both go on; then the copy is cleared, and both are deleted.
func TestLifeLMStudio(t *testing.T) {
	t.Parallel()
	l := newLife(t, "lm-studio")
	file := studioFile(0)
	l.write(file, studioChat("", 1, 1))
	l.ingestAndCheck("new", counts{})
	l.write(file, studioChat("", 1, 1, studioAsks("how long must osier soak?")))
	l.ingestAndCheck("asked", counts{runs: 1, conversations: 1, events: 1})
	l.checkQuery("asked", "SELECT title FROM v_runs", "how long must osier soak?")

	first := studioSays(2000, 12, 4, studioText("a week"))
	l.write(file, studioChat("Soaking", 1, 3000, studioAsks("how long must osier soak?"), studioAnswers(0, first)))
	said := counts{runs: 1, conversations: 1, events: 2, in: 12, out: 4}
	l.ingestAndCheck("answered", said)
	l.checkQuery("answered", "SELECT title || ' ' || model || ' ' || started || ' ' || ended FROM v_runs",
		"Soaking weaver-7b 2026-07-02T13:46:40.001000Z 2026-07-02T13:46:43.000000Z")
	l.checkQuery("answered", "SELECT model || ' ' || provider || ' ' || (cost_microusd IS NULL) FROM v_usage", "weaver-7b lmstudio 1")
	l.write(file, l.read(file)[:400])
	torn := said
	torn.problems = 1
	l.ingestAndCheck("torn", torn)

	// The answer is made anew, with a call, and the prompt is edited. What the first answer used was spent.
	second := studioSays(20000, 40, 9,
		`{"type":"toolCallRequest","callId":1,"name":"read_file","parameters":{"path":"/home/ada/osier.txt"}}`) +
		`,{"type":"toolStatus","stepIdentifier":"` + studioStep(20100) + `","callId":1,"statusState":` +
		`{"status":{"type":"toolCallSucceeded","timeMs":1000}}}` +
		`,{"type":"contentBlock","stepIdentifier":"` + studioStep(20200) + `","roleOverride":"tool","content":[` +
		`{"type":"toolCallResult","callId":1,"content":"[{\"type\":\"text\",\"text\":\"8 days\"}]"}]},` +
		studioSays(20300, 60, 5, studioText("eight days"))
	asked := studioAsks("how long must osier soak?", "how long must osier soak, by the notes?")
	both := studioChat("Soaking", 1, 21000, asked, studioAnswers(1, first, second))
	l.write(file, both)
	anew := counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1, in: 112, out: 18}
	l.ingestAndCheck("anew", anew)
	l.checkSearch("a week", 2) // of the earlier version, too
	l.checkSearch("eight days", 1)
	l.checkQuery("anew", "SELECT tool || ' ' || status || ' ' || failed FROM v_tool_calls WHERE counted", "read_file toolCallSucceeded 0")
	l.checkQuery("anew", "SELECT count(*) FROM v_events WHERE counted AND attributes ->> 'off_path'", "2")
	l.checkFresh("anew")

	l.write(file, studioChat("Soaking", 1, 21000, asked, studioAnswers(0, second)))
	less := anew
	less.events = 5
	l.ingestAndCheck("a version deleted", less)
	l.checkSearch("a week", 2) // in earlier versions

	moved := studioDir + "Craft/" + strings.TrimPrefix(file, studioDir)
	l.write(moved, l.read(file))
	l.remove(file)
	l.ingestAndCheck("moved", less)
	l.checkQuery("moved", "SELECT DISTINCT group_id FROM v_runs WHERE counted", "Craft")

	// A copy is a chat of its own. What it has taken over counts once, also when the first goes on or is deleted.
	hazel, rain := studioSays(90000, 70, 6, studioText("not at all")), studioSays(95000, 75, 7, studioText("in rain water"))
	l.write(studioFile(80000), studioChat("Soaking (copy)", 80001, 80001, asked, studioAnswers(0, second)))
	copied := less
	copied.runs, copied.conversations, copied.links = 2, 2, 1
	l.ingestAndCheck("copied", copied)
	l.write(studioFile(80000), studioChat("Soaking (copy)", 80001, 91000, asked, studioAnswers(0, second),
		studioAsks("and hazel?"), studioAnswers(0, hazel)))
	l.write(moved, studioChat("Soaking", 1, 96000, asked, studioAnswers(0, second), studioAsks("in what?"), studioAnswers(0, rain)))
	copied.events, copied.in, copied.out = copied.events+4, copied.in+145, copied.out+13
	l.ingestAndCheck("both went on", copied)
	l.checkQuery("both went on", "SELECT count(*) FROM v_events WHERE verdict = 'copied history' AND kind <> 'notice'", "5")

	l.write(studioFile(80000), studioChat("Soaking (copy)", 80001, 91000))
	cleared := copied
	cleared.runs, cleared.conversations, cleared.events = 1, 1, 7
	l.ingestAndCheck("cleared", cleared)
	l.remove(moved)
	l.remove(studioFile(80000))
	l.ingestAndCheck("deleted", cleared)
	l.checkCopy("laptop", cleared)
}

// TestLifeLMStudioCopies looks at which chat has what it shares with a copy, whose path comes first.
func TestLifeLMStudioCopies(t *testing.T) {
	t.Parallel()
	l := newLife(t, "lm-studio")
	asked, answered := studioAsks("how long must osier soak?"), studioAnswers(0, studioSays(2000, 12, 4, studioText("a week")))
	l.write(studioDir+"Attic/"+strings.TrimPrefix(studioFile(80000), studioDir), studioChat("Soaking (copy)", 80001, 80001, asked, answered))
	l.write(studioDir+"Attic/of my own.json", studioChat("Soaking", 1, 3000, asked, answered))
	l.write(studioDir+"Craft/"+strings.TrimPrefix(studioFile(0), studioDir), studioChat("Soaking", 1, 3000, asked, answered))
	l.ingestAndCheck("copies", counts{runs: 3, conversations: 3, events: 2, in: 12, out: 4, links: 2})
	l.checkQuery("copies", "SELECT native_id || ' ' || events || ' ' || input_tokens FROM v_runs WHERE events > 0 OR input_tokens > 0", fmt.Sprint(studioBegan)+" 2 12")
}
