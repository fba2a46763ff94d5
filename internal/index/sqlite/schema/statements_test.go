package schema

import (
	"encoding/json"
	"errors"
	"fmt"
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

// toldTime is a time as it is written.
type toldTime transcript.Time

func (t toldTime) MarshalJSON() ([]byte, error) {
	if !t.Valid {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, "[%d,%d]", t.UnixMicro, t.Offset), nil
}

// TestSaidAsJSON compares with what encoding/json writes, so that no field is forgotten and what is stated keeps its order.
func TestSaidAsJSON(t *testing.T) {
	hard := transcript.Attributes{"<a>": "\xff\u2028\"\\", "é": "日本", "n": int64(-1 << 60), "f": 1e21, "yes": true, "none": nil, "list": []string{"x"}}
	for _, change := range []func(*transcript.Run, *transcript.Conversation){
		func(*transcript.Run, *transcript.Conversation) {},
		func(r *transcript.Run, v *transcript.Conversation) { r.Attributes, v.Attributes = hard, hard },
		func(r *transcript.Run, v *transcript.Conversation) {
			r.Title, v.Title, r.Attributes, v.Attributes = "<&>\n\x7f", "\xff", transcript.Attributes{}, nil
		},
		func(r *transcript.Run, v *transcript.Conversation) {
			r.Started.Valid, v.Ended = false, transcript.Time{}
		},
	} {
		r, v := filled[transcript.Run](), filled[transcript.Conversation]()
		change(r, v)
		run, conversation := *r, *v
		run.ID, run.Rank = "", 0
		conversation.ID, conversation.Run, conversation.Shared, conversation.Order, conversation.Rank = "", "", false, "", 0
		wantRun, err1 := json.Marshal(struct {
			*transcript.Run
			Started toldTime `json:",omitzero"`
			Ended   toldTime `json:",omitzero"`
		}{&run, toldTime(r.Started), toldTime(r.Ended)})
		wantConversation, err2 := json.Marshal(struct {
			*transcript.Conversation
			Started toldTime `json:",omitzero"`
			Ended   toldTime `json:",omitzero"`
		}{&conversation, toldTime(v.Started), toldTime(v.Ended)})
		gotRun, err3 := MarshalRun(r)
		gotConversation, err4 := MarshalConversation(v, false)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		if gotRun != string(wantRun) {
			t.Errorf("a run is %s\nand not  %s", gotRun, wantRun)
		}
		if gotConversation != string(wantConversation) {
			t.Errorf("a conversation is %s\nand not         %s", gotConversation, wantConversation)
		}
	}
}

func TestSaidRun(t *testing.T) {
	for _, r := range []*transcript.Run{filled[transcript.Run](), {}} {
		r.Guess = false // nothing that is said of the run: Collector.Take
		stated, err := MarshalRun(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := UnmarshalRun([]byte(stated), r.ID, r.Rank)
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Errorf("%s\ngives %+v, %v\nfor   %+v", stated, again, err, r)
		}
	}
}

func TestSaidConversation(t *testing.T) {
	for _, c := range []*transcript.Conversation{filled[transcript.Conversation](), {}} {
		for _, aside := range []bool{false, true} {
			stated, err := MarshalConversation(c, aside)
			if err != nil {
				t.Fatal(err)
			}
			again := &transcript.Conversation{Run: c.Run, Shared: c.Shared, Order: c.Order, Rank: c.Rank}
			if !aside {
				again.ID = c.ID
			}
			if err := UnmarshalConversation([]byte(stated), again); err != nil || !reflect.DeepEqual(again, c) {
				t.Errorf("%s\ngives %+v, %v\nfor   %+v", stated, again, err, c)
			}
		}
	}
}
