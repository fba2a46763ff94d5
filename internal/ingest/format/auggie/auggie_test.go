package auggie

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzSession(f *testing.F) {
	formattest.Fuzz(f, New(), roleSession, ".augment/sessions/a0000000-0000-4000-8000-000000000001.json")
}

func TestDetect(t *testing.T) {
	const root = ".augment/sessions"
	const session = "{\n  \"sessionId\": \"a1\",\n  \"created\": \"2026-07-01T08:00:00.000Z\",\n  \"modified\": \"2026-07-01T08:00:09.000Z\",\n  \"chatHistory\": [\n    {\n      \"exchange\": {"
	certain := format.Claim{Strength: format.Certain, Role: roleSession, Root: root}
	likely := format.Claim{Strength: format.Likely, Role: roleSession}
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".augment/sessions/a1.json", "", certain},
		{".augment/sessions/a1-backup2.json", session, certain},
		{".augment/sessions/a1.json.1787000000000.tmp", "{", skip},
		{".augment/sessions/notes.txt", "", format.Claim{}},
		{".augment/session.json", "{}", skip},
		{"shop/session.json", "{}", format.Claim{}},
		{"copies/a1.json", session, likely},
		{"copies/a1.json", `{"sessionId":"a1","created":"x","modified":"y","chatHistory":[]`, likely},
		{"copies/a1.json", `{"sessionId":"a1","created":"x","modified":"y","chatHistory":[{"role":"user"}]`, format.Claim{}},
		{"copies/a1.txt", session, format.Claim{}},
	})
}

func TestSessionOf(t *testing.T) {
	for file, want := range map[string]string{"x/a1.json": "a1", "x/a1-backup12.json": "a1 backup", "x/a1-backup.json": "a1-backup"} {
		id, isBackup := sessionOf(file)
		if isBackup {
			id += " backup"
		}
		if id != want {
			t.Errorf("sessionOf(%s) = %s, want %s", file, id, want)
		}
	}
}

// TestTimeOfResult: a result comes when its call ends, if that is a time at all.
func TestTimeOfResult(t *testing.T) {
	for stated, want := range map[string]int64{
		`"start_time_ms":1787000000000,"duration_ms":1500`:   1787000001500000,
		`"start_time_ms":253402300799000,"duration_ms":1500`: 1787000009000000, // after the year 9999
		`"start_time_ms":900000000000000,"duration_ms":1`:    1787000009000000,
		`"duration_ms":1500`: 1787000009000000,
	} {
		in := `{"sessionId":"a1","chatHistory":[{"exchange":{"request_id":"r","request_nodes":[{"type":1,"tool_result_node":{"tool_use_id":"c","content":"x",` + stated + `}}]},` +
			`"finishedAt":"2026-08-17T20:53:29Z"}]}`
		for record, err := range New().Parse(format.Input{Path: ".augment/sessions/a1.json", Role: roleSession, Reader: strings.NewReader(in)}) {
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := record.(*transcript.Event); ok && e.Kind == transcript.KindToolResult {
				if got := e.Time.UnixMicro; got != want {
					t.Errorf("with %s the result is at %d, want %d", stated, got, want)
				}
			}
		}
	}
}

// TestTransactions: an exchange with several transactions costs the sum of them; each counts once, as it is stated last.
func TestTransactions(t *testing.T) {
	const node = `{"type":9,"billing_metadata":{"transaction_id":"%id","usage_unit":%unit,"cost_usd":"%n","credits_consumed":%n}}`
	nodes := func(unit string, stated ...string) string {
		var all []string
		for _, s := range stated {
			id, n, _ := strings.Cut(s, " ")
			all = append(all, strings.NewReplacer("%id", id, "%unit", unit, "%n", n).Replace(node))
		}
		return `{"exchange":{"request_id":"r` + stated[0] + `","response_nodes":[` + strings.Join(all, ",") + `]}}`
	}
	for unit, want := range map[string]string{"2": "0.5 4", "1": "0.5 4"} {
		in := `{"sessionId":"a1","chatHistory":[` + nodes(unit, "a 9", "b 0.25", "b 0.5") + "," + nodes(unit, "a 1", "c 3") + `]}`
		var got []string
		for record, err := range New().Parse(format.Input{Path: ".augment/sessions/a1.json", Role: roleSession, Reader: strings.NewReader(in)}) {
			if err != nil {
				t.Fatal(err)
			}
			if u, ok := record.(*transcript.Usage); ok {
				n, ok := u.Attributes["credits"].(float64)
				if !ok {
					n = float64(u.Cost.N) / 1e9
				}
				got = append(got, fmt.Sprint(n))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("in unit %s: %q, want %q", unit, got, want)
		}
	}
}
