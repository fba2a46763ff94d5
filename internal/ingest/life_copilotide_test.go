package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// copilotXcode are the tables of Copilot for Xcode.
const copilotXcode = `CREATE TABLE IF NOT EXISTS Conversation (id TEXT NOT NULL PRIMARY KEY, title TEXT, isSelected INTEGER NOT NULL, CLSConversationID TEXT, data BLOB NOT NULL,
		createdAt REAL DEFAULT (strftime('%s','now')), updatedAt REAL DEFAULT (strftime('%s','now')));
	CREATE TABLE IF NOT EXISTS Turn (rowID INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, conversationID TEXT NOT NULL, CLSTurnID TEXT, role TEXT NOT NULL, data BLOB NOT NULL,
		createdAt REAL DEFAULT (strftime('%s','now')), updatedAt REAL DEFAULT (strftime('%s','now')), UNIQUE (conversationID, id))`

const (
	copilotXcodeBase = ".config/github-copilot/xcode/0badc0de0badc0de/conversations/00112233445566ff.db"
	copilotXcodeID   = "0A0A0000-0000-4000-8000-000000000001"
)

// copilotXcodeSave writes a conversation as the extension does.
func (b *base) copilotXcodeSave(id, title string, selected bool, at float64) {
	b.do(`INSERT INTO Conversation (id, title, isSelected, CLSConversationID, data, createdAt, updatedAt) VALUES (?1, ?2, ?3, '', CAST('{}' AS BLOB), ?4, ?4)
		ON CONFLICT (id) DO UPDATE SET title = excluded.title, isSelected = excluded.isSelected, updatedAt = excluded.updatedAt`, id, title, selected, at)
}

// copilotXcodeTurn writes a turn, which may be there already; more are members of what is in it. It keeps the times that it has.
func (b *base) copilotXcodeTurn(conversation, id, cls, role, content string, at int, more ...string) {
	data := fmt.Sprintf(`{"content":%q,"rating":0,"references":[],"steps":[]%s}`, content, strings.Join(append([]string{""}, more...), ","))
	b.do(`INSERT INTO Turn (id, conversationID, CLSTurnID, role, data, createdAt, updatedAt) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
		ON CONFLICT (conversationID, id) DO UPDATE SET CLSTurnID = excluded.CLSTurnID, role = excluded.role, data = excluded.data, createdAt = excluded.createdAt,
			updatedAt = excluded.updatedAt`, id, conversation, cls, role, []byte(data), 1793700000+float64(at)+0.25)
}

