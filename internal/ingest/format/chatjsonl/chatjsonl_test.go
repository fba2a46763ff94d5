package chatjsonl

import (
	"fmt"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

// TestGrowth excepts files whose first lines do not yet identify them.
func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "history.jsonl", "odd.jsonl") }

func FuzzLog(f *testing.F) { formattest.Fuzz(f, New(), roleLog, "logs/fuzz.jsonl") }

// TestNumbersTellChatsApart: a request continues a chat only if its calls have the same numbers, too.
func TestNumbersTellChatsApart(t *testing.T) {
	for _, call := range []string{
		`"content":[{"type":"tool_use","id":"c","name":"view","input":{"issue":%d}}]`,
		`"content":"","tool_calls":[{"function":{"name":"view","arguments":{"issue":%d}}}]`,
		`"content":"","function_call":{"name":"view","arguments":{"issue":%d}}`,
	} {
		for second, want := range map[int]int{1: 1, 2: 2} {
			begun := `{"messages":[{"role":"user","content":"Mend it"},{"role":"assistant",` + call + `}`
			log := fmt.Sprintf(begun+"]}\n"+begun+`,{"role":"user","content":"Go on"}]}`+"\n", 1, second)
			chats := map[string]bool{}
			for _, record := range formattest.Check(t, New(), formattest.Input{Path: "logs/calls.jsonl", Role: roleLog, Bytes: []byte(log)}) {
				if c, ok := record.(*transcript.Conversation); ok {
					chats[c.Run+"/"+c.ID] = true
				}
			}
			if len(chats) != want {
				t.Errorf("%s, then %d: %d chats, want %d", call, second, len(chats), want)
			}
		}
	}
}

// TestNumbers: numbers of tools are text, those of messages are not.
func TestNumbers(t *testing.T) {
	for in, want := range map[string]string{
		`{"role":"tool","content":{"degrees":21,"type":"int"}}`:                               "21",
		`{"type":"function_call_output","call_id":"c","output":{"degrees":21}}`:               "21",
		`{"type":"tool_use","id":"c","name":"view","input":{"issue":48151,"id":"a"}}`:         "48151\na",
		`{"id":"c","function":{"name":"view","arguments":"{\"issue\":48151}"}}`:               "48151",
		`{"role":"assistant","content":[{"type":"text","text":"21","index":7}],"created":17}`: "21",
	} {
		if text, err := New().Text(roleLog, []byte(in), 0); err != nil || text != want {
			t.Errorf("%s: %q, %v, want %q", in, text, err, want)
		}
	}
}
