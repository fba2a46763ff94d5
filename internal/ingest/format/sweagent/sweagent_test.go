package sweagent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzFull(f *testing.F) {
	formattest.Fuzz(f, New(), roleFull, "trajectories/ada/run/shop__shop-1/shop__shop-1.traj")
}
func FuzzMini(f *testing.F) {
	formattest.Fuzz(f, New(), roleMini, "out/shop__shop-1/shop__shop-1.traj.json")
}

func TestDetect(t *testing.T) {
	const (
		first = `{"environment":"swe_main","trajectory":[{"action":"ls\n","observation":"","response":"Look.","state":"{}","thought":"Look."}],"history":[]`
		later = `{"trajectory":[{"action":"ls","observation":"a.py","response":"Look.","thought":"Look.","execution_time":0.25,"state":{},"query":[]}],"history":[]`
		retry = `{"attempts":[` + later + `}]}`
		mini1 = `{"info":{"exit_status":"Submitted","submission":"diff --git a/a.py b/a.py`
		mini2 = `{"info":{"model_stats":{"instance_cost":0.5,"api_calls":2},"config":{"agent":{"system_template":"You `
		demo  = `{"history":[{"role":"system","content":"You are","agent":"main","message_type":"system_prompt"}]}`
		preds = `{"shop__shop-1":{"model_name_or_path":"m","instance_id":"shop__shop-1","model_patch":"diff"}}`
		ats   = `{"trajectory":[{"x":1.5,"y":2}],"frames":[]}`
		game  = `{"trajectory":[{"action":"left","observation":"a wall","reward":0}]}`
	)
	full := func(root string) format.Claim {
		return format.Claim{Strength: format.Certain, Role: roleFull, Root: root}
	}
	mini := func(root string) format.Claim {
		return format.Claim{Strength: format.Certain, Role: roleMini, Root: root}
	}
	other := format.Claim{Strength: format.Likely, Role: format.Other}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"w/trajectories/ada/run/shop-1.traj", first, full("w/trajectories/ada/run")},
		{"w/trajectories/ada/run/shop-1/shop-1.traj", later, full("w/trajectories/ada/run")},
		{"w/trajectories/ada/run/shop-1/attempt_0/shop-1.traj", later, full("w/trajectories/ada/run")},
		{"w/trajectories/ada/run/shop-1/shop-1.traj", retry, full("w/trajectories/ada/run")},
		{"w/trajectories/ada/run/shop-1/shop-1.traj", `{"attempts":[]}`, full("w/trajectories/ada/run")},
		{"out/shop-1/shop-1.traj", later, full("out/shop-1")},
		{"out/shop-1/attempt_2/shop-1.traj", later, full("out/shop-1")},
		{"out/shop-1.traj", "\xef\xbb\xbf" + later, full("")},
		{"shop-1.traj", later, full("")},
		{"demos/simple.traj", demo, full("")},
		{"x.json", later, format.Claim{Strength: format.Likely, Role: roleFull}},
		{"x.json", demo, format.Claim{Strength: format.Likely, Role: roleFull}},
		{"md.traj", "- of Ulm\x00ASE", format.Claim{}},
		{"ball.traj", ats, format.Claim{}},
		{"ball.json", ats, format.Claim{}},
		{"ball/ball.traj", `{"trajectory":[],"frames":[]}`, format.Claim{}},
		{"ball/ball.traj.json", `{"info":{"title":"a ball"},"points":[]}`, format.Claim{}},
		{"game.json", game, format.Claim{}},
		{"out/shop-1/shop-1.traj.json", mini1, mini("out/shop-1")},
		{"out/shop-1/shop-1.traj.json", mini2, mini("out/shop-1")},
		{"home/.config/mini-swe-agent/last_mini_run.traj.json", mini2, mini("")},
		{"home/.config/mini-swe-agent/last_mini_run.traj.json", "", mini("")},
		{"local.traj.json", `[{"role":"system","content":"You`, mini("")},
		{"x.json", mini2, format.Claim{Strength: format.Likely, Role: roleMini}},
		{"x.json", `{"messages":[],"trajectory_format":"mini-swe-agent-1.1"}`, format.Claim{Strength: format.Likely, Role: roleMini}},
		{"x.json", mini1, format.Claim{}},
		{"x.txt", mini2, format.Claim{}},
		{"out/preds.json", preds, other},
		{"out/preds.json", `{}`, format.Claim{}},
		{"out/exit_statuses_1790000000.5.yaml", "instances_by_exit_status:\n", other},
		{"out/exit_statuses_1790000000.5.yaml", "x: y", format.Claim{}},
	})
}

func TestCommandIn(t *testing.T) {
	for text, want := range map[string]string{
		"Look.\n```bash\nls -la\n```":                                "ls -la",
		"```bash \t\n\nls\n\n```":                                    "ls",
		"```mswea_bash_command\ncat <<'EOF' > a\nx\nEOF\n```\nThen.": "cat <<'EOF' > a\nx\nEOF",
		"```bash\nprintf 'a\\n```' \\\n\"é\"\n```":                   "printf 'a\\n```' \\\n\"é\"",
		"```bash\nls\n```\n```bash\npwd\n```":                        "",
		"```python\nx\n```":                                          "",
		"```bash\nls":                                                "",
		"":                                                           "",
	} {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		body := quoted[1 : len(quoted)-1]
		from, length := commandIn(body)
		if got := commandText(body[from : from+length]); got != want || (length == 0) != (want == "") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestOutcome(t *testing.T) {
	for status, want := range map[string]transcript.Outcome{
		"": transcript.Running, "submitted": transcript.Succeeded, "Submitted": transcript.Succeeded, "submitted (exit_cost)": transcript.Failed,
		"exit_format": transcript.Failed, "LimitsExceeded": transcript.Failed, "skipped": transcript.Cancelled, "early_exit": transcript.Other,
	} {
		if got := outcomeOf(status); got != want {
			t.Errorf("%q: %q, want %q", status, got, want)
		}
	}
}

// TestHostile has documents of a few MB that are only read to their end if nothing is compared with everything else.
func TestHostile(t *testing.T) {
	const n = 200_000
	many := func(s string) string { return strings.Repeat(s, n) }
	long := strings.Repeat("x", 2_000_000)
	answers := `{"history":[` + many(`{"role":"assistant","content":"a"},`) + `0],"trajectory":[`
	for name, c := range map[string]struct{ role, doc string }{
		"responses": {roleFull, answers + strings.Repeat(`{"response":"`+long+`"},`, 16) + `0]}`},
		"members":   {roleFull, answers + strings.Repeat(`{`+strings.Repeat(`"x":0,`, 100_000)+`"response":"b"},`, 16) + `0]}`},
		"outputs":   {roleMini, `{"messages":[{"role":"tool","tool_call_id":"x","content":"` + long + `","extra":{` + many(`"raw_output":"xy",`) + `"x":1}}]}`},
		"thoughts":  {roleFull, `{"trajectory":[{"response":"a"}],"info":{"response":"` + long + `",` + many(`"thought":"xy",`) + `"x":1}}`},
		"template":  {roleMini, `{"info":{"config":{"agent":{"instance_template":"` + long + `"}}},"messages":[` + many(`{"role":"user","content":" "},`) + `0]}`},
	} {
		records := 0
		for _, err := range New().Parse(format.Input{Role: c.role, Path: "x.traj", Reader: strings.NewReader(c.doc)}) {
			if err != nil {
				t.Fatal(err)
			}
			records++
		}
		if records < 3 {
			t.Errorf("%s: %d records", name, records)
		}
	}
}
