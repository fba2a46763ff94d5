package leslie

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

// TestRowsWithoutWhiteSpace: an object that has no line feed yet gets the same row when white space follows it.
func TestRowsWithoutWhiteSpace(t *testing.T) {
	for role, name := range map[string]string{roleRuntime: "runtime/obj-1-2/events.ndjson", roleSDK: "logs/sdk/thread-a.ndjson"} {
		parse := func(content string) []transcript.Record {
			return formattest.Check(t, New(), formattest.Input{Path: ".leslie/" + name, Root: ".leslie", Role: role, Bytes: []byte(content)})
		}
		const object = `{"type":"assistant_text","threadId":"thread-a","text":"woven"}`
		want := parse(object)
		for _, more := range []string{" ", "\r", " \t\n", "\r\n"} {
			if got := parse(object + more); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: other records of the object and %q", role, more)
			}
		}
	}
}

// TestText: the name of a tool is a word of its results, too; nothing else of a marker is.
func TestText(t *testing.T) {
	for entry, want := range map[string]string{
		"user:\n<user_query>\nGo\n</user_query>\n":       "Go",
		"assistant:\nYes.\n":                             "Yes.",
		"[Error]\nOut of disk\n":                         "Out of disk",
		"[Tool call] run_tests\n{\"all\":true}\n":        "run_tests\n{\"all\":true}",
		"[Tool result] run_tests\r\n12 passed\r\n":       "run_tests\n12 passed",
		"[Tool result] run_tests\n":                      "run_tests",
		"[Tool result] is how a result begins\n\nSee.\n": "is how a result begins\n\nSee.",
	} {
		if got, err := New().Text(roleTranscript, []byte(entry), 0); err != nil || got != want {
			t.Errorf("%q: %q %v, want %q", entry, got, err, want)
		}
	}
}

func FuzzTranscript(f *testing.F) {
	formattest.Fuzz(f, New(), roleTranscript, ".leslie/threads/thread-aaaa0001/.meta/transcripts/x.txt")
}

func FuzzRelations(f *testing.F) {
	formattest.Fuzz(f, New(), roleRelations, ".leslie/thread_relations.json")
}

func FuzzWorker(f *testing.F) {
	formattest.Fuzz(f, New(), roleWorker, ".leslie/logs/workers/thread-aaaa0001.ndjson")
}

// TestPaths compares paths with the regular expression that it replaces.
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
			if p := jsontext.Unquote(m[1]); p != "" && !slices.Contains(want, p) {
				want = append(want, p)
			}
		}
		if got := paths(input); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", input, got, want)
		}
	}
}

func TestDetect(t *testing.T) {
	const header = "Thread ID: thread-1\r\nChat ID: 1\r\n---\r\n"
	far := "Thread ID: thread-1\n" + strings.Repeat("x", 1024) + "\n---\n"
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"a.txt", header, format.Claim{Strength: format.Likely, Role: roleTranscript}},
		{"a.txt", far, format.Claim{}},
		{"a/.leslie/threads/t/.meta/transcripts/a.txt", "", format.Claim{Strength: format.Certain, Role: roleTranscript, Root: "a/.leslie"}},
		{"a/.leslie/threads/t/.meta/transcripts/a.md", "x", format.Claim{Strength: format.Weak, Role: roleDocument, Root: "a/.leslie"}},
		{".leslie/threads/t/plan/", "", format.Claim{Strength: format.Weak, Role: format.Other, Root: ".leslie"}},
		{".leslie/threads/t/plan.md", "", format.Claim{Strength: format.Weak, Role: format.Other, Root: ".leslie"}},
		{".leslie/threads/t/blob", "\x00", format.Claim{Strength: format.Weak, Role: format.Other, Root: ".leslie"}},
		{".leslie", "x", format.Claim{}},
		{"objectives.json", `{"goals":[]}`, format.Claim{}},
		{"objectives.json", `{"objectives":{"o":{"thread_ids":[]}}}`, format.Claim{Strength: format.Likely, Role: roleObjectives, Root: "."}},
		{"threads/thread-0000000g/plan.md", "x", format.Claim{}},
	})
}
