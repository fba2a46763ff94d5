package openwebui

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, "home/.open-webui/webui.db/a0000000-0000-4000-8000-000000000001.ndjson")
}

func FuzzExport(f *testing.F) {
	formattest.Fuzz(f, New(), roleExport, "downloads/chat-export-1770000000000.json")
}

func TestDetect(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + `CREATE TABLE "chat" ("id" VARCHAR(255) NOT NULL, "user_id" VARCHAR(255), "title" TEXT, "chat" TEXT, "share_id" VARCHAR(255), "archived" INTEGER)`
	long, other := string(formattest.DatabaseHead(true)), string(formattest.DatabaseHead(false)) // the schema is on other pages; it is here
	migrated := long + "001_initial_schema2026-01-01 00:00:00\x002002_add_local_sharing2026-01-01 00:00:01"
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true, Secret: true}
	likely := database
	likely.Strength = format.Likely
	export := format.Claim{Strength: format.Certain, Role: roleExport}
	named := export
	named.Strength = format.Likely
	skip := format.Claim{Strength: format.Certain, Skip: true}
	const chat = `[{"id":"c1","user_id":"u1","title":"Baskets","chat":{"title":"Baskets","models":["m"],"history":{"messages":{"m1":{"id":"m1"`
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"venv/lib/python3.11/site-packages/open_webui/data/webui.db", long, likely},
		{"home/.open-webui/webui.db", long, likely},
		{"docker/volumes/open-webui/_data/webui.db", long, likely},
		{"webui.db", long, likely},
		{"ovpn-ui/webui.db", long, format.Claim{}},
		{"ovpn-ui/webui.db", other, format.Claim{}},
		{"home/.open-webui/webui.db", other, format.Claim{}},
		{"backup/monday.db", migrated, database},
		{"ovpn-ui/webui.db", schema, database},
		{"backup/monday.db", schema, likely},
		{"backup/monday.db", head + "CREATE TABLE chat (id TEXT, title TEXT)", format.Claim{}},
		{"home/.open-webui/webui.db", "no database", format.Claim{}},
		{"home/.open-webui/webui.db-wal", "", format.Claim{}},
		{"webui.db/c1.ndjson", `{"table":"open-webui chat"`, format.Claim{Strength: format.Certain, Role: roleRows}},
		{"chat-export-1770000000000.json", chat, export},
		{"chats.json", chat, named},
		{"chats.json", chat[1:], named},
		{"chat-export-1770000000000.json", `[{"id":"c1","user_id":"u1","title":"Baskets","chat":{"params":{}}}]`, format.Claim{}},
		{"chat-export-1770000000000.json", `[{"id":"c1","title":"Baskets","models":["m"],"history":{"messages":{}}}]`, export},
		{"chat-export-1770000000000.json", `[{"id":"c1","user_id":"u1","tags":[],"stats":{},"chat":{"history":{"messages":{}}}}]`, format.Claim{}},
		{"chat-export-2026-01-01.json", `{"messages":[],"timestamp":"x","agents":[]}`, format.Claim{}},
		{"conversations.json", `[{"id":"c1","title":"Baskets","mapping":{}}]`, format.Claim{}},
		{"shop/.webui_secret_key", "a", skip},
		{"Library/Application Support/open-webui/data/.key", "a", skip},
		{"shop/.key", "a", format.Claim{}},
	})
}

