package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The tables of the kit's SqliteSessionService, and those of the schema before it, whose times are text and whose actions are Python's.
const (
	adkStates = `CREATE TABLE app_states (app_name TEXT PRIMARY KEY, state TEXT NOT NULL, update_time REAL NOT NULL);
		CREATE TABLE user_states (app_name TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL, update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id));
		INSERT INTO user_states VALUES ('shop', 'ada', '{"token": "a-token-of-ada"}', 1)`
	adkDocuments = adkStates + `;
		CREATE TABLE sessions (app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, create_time REAL NOT NULL, update_time REAL NOT NULL,
			PRIMARY KEY (app_name, user_id, id));
		CREATE TABLE events (id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, invocation_id TEXT NOT NULL, timestamp REAL NOT NULL,
			event_data TEXT NOT NULL, PRIMARY KEY (app_name, user_id, session_id, id),
			FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions(app_name, user_id, id) ON DELETE CASCADE);
		PRAGMA wal_checkpoint`
	adkColumns = adkStates + `;
		CREATE TABLE sessions (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL, state TEXT NOT NULL, create_time DATETIME NOT NULL,
			update_time DATETIME NOT NULL, PRIMARY KEY (app_name, user_id, id));
		CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128) NOT NULL,
			invocation_id VARCHAR(256) NOT NULL, author VARCHAR(256) NOT NULL, actions BLOB NOT NULL, long_running_tool_ids_json TEXT, branch VARCHAR(256), timestamp DATETIME NOT NULL,
			content TEXT, grounding_metadata TEXT, custom_metadata TEXT, usage_metadata TEXT, citation_metadata TEXT, partial BOOLEAN, turn_complete BOOLEAN, error_code VARCHAR(256),
			error_message VARCHAR(1024), interrupted BOOLEAN, input_transcription TEXT, output_transcription TEXT, PRIMARY KEY (id, app_name, user_id, session_id));
		PRAGMA wal_checkpoint`
)

const adkA, adkB = "a0000000-0000-4000-8000-00000000000a", "a0000000-0000-4000-8000-00000000000b"

func adkID(n int) string { return fmt.Sprintf("e0000000-0000-4000-8000-%012d", n) }

const adkStart = 1781517600 // 2026-06-15 10:00:00

func (b *base) adkSession(id string, at int) {
	b.do("INSERT INTO sessions VALUES ('shop', 'ada', ?, '{\"token\": \"a-token-of-ada\"}', ?, ?)", id, adkStart+float64(at)+0.25, adkStart+float64(at)+0.25)
}

// adkSays adds event n, at second n.
func (b *base) adkSays(session string, n int, author, parts, more string) {
	role := "model"
	if author == "user" || strings.Contains(parts, "function_response") {
		role = "user"
	}
	at := adkStart + float64(n) + 0.5
	b.do("INSERT INTO events VALUES (?, 'shop', 'ada', ?, 'e-1', ?, ?)", adkID(n), session, at, fmt.Sprintf(
		`{"content":{"parts":[%s],"role":%q},"invocation_id":"e-1","author":%q,"actions":{"state_delta":{"token":"a-token-of-ada"},"requested_auth_configs":{}},"id":%q,"timestamp":%.1f%s}`,
		parts, role, author, adkID(n), at, more))
	b.do("UPDATE sessions SET update_time = ? WHERE id = ?", at, session)
}

func adkText(text string) string { return fmt.Sprintf(`{"text":%q}`, text) }

func adkUsed(in, out int) string {
	return fmt.Sprintf(`,"model_version":"gemini-2.5-flash","usage_metadata":{"prompt_token_count":%d,"candidates_token_count":%d,"total_token_count":%d}`, in, out, in+out)
}

