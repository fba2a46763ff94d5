package leslie

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, Format{}) }

func TestGrowth(t *testing.T) { formattest.Growth(t, Format{}) }

func FuzzTranscript(f *testing.F) {
	formattest.Fuzz(f, Format{}, roleTranscript, ".leslie/threads/thread-aaaa0001/.meta/transcripts/x.txt")
}

func FuzzRelations(f *testing.F) {
	formattest.Fuzz(f, Format{}, roleRelations, ".leslie/thread_relations.json")
}

func FuzzWorker(f *testing.F) {
	formattest.Fuzz(f, Format{}, roleWorker, ".leslie/logs/workers/thread-aaaa0001.ndjson")
}

// TestPaths compares what is read from the inputs of calls with the pattern that it stands for.
func TestPaths(t *testing.T) {
	pattern := regexp.MustCompile(`"(?:path|file_path|filePath|filename|file|old_path|new_path)"\s*:\s*("(?:[^"\\]|\\.)*")`)
	pieces := []string{`"path"`, `"file_path"`, `"file"`, `"files"`, `:`, ` : `, "\t:\n", "\v", `"`, `""`, `\"`, `\`, "\\\n", `\\`, `a/b.go`, `"a"`, `"b\"c"`, `{`, `,`, "界", "\xff", "\n"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		input := ""
		for range 1 + r.IntN(12) {
			input += pieces[r.IntN(len(pieces))]
		}
		var want []string
		for _, m := range pattern.FindAllStringSubmatch(input, -1) {
			if p := format.Unquote(m[1]); p != "" && !slices.Contains(want, p) {
				want = append(want, p)
			}
		}
		if got := paths(input); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", input, got, want)
		}
	}
}
