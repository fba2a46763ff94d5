package sqlite

import (
	"reflect"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/transcript"
)

// filled gives each field of a record a value of its own.
func filled[T any]() *T {
	record := new(T)
	v := reflect.ValueOf(record).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Type() == reflect.TypeFor[transcript.Time]():
			f.Set(reflect.ValueOf(transcript.Time{UnixMicro: int64(-i), Offset: int16(i), Valid: true}))
		case f.Type() == reflect.TypeFor[transcript.Attributes]():
			f.Set(reflect.ValueOf(transcript.Attributes{"key": "value"}))
		case f.Kind() == reflect.String:
			f.SetString(strings.Repeat("x", i+1))
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		case f.Kind() == reflect.Int:
			f.SetInt(int64(i))
		}
	}
	return record
}

func TestSaidRun(t *testing.T) {
	for _, r := range []*transcript.Run{filled[transcript.Run](), {}} {
		r.Guess = false // nothing that is said of the run: Collector.Take
		stated, err := runSaid(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := readRun([]byte(stated), r.ID, r.Rank)
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Errorf("%s\ngives %+v, %v\nfor   %+v", stated, again, err, r)
		}
	}
}

func TestSaidConversation(t *testing.T) {
	for _, c := range []*transcript.Conversation{filled[transcript.Conversation](), {}} {
		for _, aside := range []bool{false, true} {
			stated, err := conversationSaid(c, aside)
			if err != nil {
				t.Fatal(err)
			}
			again := &transcript.Conversation{Run: c.Run, Shared: c.Shared, Order: c.Order, Rank: c.Rank}
			if !aside {
				again.ID = c.ID
			}
			if err := readConversation([]byte(stated), again); err != nil || !reflect.DeepEqual(again, c) {
				t.Errorf("%s\ngives %+v, %v\nfor   %+v", stated, again, err, c)
			}
		}
	}
}