// TestLifeGoogleADK has sessions that go on, one that is loaded into another, one that asks for a token, a copy, and sessions that are deleted and begun again.
func TestLifeGoogleADK(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, "shop/.adk/session.db", adkDocuments)
	b.adkSession(adkA, 0)
	w.ingestAndCheck("begun", "google-adk", s.dir, counts{}, 0, 0, 0)
	b.adkSays(adkA, 1, "user", adkText("mend the basket"), "")
	b.adkSays(adkA, 2, "shop", adkText("I look")+`,{"function_call":{"id":"adk-1","name":"look","args":{"size":NaN}}}`, adkUsed(100, 10))
	want := counts{runs: 1, conversations: 1, events: 3, calls: 1, in: 100, out: 10}
	w.ingestAndCheck("asked", "google-adk", s.dir, want, 1, 0, 0)
	b.adkSays(adkA, 3, "shop", `{"function_response":{"id":"adk-1","name":"look","response":{"result":"a hole"}}}`, "")
	b.adkSays(adkA, 4, "shop", adkText("mended"), adkUsed(130, 5))
	want.events, want.results, want.in, want.out = 5, 1, 230, 15
	w.ingestAndCheck("answered", "google-adk", s.dir, want, 0, 1, 0)

	// The kit loads a saved session into a new one: its events keep their ids.
	b.adkSession("mine", 60)
	b.do("INSERT INTO events SELECT id, app_name, user_id, 'mine', invocation_id, timestamp, event_data FROM events")
	want.runs, want.conversations, want.links = 2, 2, 1
	w.ingestAndCheck("loaded", "google-adk", s.dir, want, 1, 0, 0)
	b.adkSays("mine", 61, "user", adkText("thanks"), "")
	b.adkSays("mine", 62, "shop", `{"function_call":{"id":"adk-2","name":"adk_request_credential","args":{"auth_config":{"client_secret":"a-token-of-ada"}}}}`, adkUsed(7, 3))
	want.events, want.in, want.out = 6, 237, 18
	w.ingestAndCheck("goes on", "google-adk", s.dir, want, 0, 1, 0)

	b.do("VACUUM INTO ?", s.dir+"/backup.db")
	w.ingestAndCheck("a copy", "google-adk", s.dir, want)
	b.do("PRAGMA foreign_keys = ON; DELETE FROM sessions")
	w.ingestAndCheck("deleted", "google-adk", s.dir, want)
	b.adkSession("mine", 120)
	b.adkSays("mine", 121, "user", adkText("once more"), "")
	want.runs, want.conversations, want.events = 3, 3, 7
	w.ingestAndCheck("begun again", "google-adk", s.dir, want, 1, 0, 0)
	for _, path := range w.query("SELECT path FROM v_files") {
		for _, content := range w.versions(path) {
			if strings.Contains(content, "a-token-of-ada") {
				t.Errorf("%s has a token", path)
			}
		}
	}
}

