package amp

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

// TestGrowth excepts a file whose first line names no thread.
func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "noise.log") }

func FuzzThread(f *testing.F) {
	formattest.Fuzz(f, New(), roleThread, "threads/T-a0000000-0000-4000-8000-000000000001.json")
}

func FuzzStream(f *testing.F) { formattest.Fuzz(f, New(), roleStream, "run.jsonl") }

// TestOutput checks that saved output is told from that of other programs.
func TestOutput(t *testing.T) {
	const thread = `"session_id":"T-019e47a8-5090-7538-9035-f2fde26859b7"`
	for head, want := range map[string]bool{
		`{"type":"system","subtype":"init",` + thread + `,"tools":["Bash","cre`:                                  true,
		"warning\n" + `{"type":"user","message":{"role":"user","content":[]},` + thread + "}\n":                  true,
		`{"type": "result", "subtype": "success", "is_error": false, ` + thread + "}\n":                          true,
		`{"type":"result","result":"x",` + thread + "}\n":                                                        false,
		`{"type":"system","subtype":"init","session_id":"019e47a8-5090-7538-9035-f2fde26859b7","tools":["T-1"]}`: false,
		`{"type":"system","subtype":"init","session_id":"T-1","tools":[]}`:                                       false,
		`{"level":"info","msg":"resumed",` + thread + "}\n":                                                      false,
		`{"name":"x","event":{"type":"system","subtype":"init",` + thread + "}}\n":                               false,
	} {
		for _, name := range []string{"run.jsonl", "ci/step 3.log", "out.json", "log"} {
			claim := formattest.Detect(New(), name, []byte(head))
			if got := claim.Strength == format.Likely && claim.Role == roleStream && claim.Log; got != want {
				t.Errorf("%s: %s: %+v", name, head, claim)
			}
		}
	}
}
