package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest"
)

// The histories of a folder, before and after the editor tells the program in which file it lists the workspace.
const (
	amazonqFile  = ".aws/amazonq/history/chat-history-0123456789abcdef0123456789abcdef.json"
	amazonqMoved = ".aws/amazonq/history/chat-history-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.json"
)

func amazonqID(n int) string { return fmt.Sprintf("aa000000-0000-4000-8000-%012d", n) }

// amazonqHistory is a file with tabs, each made by amazonqTab, as LokiJS writes it.
func amazonqHistory(tabs ...string) string {
	return fmt.Sprintf(`{"filename":"chat-history-0123.json","collections":[{"name":"tabs","data":[%s],"idIndex":null,"objType":"tabs","maxId":9},`+
		`{"name":"settings","data":[{"modelId":"m","$loki":1}]}],"databaseVersion":1.5,"ENV":"NODEJS"}`, strings.Join(tabs, ","))
}

// amazonqTab is a tab with one conversation, changed at a second after ten o'clock.
func amazonqTab(n, at int, messages ...string) string {
	return fmt.Sprintf(`{"historyId":%q,"updatedAt":"2025-09-01T10:%02d:%02dZ","isOpen":true,"tabType":"cwc","title":"tab %d at %d",`+
		`"conversations":[{"conversationId":"c%d","clientType":"VSCode","updatedAt":"2025-09-01T10:%02d:%02dZ","messages":[%s]}],`+
		`"meta":{"revision":%d,"created":1756720800000,"version":0},"$loki":%d}`,
		amazonqID(n), at/60, at%60, n, at, n, at/60, at%60, strings.Join(messages, ","), at, n)
}

// amazonqSaid is a prompt and its answer, at a second after ten o'clock.
func amazonqSaid(at int, prompt, answer string) string {
	return fmt.Sprintf(`{"body":%q,"type":"prompt","origin":"IDE","userInputMessageContext":{"editorState":{"document":{"text":"open %d"},`+
		`"workspaceFolders":["/home/ada/shop"]}},"shouldDisplayMessage":true,"timestamp":"2025-09-01T10:%02d:%02d.500Z"},`+
		`{"body":%q,"type":"answer","toolUses":[],"shouldDisplayMessage":true,"timestamp":"2025-09-01T10:%02d:%02d.900Z"}`,
		prompt, at, at/60, at%60, answer, at/60, at%60)
}

// amazonqCall is a prompt that makes the model call a tool, with the result, and the answer.
func amazonqCall(at int, prompt, answer string) string {
	return fmt.Sprintf(`{"body":%q,"type":"prompt","origin":"IDE","userInputMessageContext":{},"timestamp":"2025-09-01T10:%02d:%02d.100Z"},`+
		`{"body":"","type":"answer","toolUses":[{"toolUseId":"tooluse_%d","name":"fsRead","input":{"paths":["stock.md"]}}],`+
		`"timestamp":"2025-09-01T10:%02d:%02d.200Z"},{"body":"","type":"prompt","origin":"IDE","userInputMessageContext":{"toolResults":[`+
		`{"toolUseId":"tooluse_%d","content":[{"text":"wicker"}],"status":"success"}]},"timestamp":"2025-09-01T10:%02d:%02d.300Z"},`+
		`{"body":%q,"type":"answer","timestamp":"2025-09-01T10:%02d:%02d.400Z"}`,
		prompt, at/60, at%60, at, at/60, at%60, at, at/60, at%60, answer, at/60, at%60)
}

