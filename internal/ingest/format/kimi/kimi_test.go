package kimi

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

const session = "sessions/wd_shop_0123456789ab/session_5a000000-0000-4000-8000-000000000001/"

func FuzzWire(f *testing.F) {
	formattest.Fuzz(f, New(), roleWire, session+"agents/main/wire.jsonl")
}

func FuzzNameless(f *testing.F) { formattest.Fuzz(f, New(), roleWire, "export/basket.jsonl") }

func FuzzContext(f *testing.F) {
	formattest.Fuzz(f, New(), roleChat, "sessions/0123456789abcdef0123456789abcdef/s/context.jsonl")
}

func FuzzState(f *testing.F) { formattest.Fuzz(f, New(), roleState, session+"state.json") }

func FuzzMeta(f *testing.F) {
	formattest.Fuzz(f, New(), roleMeta, "sessions/0123456789abcdef0123456789abcdef/s/subagents/a1/meta.json")
}

func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "alone.jsonl") }

// TestLocate finds sessions by their directories, and skips paths that only look like one.
func TestLocate(t *testing.T) {
	const id, md5 = "5a000000-0000-4000-8000-000000000001", "0123456789abcdef0123456789abcdef"
	for _, c := range []struct {
		path string
		want location
	}{
		{".kimi-code/sessions/wd_a_0123456789ab/session_" + id + "/agents/main/wire.jsonl", location{"session_" + id, "", "wd_a_0123456789ab", ".kimi-code/sessions"}},
		{"wd_a_0123456789ab/session_" + id + "/agents/agent-0/wire.jsonl", location{"session_" + id, "agent-0", "wd_a_0123456789ab", "."}},
		{"session_" + id + "/agents/main/wire.jsonl", location{"session_" + id, "", "", "session_" + id}},
		{"wd_a_0123456789ab/session_" + id + "/session-meta/state.json", location{"session_" + id, "", "wd_a_0123456789ab", "."}},
		{"agents/main/wire.jsonl", location{"", "", "", "."}},
		{md5 + "/" + id + "/wire.jsonl", location{id, "", md5, "."}},
		{"sessions/" + md5 + "/mine/subagents/a1/wire.jsonl", location{md5 + "/mine", "a1", md5, "sessions"}},
		{"sessions/" + md5 + "/" + id + ".jsonl", location{id, "", md5, "sessions"}},
		{"sessions/" + id + ".jsonl", location{"", "", "", "sessions"}},
		{"imported_sessions/" + id + "/wire.jsonl", location{id, "", "", "imported_sessions"}},
		{"backup/" + md5 + "/" + id + "/state.json", location{id, "", md5, "backup/" + md5}},
		{"export/wire.jsonl", location{"", "", "", "export"}},
	} {
		if got := locate(c.path, "."); got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.path, got, c.want)
		}
	}
	for path, content := range map[string]string{
		"runs/a/state.json":      `{"title":"x","agents":{}}`,
		"export/wire.jsonl":      `{"type":"message","text":"x"}`,
		"a/agents/b/wire.jsonl":  `{"role":"user"}`,
		"sessions/x/y/meta.json": `{"agent_id":"a","launch_spec":{}}`,
	} {
		if got := formattest.Detect(New(), path, []byte(content)); got.Strength != format.None {
			t.Errorf("%s: %+v", path, got)
		}
	}
}
