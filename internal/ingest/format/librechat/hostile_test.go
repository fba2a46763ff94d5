package librechat

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

const exportHead = `{"conversationId":"c","endpoint":"openAI","title":"t","exportAt":"x","branches":true,"recursive":true,`

// eventsOf returns copies of the events in an export.
func eventsOf(t *testing.T, content string) (events []transcript.Event) {
	for r, err := range New().Parse(format.Input{Path: "x.json", Role: roleExport, Reader: strings.NewReader(content)}) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.(*transcript.Event); ok {
			own := *e
			own.Parts = append([]transcript.Part(nil), e.Parts...)
			own.Parts[0].Text = strings.Clone(e.Parts[0].Text)
			events = append(events, own)
		}
	}
	return events
}

// TestLongNames reads a message of many parts whose id, model, sender and rating are long. No event has a copy of them: with 5,000 parts these were
// 5 GB, and 11 seconds each.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x y ", 1<<10)
	for _, name := range []string{`"messageId"`, `"messageId":"m","sender"`, `"messageId":"m","model"`, `"messageId":"m","parentMessageId"`} {
		events := eventsOf(t, exportHead+`"messages":[{`+name+`:"`+long+`","feedback":{"rating":"`+long+`"},"content":[`+
			strings.Repeat(`{"type":"tool_call","tool_call":{"name":"`+long+`","args":"{}","output":"o"}},`, 9)+`{"type":"text","text":"hello"}]}]}`)
		if len(events) != 19 {
			t.Fatalf("%s: %d events", name, len(events))
		}
		for _, e := range events {
			for key, value := range map[string]any{"id": e.ID, "model": e.Model, "agent": e.Agent, "parent": e.Attributes["parent"], "rating": e.Attributes["rating"]} {
				if s, _ := value.(string); len(s) > 300 {
					t.Errorf("%s: the %s of an event has %d bytes", name, key, len(s))
				}
			}
			if c := e.Parts[0].Call; c != nil && len(c.ID)+len(c.Name) > 600 {
				t.Errorf("%s: a call has an id of %d bytes and a name of %d", name, len(c.ID), len(c.Name))
			}
		}
	}
}

// TestOrderOfMembers reads messages whose members are in another order, a tree that is null beside a list, and a call without an input, whose
// output is a result alone.
func TestOrderOfMembers(t *testing.T) {
	for content, want := range map[string]string{
		`"messagesTree":[{"children":[{"text":"two","messageId":"b"}],"messageId":"a","text":"one","isCreatedByUser":true}]}`: "a/text=one b/text=two",
		`"messagesTree":null,"messages":[{"messageId":"a","text":"one"}]}`:                                                    "a/text=one",
		`"messages":[{"messageId":"a","content":[{"type":"tool_call","tool_call":{"name":"date","output":"Tuesday"}}]}]}`:     "a/0=date a/0/result=Tuesday",
	} {
		var got []string
		for _, e := range eventsOf(t, exportHead+content) {
			got = append(got, e.ID+"="+e.Parts[0].Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
}