// TestLifeCopilotXcode has a database whose extension writes a turn several times while it is received, switches chats, renames one, restores an earlier turn, and
// deletes the chat, while a copy goes on.
func TestLifeCopilotXcode(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, copilotXcodeBase, copilotXcode)
	for _, name := range []string{"apps.json", "hosts.json", "auth.db", "xcode/mcp.json", "xcode/copilot-xcode.db"} {
		s.write(".config/github-copilot/"+name, `{"oauth_token":"a token"}`)
	}
	b.copilotXcodeSave(copilotXcodeID, "", true, 1793700000.25)
	b.copilotXcodeTurn(copilotXcodeID, "u1", "", "user", "grind the corn", 1)
	want := counts{runs: 1, conversations: 1, events: 1}
	w.ingestAndCheck("asked", "copilot-ide", s.dir, want, 2, 0, 0)
	b.copilotXcodeTurn(copilotXcodeID, "u1", "t1", "user", "grind the corn", 1)
	w.ingestAndCheck("begun", "copilot-ide", s.dir, want, 0, 0, 1)

	const call = `"editAgentRounds":[{"roundId":1,"reply":"I look","toolCalls":[{"id":"c1","name":"read_file","status":%q,"input":{"filePath":"/Mill.swift"}%s}]}]`
	b.copilotXcodeTurn(copilotXcodeID, "t1", "t1", "assistant", "", 2, fmt.Sprintf(call, "running", ""), `"turnStatus":"inProgress"`)
	want.events, want.calls = 3, 1
	w.ingestAndCheck("a call", "copilot-ide", s.dir, want, 0, 1, 0)
	done := fmt.Sprintf(call, "completed", `,"result":[{"type":"text","value":"struct Mill"}]`)
	b.copilotXcodeTurn(copilotXcodeID, "t1", "t1", "assistant", "Ground.", 2, done, `"turnStatus":"success"`, `"modelName":"GPT-5"`, `"billingMultiplier":1`)
	want.events, want.results = 5, 1
	w.ingestAndCheck("answered", "copilot-ide", s.dir, want, 0, 0, 1)

	const other = "0A0A0000-0000-4000-8000-000000000002"
	b.copilotXcodeSave(copilotXcodeID, "Corn", false, 1793700010.5)
	b.copilotXcodeSave(other, "", true, 1793700010.25)
	w.ingestAndCheck("another chat, and a title", "copilot-ide", s.dir, want, 1, 0, 1)
	if got := w.query("SELECT title || ' ' || model FROM v_conversations WHERE verdict = 'counted'"); len(got) != 1 || got[0] != "Corn GPT-5" {
		t.Errorf("conversations %q", got)
	}
	b.do("UPDATE Conversation SET isSelected = NOT isSelected")
	w.ingestAndCheck("switched", "copilot-ide", s.dir, want, 0, 0, 0)

	b.copilotXcodeTurn(copilotXcodeID, "u2", "t2", "user", "finer", 20)
	b.copilotXcodeTurn(copilotXcodeID, "t2", "t2", "assistant", "Finer.", 21, `"turnStatus":"success"`)
	longer := want
	longer.events += 2
	w.ingestAndCheck("finer", "copilot-ide", s.dir, longer, 0, 1, 0)
	b.do("VACUUM INTO ?", s.dir+"/copy.db")
	b.do("DELETE FROM Turn WHERE id IN ('u2', 't2')")
	w.ingestAndCheck("restored, beside a copy", "copilot-ide", s.dir, longer)
	c := baseAt(t, s.dir+"/copy.db")
	c.copilotXcodeTurn(copilotXcodeID, "u3", "", "user", "in the copy", 30)
	longer.events++
	w.ingestAndCheck("the copy goes on", "copilot-ide", s.dir, longer)
	b.copilotXcodeTurn(copilotXcodeID, "u4", "", "user", "coarser", 40)
	longer.events++
	longer.conversations++
	w.ingestAndCheck("both go on", "copilot-ide", s.dir, longer)
	b.do("DELETE FROM Conversation WHERE id = ?", copilotXcodeID)
	b.do("DELETE FROM Turn WHERE conversationID = ?", copilotXcodeID)
	w.ingestAndCheck("deleted", "copilot-ide", s.dir, longer, 0, 0, 0)
	if got := w.query("SELECT path FROM v_files WHERE path NOT LIKE '%.db/%'"); len(got) != 0 {
		t.Errorf("archived: %q", got)
	}
}

// TestCopilotXcodeNoID has rows without an id beside others, in a database that somebody else has made.
func TestCopilotXcodeNoID(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, copilotXcodeBase, strings.ReplaceAll(copilotXcode, " NOT NULL", ""))
	b.copilotXcodeSave(copilotXcodeID, "Corn", true, 1793700000.25)
	b.copilotXcodeTurn(copilotXcodeID, "u1", "", "user", "grind the corn", 1)
	b.do("INSERT INTO Conversation (title, isSelected, data) VALUES ('nobody', 0, '{}'); INSERT INTO Turn (id, role, data) VALUES ('u2', 'user', '{}')")
	w.ingestAndCheck("without ids", "copilot-ide", s.dir, counts{runs: 1, conversations: 1, events: 1}, 2, 0, 0)
}

const copilotEclipseDir = "eclipse-workspace/.metadata/.plugins/com.microsoft.copilot.eclipse.core/conversations/ada/"

// copilotEclipse is a conversation as the plug-in writes it.
func copilotEclipse(id, title string, turns ...string) string {
	return fmt.Sprintf(`{
  "conversationId": %q,
  "title": %q,
  "requesterUsername": "ada",
  "responderUsername": "GitHub Copilot",
  "turns": [%s],
  "creationDate": "2026-11-03T09:00:00.000001Z",
  "lastMessageDate": "2026-11-03T09:00:0%d.5Z"
}`, id, title, strings.Join(turns, ", "), len(turns))
}

func copilotEclipseAsks(n int, text string) string {
	return fmt.Sprintf(`{"message": {"text": %q}, "references": [], "model": "GPT-5", "chatMode": "Agent", "turnId": "u%d", "role": "user", "timestamp": "2026-11-03T09:00:0%dZ"}`, text, n, n)
}

