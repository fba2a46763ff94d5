package chibi

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// counts are the figures that expected.json states for a home or one of its contexts.
type counts struct {
	Events       int   `json:"events"`
	Messages     int   `json:"messages"`
	ToolCalls    int   `json:"tool_calls"`
	ToolResults  int   `json:"tool_results"`
	Anchors      int   `json:"anchors"`
	Other        int   `json:"other"`
	InboxPending int   `json:"inbox_pending"`
	APICalls     int   `json:"api_calls"`
	TokensIn     int64 `json:"tokens_in"`
	TokensOut    int64 `json:"tokens_out"`
	Window       int   `json:"window_entries"`
}

// context holds what all files of one context state.
type context struct {
	family  transcript.Family
	events  []map[string]*transcript.Event // per conversation in the family, by id
	pending int
	counted bool // some file makes it a run
	anchors []string
}

// homeRecords holds the contents of a directory, joined as the archive joins them: files of a run by root and id, events by id,
// links by their ends.
type homeRecords struct {
	contexts map[string]*context           // by root and id
	links    map[[2]string]map[string]bool // statements by sender and receiver
	problems int
}

func read(t *testing.T, dir string) *homeRecords {
	t.Helper()
	return join(t, formattest.Files(t, dir))
}

func join(t *testing.T, files map[string][]byte) *homeRecords {
	t.Helper()
	w := &homeRecords{contexts: map[string]*context{}, links: map[[2]string]map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		claim := formattest.Detect(New(), name, files[name])
		if claim.Strength == format.None {
			continue
		}
		in := format.Input{Path: name, Root: claim.Root, Role: claim.Role, Reader: bytes.NewReader(files[name])}
		var own *transcript.FamilyConversation
		for record, err := range New().Parse(in) {
			if err != nil {
				t.Fatal(err)
			}
			own = w.add(claim.Root, name, record, own)
		}
	}
	for _, c := range w.contexts {
		chibi{}.Resolve(&c.family)
	}
	return w
}

func (w *homeRecords) context(root, id string) *context {
	key := root + "/" + id
	if w.contexts[key] == nil {
		w.contexts[key] = &context{family: transcript.Family{Run: &transcript.Run{ID: id}}}
	}
	return w.contexts[key]
}

// add joins one record. own is the conversation as the present file states it.
func (w *homeRecords) add(root, name string, record transcript.Record, own *transcript.FamilyConversation) *transcript.FamilyConversation {
	switch r := record.(type) {
	case *transcript.Run:
		c := w.context(root, r.ID)
		c.counted = c.counted || !r.Named
		if r.Anchor != "" {
			c.anchors = append(c.anchors, r.Anchor)
		}
	case *transcript.Conversation:
		if own == nil {
			c := w.context(root, r.Run)
			own = &transcript.FamilyConversation{Conversation: *r, Path: name}
			c.family.Conversations = append(c.family.Conversations, own)
			c.events = append(c.events, map[string]*transcript.Event{})
		}
	case *transcript.Event:
		c := w.context(root, r.Run)
		switch {
		case r.Type == "inbox":
			c.pending++
		case r.Verdict == "":
			id := r.ID
			if id == "" {
				id = fmt.Sprint("at ", r.Origin.Offset)
			}
			c.events[len(c.events)-1][id] = r
		}
	case *transcript.Usage:
		c := w.context(root, r.Run)
		c.family.Usage = append(c.family.Usage, r)
	case *transcript.Hint:
		c := w.context(root, r.Run)
		c.family.Hints = append(c.family.Hints, r)
	case *transcript.Link:
		edge := [2]string{r.From.ID, r.To.ID}
		if w.links[edge] == nil {
			w.links[edge] = map[string]bool{}
		}
		w.links[edge][r.ID] = true
	case *transcript.Problem:
		w.problems++
	}
	return own
}

// all returns the context's counted events by id.
func (c *context) all() map[string]*transcript.Event {
	all := map[string]*transcript.Event{}
	for i, conversation := range c.family.Conversations {
		if conversation.Verdict == "" {
			maps.Copy(all, c.events[i])
		}
	}
	return all
}

func (c *context) count() (n counts) {
	for _, e := range c.all() {
		n.Events++
		switch e.Type {
		case "message":
			n.Messages++
		case "tool_call":
			n.ToolCalls++
		case "tool_result":
			n.ToolResults++
		case "context_created", "compaction", "archival":
			n.Anchors++
		default:
			n.Other++
		}
	}
	for i, conversation := range c.family.Conversations {
		if conversation.Verdict == transcript.DerivedTotal && conversationRole(conversation) == roleWindow {
			n.Window += len(c.events[i])
		}
	}
	for _, u := range c.family.Usage {
		n.APICalls++
		n.TokensIn += u.Input.N
		n.TokensOut += u.Output.N
	}
	n.InboxPending = c.pending
	return n
}

const sample = "../../../../testdata/runs/chibi"

// TestModels checks that each request of the sample got the model of requests.jsonl.
func TestModels(t *testing.T) {
	for key, c := range read(t, sample).contexts {
		for _, u := range c.family.Usage {
			if u.Model != "anthropic/claude-sonnet-4" {
				t.Errorf("%s at %d: model %q", key, u.Origin.Line, u.Model)
			}
		}
	}
}
