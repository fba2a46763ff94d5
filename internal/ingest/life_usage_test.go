package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// growing has the successive states of a file, the last one with all figures.
type growing struct {
	format, path string
	states       []string
}

// cutAnywhere returns the states of a log that is being written, cut at random.
func cutAnywhere(t *testing.T, r *rand.Rand, format, tree, path string) growing {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("format", tree, path))
	if err != nil {
		t.Fatal(err)
	}
	g := growing{format: format, path: path}
	for at := 0; at < len(b); {
		at = min(len(b), at+1+r.IntN(len(b)/3))
		g.states = append(g.states, string(b[:at]))
	}
	return g
}

// growingThread returns the states of an Amp thread whose answer is being written.
func growingThread() growing {
	g := growing{format: "amp", path: ampFile(ampA)}
	for _, out := range []int{0, 3, 7, 10} {
		g.states = append(g.states, ampThread(ampA, "", ampTurn(0, "mend the basket"), strings.ReplaceAll(ampTurn(2, "with straw"), `"outputTokens":10`, fmt.Sprintf(`"outputTokens":%d`, out))))
	}
	return g
}

// growingMeta returns the states of the metadata of a Vibe session, which has only totals of usage.
func growingMeta() growing {
	g := growing{format: "vibe", path: vibeStore + vibeA + "/meta.json"}
	for n := range 4 {
		g.states = append(g.states, vibeMeta(vibeA, "", n, 100+50*n, 10*n))
	}
	return g
}

// growingState returns the states of a conversation of OpenHands, which list its requests.
func growingState() growing {
	g := growing{format: "openhands", path: handsStore + handsA + "/base_state.json"}
	for n := range 4 {
		g.states = append(g.states, handsState(handsUse("agent", true, []string{"r1", "r2", "r3", "r4"}[:n+1]...)))
	}
	return g
}

// growingSettings returns the states of the settings of a Droid session, which has only totals of usage.
func growingSettings() growing {
	g := growing{format: "droid", path: droidStore + droidA + ".settings.json"}
	for n := range 4 {
		g.states = append(g.states, droidSettings(100+50*n, 10*n))
	}
	return g
}

// growingRow returns the states of the row of a Zed thread, which has a sum of usage.
func growingRow() growing {
	g := growing{format: "zed", path: "zed/threads/threads.db/" + zedThread(1) + ".ndjson"}
	for n := range 4 {
		data := zedData(100+50*n, fmt.Sprintf("1=%d", 10+n), zedSays(1, "mend", strings.Repeat("mended ", n+1)))
		g.states = append(g.states, fmt.Sprintf(`{"table":"zed thread","id":%q,"summary":"Baskets","updated_at":"2026-07-01T09:%02d:00+00:00","data_type":"zstd","data":%s}`+"\n", zedThread(1), n, data))
	}
	return g
}

// growingSession returns the states of a Goose session, which has only totals of usage.
func growingSession(t *testing.T) growing {
	t.Helper()
	g := growing{format: "goose", path: gooseDir + "sessions.db"}
	b := newBase(newTree(t), "sessions.db", gooseFirst)
	b.gooseSession(gooseA, "2026-10-01 09:00:00")
	for i := range 4 {
		b.gooseSays(gooseA, "user", gooseText(fmt.Sprint("mend basket ", i)), i)
		b.do("UPDATE sessions SET accumulated_input_tokens = ?, accumulated_output_tokens = ?, accumulated_total_tokens = ?", 50+100*i, 9+7*i, 59+107*i)
		copied := filepath.Join(t.TempDir(), "copy.db")
		b.do("VACUUM INTO ?", copied)
		content, err := os.ReadFile(copied)
		if err != nil {
			t.Fatal(err)
		}
		g.states = append(g.states, string(content))
	}
	return g
}

// TestUsageGrows has files that grow, half of those listed or all (-cases 0), and copies of any of its states at other paths, ingested in any order: each request counts once, with its last figures.
func TestUsageGrows(t *testing.T) {
	t.Parallel()
	r := seedtest.Rand(t)
	const (
		chats = "Code/User/workspaceStorage/0123456789abcdef0123456789abcdef/chatSessions/"
		wires = "home/.kimi/sessions/0123456789abcdef0123456789abcdef/5a000000-0000-4000-8000-0000000000c1/"
	)
	rounds := 1
	if *cases != 1 {
		rounds = 3
	}
	for _, g := range []growing{
		growingThread(), growingSession(t), growingMeta(), growingSettings(), growingRow(), growingState(),
		cutAnywhere(t, r, "kimi", "kimi/testdata/cli/in", wires+"wire.jsonl"),
		cutAnywhere(t, r, "kimi", "kimi/testdata/code/in", "home/.kimi-code/sessions/wd_shop_0123456789ab/session_5a000000-0000-4000-8000-000000000001/agents/main/wire.jsonl"),
		cutAnywhere(t, r, "copilot-vscode", "copilotvscode/testdata/log/in", chats+"5e000000-0000-4000-8000-000000000002.jsonl"),
		cutAnywhere(t, r, "copilot-vscode", "copilotvscode/testdata/sums/in", ".vscode-server/data/User/workspaceStorage/0123456789abcdef0123456789abcdef/chatSessions/5e000000-0000-4000-8000-000000000010.jsonl"),
	} {
		if *cases == 1 && r.IntN(2) == 0 {
			continue
		}
		final := g.states[len(g.states)-1]
		s, once := newTree(t), newWorld(t)
		s.write("m/"+g.path, final)
		once.ingest("home", s.dir, ".")
		want := spentOf(once, g.format)
		for round := range rounds {
			s, w := newTree(t), newWorld(t)
			var told []string
			for i, state := range g.states {
				s.write("m/"+g.path, state)
				if copied := string("az"[r.IntN(2)]) + "/" + g.path; r.IntN(2) == 0 {
					s.write(copied, state)
					told = append(told, fmt.Sprint(i, " in ", copied[:1]))
				}
				if r.IntN(2) == 0 {
					w.ingest("home", s.dir, []string{"a", "m", "z"}[r.IntN(3)])
					w.ingest("home", s.dir, ".")
					told = append(told, fmt.Sprint("met at ", i))
				}
			}
			w.ingest("home", s.dir, ".")
			if got := spentOf(w, g.format); got != want {
				t.Errorf("%s, round %d (%s):\n got %s\nwant %s", g.path, round, strings.Join(told, ", "), got, want)
			}
			w.checkReindex(g.format)
		}
	}
}

// spentOf returns the counted requests of a format, and the sums of their usage.
func spentOf(w *world, format string) string {
	return strings.Join(w.query(`SELECT count(*), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_creation_tokens), sum(cost_microusd)
		FROM v_usage WHERE counted AND format = ?`, format), "")
}