func copilotEclipseAnswers(n int, text, status string) string {
	return fmt.Sprintf(`{"reply": {"editAgentRounds": [{"roundId": 1, "reply": %q, "toolCalls": [{"id": "c%d", "name": "read_file", "status": %q, "result": []}]}]}, `+
		`"turnId": "t%d", "role": "copilot", "timestamp": "2026-11-03T09:00:0%dZ"}`, text, n, status, n, n)
}

// TestLifeCopilotEclipse has a document that gets another id and name with the first answer, and again when it is taken up, while an archive has what it was; a
// copy that goes on; and a document that is deleted.
func TestLifeCopilotEclipse(t *testing.T) {
	t.Parallel()
	l := newLife(t, "copilot-ide")
	l.write(copilotEclipseDir+"temporary.json", copilotEclipse("temporary", ""))
	l.ingestAndCheck("begun", counts{})
	asked := copilotEclipseAsks(1, "grind the corn")
	l.write(copilotEclipseDir+"temporary.json", copilotEclipse("temporary", "grind the corn", asked))
	one := counts{runs: 1, conversations: 1, events: 1}
	l.ingestAndCheck("asked", one)
	l.move(copilotEclipseDir+"temporary.json", copilotEclipseDir+"first.json")
	l.write(copilotEclipseDir+"first.json", copilotEclipse("first", "grind the corn", asked, copilotEclipseAnswers(2, "I look", "running")))
	l.write(copilotEclipseDir+"conversation_index.xml", `<user username="ada"/>`)
	one.events, one.calls = 3, 1
	l.ingestAndCheck("another id", one)
	turns := []string{asked, copilotEclipseAnswers(2, "I look. Ground.", "completed")}
	l.write(copilotEclipseDir+"first.json", copilotEclipse("first", "Corn", turns...))
	one.events, one.results = 4, 1
	l.ingestAndCheck("answered", one)
	l.checkQuery("answered", "SELECT title || ' ' || model || ' ' || agent || ' ' || mode FROM v_conversations WHERE verdict = 'counted'", "Corn GPT-5 GitHub Copilot Agent")
	l.checkFresh("answered")

	l.move(copilotEclipseDir+"first.json", copilotEclipseDir+"second.json")
	turns = append(turns, copilotEclipseAsks(3, "finer"))
	l.write(copilotEclipseDir+"second.json", copilotEclipse("second", "Corn", turns...))
	one.events++
	l.ingestAndCheck("taken up", one)
	l.checkQuery("taken up", "SELECT title FROM v_runs", "Corn")
	l.checkSearch("corn", 4) // in each content so far

	l.write("desk/second.json", copilotEclipse("second", "Corn", append(turns, copilotEclipseAsks(4, "in the copy"))...))
	one.events++
	l.ingestAndCheck("a copy goes on", one)
	turns = append(turns, copilotEclipseAnswers(5, "Finer.", "error"))
	l.write(copilotEclipseDir+"second.json", copilotEclipse("second", "Corn", turns...))
	one.conversations++
	one.events, one.calls, one.results = one.events+3, 2, 2
	l.ingestAndCheck("both go on", one)
	l.remove(copilotEclipseDir + "second.json")
	l.ingestAndCheck("deleted", one)
}

// TestCopilotEclipseStaleCopy has copies that somebody made of a workspace while it was answered: they have as many events as what it says
// now, which counts.
func TestCopilotEclipseStaleCopy(t *testing.T) {
	t.Parallel()
	l := newLife(t, "copilot-ide")
	want := counts{}
	for n := range int64(8) {
		said := func(text, at string) string {
			id := fmt.Sprintf("stale-%d", n)
			answer := strings.ReplaceAll(copilotEclipseAnswers(2, text, "running"), `"t2"`, fmt.Sprintf(`"t2-%d"`, n))
			return strings.NewReplacer("000001Z", fmt.Sprintf("00000%dZ", n+1), "09:00:01.5Z", at).Replace(copilotEclipse(id, "Corn", answer))
		}
		l.write(fmt.Sprintf("desk/%d.json", n), said("I look", "09:00:01.5Z"))
		l.write(fmt.Sprintf("%s%d.json", copilotEclipseDir, n), said("I look, and I grind.", "09:00:09.5Z"))
		want.runs, want.conversations, want.events, want.calls = n+1, n+1, 2*n+2, n+1
	}
	l.ingestAndCheck("copied", want)
	l.checkQuery("copied", "SELECT count(*) FROM v_conversations WHERE counted AND path LIKE 'eclipse-workspace/%'", "8")
	l.checkFresh("copied")
}
