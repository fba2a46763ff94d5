package formattest_test

import (
	"iter"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Pad is the format "pad": docs/adding-a-format.md walks through it.
type Pad struct{}

var _ format.Format = Pad{}

const roleChat = "chat"

// Name is "pad".
func (Pad) Name() string { return "pad" }

// Version is the version of Parse.
func (Pad) Version() int { return 1 }

// Detect knows chats by their place: .pad/chats/<id>.jsonl.
func (Pad) Detect(h format.Head) format.Claim {
	dir := path.Dir(h.Path)
	if path.Ext(h.Path) != ".jsonl" || !strings.HasSuffix("/"+dir, "/.pad/chats") {
		return format.Claim{}
	}
	return format.Claim{Strength: format.Certain, Role: roleChat, Root: path.Dir(dir), Log: true}
}

// Parse yields the run, its one conversation, and an event for each line.
func (Pad) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		out := format.Sink{Yield: yield}
		id := strings.TrimSuffix(path.Base(in.Path), ".jsonl")
		out.Emit(&transcript.Run{ID: id})
		out.Emit(&transcript.Conversation{Run: id})
		problem := func(p *transcript.Problem) { out.Problem(id, p) }
		for line := range out.Each(jsontext.Objects(in.Reader, "", problem)) {
			out.Emit(event(id, line))
			if u := usage(id, line); u != nil {
				out.Emit(u)
			}
		}
	}
}

func event(run string, line jsontext.Object) *transcript.Event {
	v := line.Value
	e := &transcript.Event{
		Run: run, ID: v.Get("id").Str(), Kind: transcript.KindUnknown, Role: v.Get("role").Str(),
		Time: v.Get("at").Time(), Origin: line.Origin, Model: v.Get("model").Str(),
		Parts: []transcript.Part{{Text: text(v)}},
	}
	if e.Role == "user" || e.Role == "assistant" {
		e.Kind = transcript.KindMessage
	}
	return e
}

// usage is what a line says of tokens, nil when it says nothing.
func usage(run string, line jsontext.Object) *transcript.Usage {
	v := line.Value
	if v.Get("tokens").IsNull() {
		return nil
	}
	return &transcript.Usage{
		Run: run, Key: run + "/" + v.Get("id").Str(), Time: v.Get("at").Time(), Origin: line.Origin,
		Model: v.Get("model").Str(), Input: v.Get("tokens", "in").Count(), Output: v.Get("tokens", "out").Count(),
	}
}

// Text gives the text of an event from its line.
func (Pad) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a chat line", raw, text)
}

// text is what search finds in a line: every string but id, role, time and model.
func text(v jsontext.Value) string {
	var b []byte
	for key, value := range v.Fields() {
		switch key {
		case "id", "role", "at", "model":
		default:
			b = jsontext.AppendStrings(b, value)
		}
	}
	return string(b)
}

func TestPad(t *testing.T)      { formattest.Golden(t, Pad{}) }
func TestPadGrows(t *testing.T) { formattest.Growth(t, Pad{}) }
func FuzzChat(f *testing.F)     { formattest.Fuzz(f, Pad{}, roleChat, "notes/.pad/chats/fuzz.jsonl") }

// TestPadInTheGuide holds the pieces of code in the guide to this file.
func TestPadInTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../../docs/adding-a-format.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	pieces := strings.Split(string(guide), "```go\n")[1:]
	if len(pieces) < 3 {
		t.Errorf("only %d pieces of code in the guide", len(pieces))
	}
	for i, piece := range pieces {
		piece, _, _ = strings.Cut(piece, "```")
		if !strings.Contains(string(code), piece) {
			t.Errorf("piece %d is not in example_test.go:\n%s", i+1, piece)
		}
	}
}
