package resolve

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestHeardAsRead compares what a commit has by heart of a run and of a conversation with what it would read, and wants it to read
// where that is something else.
func TestHeardAsRead(t *testing.T) {
	at := transcript.Time{UnixMicro: 1_700_000_000_000_001, Offset: -90, Valid: true}
	for i, k := range []struct {
		title      string
		attributes transcript.Attributes
		heard      bool
	}{
		{"plain", nil, true},
		{"", transcript.Attributes{}, true},
		{"<&>\u2028\x00\x7f \ufffd", transcript.Attributes{"a": "b", "n": int64(7), "f": 0.1, "yes": true, "big": 1e300}, true},
		{"edge", transcript.Attributes{"n": int64(-1 << 53), "m": int64(1 << 53)}, true},
		{"large", transcript.Attributes{"n": int64(1<<53 + 1)}, false},
		{"no text \xff", nil, false},
		{"attribute", transcript.Attributes{"a": "\xff"}, false},
		{"key", transcript.Attributes{"\xff": "a"}, false},
		{"type", transcript.Attributes{"a": []string{"b"}}, false},
	} {
		run := &transcript.Run{ID: "r", Rank: 3, Title: k.title, Started: at, Child: true, Attributes: k.attributes}
		stated, err := schema.MarshalRun(run)
		if err != nil {
			t.Fatal(err)
		}
		read, err := schema.UnmarshalRun([]byte(stated), run.ID, run.Rank)
		if err != nil {
			t.Fatal(err)
		}
		heard := *run
		if ok := roundTrip(stated, &heard.Attributes); ok != k.heard || ok && !reflect.DeepEqual(&heard, read) {
			t.Errorf("%d: a run is known by heart: %v, as\n%+v\nand not\n%+v", i, ok, heard, read)
		}
		v := transcript.Conversation{ID: "c", Title: k.title, Ended: at, Silent: true, Attributes: k.attributes}
		if stated, err = schema.MarshalConversation(&v, false); err != nil {
			t.Fatal(err)
		}
		back := transcript.Conversation{ID: v.ID}
		if err := schema.UnmarshalConversation([]byte(stated), &back); err != nil {
			t.Fatal(err)
		}
		if ok := roundTrip(stated, &v.Attributes); ok != k.heard || ok && !reflect.DeepEqual(v, back) {
			t.Errorf("%d: a conversation is known by heart: %v, as\n%s\nand not\n%s", i, ok, fmt.Sprintf("%+v", v), fmt.Sprintf("%+v", back))
		}
	}
}