// TestLifeGoogleADKColumns has a database of the first schema, in a zone two hours ahead, that is migrated.
func TestLifeGoogleADKColumns(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, "shop/sessions.db", adkColumns)
	b.do("INSERT INTO sessions VALUES ('shop', 'ada', ?, '{}', '2026-06-15 10:00:00.250000', '2026-06-15 10:00:00.250000')", adkB)
	say := func(n int, author, content, usage string) {
		b.do(`INSERT INTO events (id, app_name, user_id, session_id, invocation_id, author, actions, timestamp, content, usage_metadata, partial)
			VALUES (?, 'shop', 'ada', ?, 'e-1', ?, x'8005', ?, ?, nullif(?, ''), NULL)`, adkID(n), adkB, author, fmt.Sprintf("2026-06-15 12:00:%02d.500000", n), content, usage)
		b.do("UPDATE sessions SET update_time = ?", fmt.Sprintf("2026-06-15 10:00:%02d.500000", n))
	}
	say(1, "user", `{"parts":[{"text":"mend the basket"}],"role":"user"}`, "")
	say(2, "shop", `{"parts":[{"text":"mended"}],"role":"model"}`, `{"prompt_token_count":20,"candidates_token_count":4,"total_token_count":24}`)
	want := counts{runs: 1, conversations: 1, events: 2, in: 20, out: 4}
	w.ingestAndCheck("begun", "google-adk", s.dir, want, 1, 0, 0)
	say(3, "user", `{"parts":[{"text":"thanks"}],"role":"user"}`, "")
	want.events = 3
	w.ingestAndCheck("goes on", "google-adk", s.dir, want, 0, 1, 0)
	if got := w.query("SELECT DISTINCT substr(time, 12, 2) FROM v_events WHERE verdict = 'counted'"); strings.Join(got, ",") != "10" {
		t.Errorf("hours %q", got)
	}

	migrated := newBase(s, "shop/new.db", adkDocuments)
	migrated.adkSession(adkB, 0)
	migrated.adkSays(adkB, 1, "user", adkText("mend the basket"), "")
	migrated.adkSays(adkB, 2, "shop", adkText("mended"), adkUsed(20, 4))
	migrated.adkSays(adkB, 3, "user", adkText("thanks"), "")
	w.ingestAndCheck("migrated", "google-adk", s.dir, want, 1, 0, 0)
	migrated.adkSays(adkB, 4, "shop", adkText("gladly"), adkUsed(30, 2))
	want.events, want.in, want.out = 4, 50, 6
	w.ingestAndCheck("goes on in the new one", "google-adk", s.dir, want, 0, 1, 0)
}

// adkSave writes a session to a file, as adk run does.
func (s *tree) adkSave(b *base, session, name string) {
	var events string
	if err := b.QueryRow("SELECT group_concat(event_data ORDER BY rowid) FROM events WHERE session_id = ?", session).Scan(&events); err != nil {
		s.t.Fatal(err)
	}
	s.write(name, fmt.Sprintf(`{"id":%q,"app_name":"shop","user_id":"ada","state":{},"events":[%s],"last_update_time":1}`, session, events))
}

// TestLifeGoogleADKSaved has a session that is saved in a file while it goes on, and loaded from that into another one, which is saved as well.
func TestLifeGoogleADKSaved(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, "shop/.adk/session.db", adkDocuments)
	b.adkSession(adkA, 0)
	b.adkSays(adkA, 1, "user", adkText("how many are left"), "")
	b.adkSays(adkA, 2, "shop", adkText("41"), adkUsed(100, 10))
	want := counts{runs: 1, conversations: 1, events: 2, in: 100, out: 10}
	s.adkSave(b, adkA, "shop/stock.session.json")
	w.ingestAndCheck("saved", "google-adk", s.dir, want, 2, 0, 0)
	b.adkSays(adkA, 3, "user", adkText("thanks"), "")
	want.events = 3
	w.ingestAndCheck("gone on", "google-adk", s.dir, want, 0, 1, 0)

	b.adkSession(adkB, 10)
	b.do(`INSERT INTO events SELECT id, app_name, user_id, ?, invocation_id, timestamp, event_data FROM events
		WHERE session_id = ? AND id <= ? ORDER BY id`, adkB, adkA, adkID(2))
	b.adkSays(adkB, 11, "user", adkText("and of the lids"), "")
	b.adkSays(adkB, 12, "shop", adkText("42"), adkUsed(200, 20))
	s.adkSave(b, adkB, "shop/lids.session.json")
	want.runs, want.conversations, want.events, want.in, want.out, want.links = 2, 2, 5, 300, 30, 1
	w.ingestAndCheck("loaded", "google-adk", s.dir, want, 2, 0, 0)
	newWorld(t).ingestAndCheck("fresh", "google-adk", s.dir, want)

	b.do("DELETE FROM sessions; DELETE FROM events")
	late := newWorld(t) // what the files alone say
	want.events = 4
	late.ingestAndCheck("late", "google-adk", s.dir, want, 2, 0, 0)
}