// TestSplit cuts answers of earlier versions, each into its kinds and texts.
func TestSplit(t *testing.T) {
	for content, want := range map[string][]string{
		`only text`: nil,
		`text\n<details type=\"other\">\n</details>`:                                                                       nil,
		`text <details type=\"reasoning\">\n</details>`:                                                                    nil,
		`<details type=\"reasoning\" done=\"false\">\n> cut`:                                                               nil,
		`\\n<details type=\"reasoning\">\n</details>`:                                                                      nil, // a backslash and an n
		`<details type=\"reasoning\"><summary>x</summary>why</details> so`:                                                 {"reasoning why", "message  so"},
		`a\n\n<details type=\"reasoning\" duration=\"3\">\n<summary>Thought</summary>\n> b\n> \n> c\n</details>\n\nd\ne\n`: {"message a", "reasoning b\n\nc", "message d\ne"},
		`<details type=\"reasoning\">\n<summary>Thought</summary>\n&gt; 1 &lt; 2\n</details>`:                              {"reasoning 1 < 2"},
		`<details type=\"tool_calls\" done=\"false\" id=\"c\" name=\"find\" arguments=\"&quot;{\\&quot;n\\&quot;: 3}&quot;\">\n<summary>Executing...</summary>\n</details>`: {"tool_call find\n3"},
		`<details type=\"tool_calls\" done=\"true\" id=\"c\" name=\"find\" arguments=\"{}\" result=\"&quot;two\\nlines&quot;\" files=\"\">\n<summary>Tool Executed</summary>\n</details>\nok`: {
			"tool_call find", "tool_result two\nlines", "message ok"},
		`<details type=\"tool_calls\" done=\"true\" id=\"c\" name=\"find\" arguments=\"{}\">\n<summary>Tool Executed</summary>\n{&quot;lids&quot;: 17}\n</details>`: {"tool_call find", "tool_result 17"},
		`<details type=\"code_interpreter\" done=\"true\" output=\"{&quot;stdout&quot;: &quot;4&quot;}\">\n<summary>Analyzed</summary>\n` + "```python\\nprint(2+2)\\n```" + `\n</details>`: {
			"tool_call print(2+2)", "tool_result 4"},
	} {
		var got []string
		for _, p := range split([]byte(content)) {
			got = append(got, string(p.kind)+" "+string(appendFragment(nil, []byte(content)[p.from:p.to])))
		}
		if len(got) != len(want) {
			t.Errorf("%s: %q, want %q", content, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %q, want %q", content, got[i], want[i])
			}
		}
	}
}

// TestUsageOfLlama reads what llama.cpp states: what it had cached (cache_n) is beside what it read anew (prompt_n). Since 2026, Open WebUI
// adds the first of its own names that it finds, and keeps the last numbers of the server's beside sums of its own.
func TestUsageOfLlama(t *testing.T) {
	for usage, want := range map[string][3]int64{
		`"prompt_n":120,"cache_n":290,"predicted_n":40`:                                                          {120, 290, 40},
		`"prompt_n":120,"cache_n":290,"predicted_n":40,"input_tokens":120,"output_tokens":40`:                    {120, 290, 40},
		`"prompt_tokens":410,"completion_tokens":40,"prompt_n":120,"cache_n":290,"predicted_n":40`:               {120, 290, 40},
		`"prompt_tokens":410,"prompt_n":120,"cache_n":290,"input_tokens":410,"output_tokens":40`:                 {120, 290, 40},
		`"input_tokens":410,"prompt_tokens_details":{"cached_tokens":290},"prompt_n":120,"cache_n":290`:          {120, 290, 0},
		`"prompt_tokens":500,"prompt_n":90,"cache_n":410,"input_tokens":910,"output_tokens":80,"predicted_n":40`: {910, 0, 80},
		`"prompt_n":120,"cache_n":0,"predicted_n":40,"input_tokens":120,"output_tokens":40`:                      {120, 0, 40},
		`"prompt_n":0,"cache_n":290,"predicted_n":40,"prompt_tokens":290,"input_tokens":290,"output_tokens":40`:  {0, 290, 40},
		`"prompt_n":120,"cache_n":"many","predicted_n":40,"input_tokens":120,"output_tokens":40`:                 {120, 0, 40},
		`"prompt_n":120,"cache_n":9223372036854775807,"predicted_n":40,"input_tokens":77,"output_tokens":40`:     {77, 0, 40},
		`"prompt_n":120,"cache_n":290,"cache_read_input_tokens":7,"input_tokens":120,"output_tokens":40`:         {120, 7, 40},
	} {
		in := `{"id":"c1","chat":{"history":{"messages":{"m1":{"id":"m1","role":"assistant","content":"ok","usage":{` + usage + `}}}}}}`
		for r, err := range New().Parse(format.Input{Role: roleRows, Path: "webui.db/c1.ndjson", Reader: strings.NewReader(in)}) {
			if err != nil {
				t.Fatal(err)
			}
			if u, ok := r.(*transcript.Usage); ok {
				if got := [3]int64{u.Input.N, u.CacheRead.N, u.Output.N}; got != want {
					t.Errorf("%s: %d, want %d", usage, got, want)
				}
			}
		}
	}
}