// TestLifeAmazonQ has a history that is written anew with each message, of two tabs, of which one is trimmed, and then compacted. Another
// window overwrites it, the file is torn, and gets another name.
func TestLifeAmazonQ(t *testing.T) {
	t.Parallel()
	l := newLife(t, "amazon-q-ide")
	first, second, third := amazonqSaid(1, "weave a basket", "woven"), amazonqCall(5, "how much wicker", "enough"), amazonqSaid(9, "and a lid", "a lid")
	l.write(amazonqFile, amazonqHistory(amazonqTab(1, 2, first)))
	want := counts{runs: 1, conversations: 1, events: 2}
	l.ingestAndCheck("said", want)
	l.write(amazonqFile, amazonqHistory(amazonqTab(1, 6, first, second)))
	want.events, want.calls, want.results = 6, 1, 1
	l.ingestAndCheck("called", want)
	other := amazonqSaid(8, "paint the inn", "painted")
	l.write(amazonqFile, amazonqHistory(amazonqTab(1, 6, first, second), amazonqTab(2, 8, other)))
	want.runs, want.conversations, want.events = 2, 2, 8
	l.ingestAndCheck("another tab", want)
	l.write(amazonqFile, amazonqHistory(amazonqTab(1, 9, first, second, third), amazonqTab(2, 8, other)))
	want.events = 10
	l.ingestAndCheck("went on", want)
	l.checkFresh("went on")
	l.checkQuery("went on", "SELECT title || '|' || project FROM v_conversations WHERE counted ORDER BY 1",
		"tab 1 at 9|/home/ada/shop", "tab 2 at 8|/home/ada/shop")

	// The program deletes the oldest pairs of messages. What it had stands before what is left.
	l.write(amazonqFile, amazonqHistory(amazonqTab(1, 9, third), amazonqTab(2, 8, other)))
	l.ingestAndCheck("trimmed", want)
	l.checkQuery("trimmed", "SELECT group_concat(s, ' ') FROM (SELECT strftime('%S', e.time) s FROM v_events e JOIN v_runs r USING (run_id) "+
		"WHERE e.counted AND r.native_id = '"+amazonqID(1)+"' ORDER BY seq)", "01 01 05 05 05 05 09 09")
	fourth := amazonqSaid(70, "and a handle", "a handle")
	l.write(amazonqFile, amazonqHistory(amazonqTab(1, 70, third, fourth), amazonqTab(2, 8, other)))
	want.events = 12
	l.ingestAndCheck("gone on", want)

	// A window of another editor, which had read the file before, overwrites it with what it has.
	spoons := amazonqSaid(75, "count the spoons", "nine")
	l.write(amazonqFile, amazonqHistory(amazonqTab(1, 9, third), amazonqTab(2, 8, other), amazonqTab(3, 75, spoons)))
	want.runs, want.conversations, want.events = 3, 3, 14
	l.ingestAndCheck("overwritten", want)
	l.checkQuery("overwritten", "SELECT title FROM v_conversations WHERE counted ORDER BY 1", "tab 1 at 70", "tab 2 at 8", "tab 3 at 75")

	// A write is cut off; then a tab is compacted: a new one begins with the summary. One is deleted.
	whole := amazonqHistory(amazonqTab(1, 9, third), amazonqTab(2, 8, other))
	l.write(amazonqFile, whole[:len(whole)/2])
	want.problems = 1
	l.ingestAndCheck("torn", want)
	summary := `{"body":"Baskets have lids.","type":"prompt","shouldDisplayMessage":true,"timestamp":"2025-09-01T10:01:20Z","userInputMessageContext":{}},` +
		`{"body":"Working...","type":"answer","shouldDisplayMessage":false,"timestamp":"2025-09-01T10:01:20Z"}`
	l.write(amazonqFile, amazonqHistory(amazonqTab(4, 80, summary)))
	want.runs, want.conversations, want.events, want.problems = 4, 4, 15, 0
	l.ingestAndCheck("compacted", want)
	l.checkQuery("compacted", "SELECT e.kind || ' ' || e.role FROM v_events e JOIN v_runs r USING (run_id) WHERE e.counted AND r.native_id = '"+
		amazonqID(4)+"'", "compaction system")

	// It gets another name, and a copy of an earlier state lies elsewhere.
	l.move(amazonqFile, amazonqMoved)
	l.ingestAndCheck("renamed", want)
	l.write(amazonqMoved, amazonqHistory(amazonqTab(4, 90, summary, amazonqSaid(90, "and now", "nothing"))))
	l.write("desk/history.json", whole)
	want.events = 17
	l.ingestAndCheck("copied", want)
	l.remove(amazonqMoved)
	l.ingestAndCheck("deleted", want)
	l.checkSearch("handle", 2)
	l.checkSearch("enough", 3) // once in each state of the file that had it
}

// TestLifeAmazonQEarly has a history of the first versions, without times, from which the program drops what the next request has no room
// for. What is left becomes one conversation with another id.
func TestLifeAmazonQEarly(t *testing.T) {
	t.Parallel()
	l := newLife(t, "amazon-q-ide")
	const yes = `{"body":"yes","type":"prompt"},{"body":"woven","type":"answer"}`
	lid, no := strings.ReplaceAll(yes, "yes", "and a lid"), strings.ReplaceAll(yes, "yes", "no")
	l.write(amazonqFile, amazonqHistory(amazonqTab(1, 2, yes, lid, yes)))
	want := counts{runs: 1, conversations: 1, events: 6}
	l.ingestAndCheck("said", want)
	l.checkFresh("said")
	dropped := func(at int, messages ...string) string {
		return strings.ReplaceAll(amazonqHistory(amazonqTab(1, at, messages...)), `"conversationId":"c1"`, `"conversationId":"c2"`)
	}
	l.write(amazonqFile, dropped(2, lid, yes))
	l.ingestAndCheck("dropped", want)
	l.write(amazonqFile, dropped(3, lid, yes, no))
	want.events = 7 // one more "woven" was there before: the limit that the page names
	l.ingestAndCheck("went on", want)

	// A call is answered while the user says something else: the results are in another prompt then.
	const (
		called = `{"body":"","type":"answer","toolUses":[{"toolUseId":"tooluse_1","name":"fsRead","input":{}}]}`
		given  = `{"body":%q,"type":"prompt","userInputMessageContext":{"toolResults":[{"toolUseId":"tooluse_1","content":[],"status":"success"}]}}`
	)
	l.write(amazonqFile, dropped(4, no, called, fmt.Sprintf(given, "")))
	want.events, want.calls, want.results = 9, 1, 1
	l.ingestAndCheck("called", want)
	l.write(amazonqFile, dropped(5, no, called, fmt.Sprintf(given, "stop")))
	want.events++
	l.ingestAndCheck("interrupted", want)
}

// TestDiscoverAmazonQ finds the history beside what must not be read.
func TestDiscoverAmazonQ(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	s.write(amazonqFile, amazonqHistory(amazonqTab(1, 2, amazonqSaid(1, "weave", "woven"))))
	s.write(".aws/credentials", "[default]\naws_secret_access_key = "+cursorToken)
	found, err := w.Discover(t.Context(), ingest.Home{Dir: s.dir, Env: func(string) string { return "" }})
	if err != nil || len(found) != 1 || found[0].Dir != s.dir+"/.aws/amazonq/history" || found[0].Name != "amazon-q-ide" {
		t.Errorf("found %+v, %v", found, err)
	}
}
