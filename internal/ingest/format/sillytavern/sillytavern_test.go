package sillytavern

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzChat(f *testing.F) {
	formattest.Fuzz(f, New(), roleChat, "data/default-user/chats/Ada/x.jsonl")
}

func TestDetect(t *testing.T) {
	const message = `{"name":"Ada","is_user":false,"is_system":false,"send_date":"June 19, 2023 2:20pm","mes":"hi"}`
	const early, bare = `{"user_name":"You","character_name":"Ada","create_date":"2023-6-19 @14h 20m 3s 9ms"}`, `{"chat_metadata":{}}`
	chat, likely := format.Claim{Strength: format.Certain, Role: roleChat}, format.Claim{Strength: format.Likely, Role: roleChat}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"data/u/chats/Ada/a.jsonl", bare, chat},
		{"data/u/chats/Ada/a.jsonl", early + "\n" + message, chat},
		{"data/u/group chats/a.jsonl", message, chat},
		{"data/u/backups/chat_ada_20260101-101010.jsonl", bare + "\n" + message, format.Claim{Strength: format.Certain, Role: roleBackup}},
		{"downloads/a.jsonl", `{"chat_metadata":{},"user_name":"unused","character_name":"unused"}`, likely},
		{"downloads/a.jsonl", message, likely},
		{"downloads/a.json", message, format.Claim{}},
		{"data/u/chats/Ada/a.jsonl", early, format.Claim{}}, // nobody has said anything
		{"data/u/chats/Ada/a.jsonl", early + "\n" + `{"role":"user","content":"hi"}`, format.Claim{}},
		{"data/u/chats/Ada/a.jsonl", early + "\n" + early + "\n" + message, format.Claim{}},
		{"data/u/chats/Ada/a.jsonl", `{"role":"user","content":"hi"}`, format.Claim{}},
		{"data/u/chats/Ada/a.jsonl", `{"name":"Ada","mes":"hi"}`, format.Claim{}},
		{"data/u/chats/Ada/a.jsonl", "", format.Claim{}},
		{"data/u/secrets.json", "{\n    \"api_key_claude\": \"x\"", format.Claim{Strength: format.Certain, Skip: true}},
		{"data/u/secrets.json", `{"token":"x"}`, format.Claim{}},
		{"data/u/backups/secrets_migration_1.json", `{"api_key_claude":"x"}`, format.Claim{Strength: format.Certain, Skip: true}},
		{"data/cookie-secret.txt", "x", format.Claim{Strength: format.Certain, Skip: true}},
		{"data/_storage/0a1b", `{"key":"user:ada","value":{"handle":"ada","password":"x","salt":"y"}}`, format.Claim{Strength: format.Certain, Skip: true}},
		{"data/_storage/0a1b", `{"key":"lid"}`, format.Claim{}},
	})
}

func TestTimes(t *testing.T) {
	for written, want := range map[string]string{
		`1686148784000`:                   "2023-06-07T14:39:44.000000Z",
		`"1686148784000"`:                 "2023-06-07T14:39:44.000000Z",
		`"2025-11-03T10:00:00.123Z"`:      "2025-11-03T10:00:00.123000Z",
		`"June 9, 2023 2:20pm"`:           "2023-06-09T14:20:00.000000Z",
		`"June 19, 2023 12:05AM"`:         "2023-06-19T00:05:00.000000Z",
		`"2024-6-5 @14h 56m 50s 682ms"`:   "2024-06-05T14:56:50.682000Z",
		`"2024-07-12@01h31m37s12ms"`:      "2024-07-12T01:31:37.012000Z",
		`"2024-7-12@01h31m37s"`:           "2024-07-12T01:31:37.000000Z",
		`"2024-13-12@01h31m37s"`:          "",
		`"2024-7-12@01h31m"`:              "",
		`"Brumaire 19, 2023 2:20pm"`:      "",
		`"2024-7-12@-1h31m37s"`:           "",
		`"99999999999999999999-1-1@1h1m"`: "",
		`null`:                            "",
		`true`:                            "",
	} {
		v, err := jsontext.Parse([]byte(written))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if at := timeOf(v).OrNil(); at != nil {
			got = *at
		}
		if got != want {
			t.Errorf("%s is %q, want %q", written, got, want)
		}
	}
}
