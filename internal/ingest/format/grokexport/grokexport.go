// Package grokexport reads the conversations of the data export of Grok (grok.com and its apps): prod-grok-backend.json, one JSON object.
//
// The producer, xAI, documents nothing. Compared on 2026-12-01: field mappings that were checked against an export of February 2026 (the
// Portable AI Memory project), two readers that go through the steps of an answer, an evaluation of exports that users gave to it, an archiver
// that lists what it leaves out, and the web client's protobuf types for a step. docs/formats/grok-export.md describes layout and counting.
//
// A run and its conversation are a conversation of the producer, identified by its id. A response, which a question is as well, is an event
// identified by its own id; what an answer thought, asked of tools and found are further ones, identified by their place in it. A new export
// repeats everything in an old one: the newest version counts, and what only an older export has remains. Responses form a tree; all branches
// count. The file is read one conversation at a time, since it may be larger than memory.
//
// Where exports differ: reasoning is in thinking_trace, in agent_thinking_traces, in the steps, or in several of these, of which one repeats the
// others. What one has word for word is not read again from another. Calls are marked up in these texts, or are cards of a step, or both, with the same id.
package grokexport

import (
	"io"
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return grokexport{} }

type grokexport struct{}

var _ format.Zipped = grokexport{}

// Name returns "grok-export".
func (grokexport) Name() string { return "grok-export" }

// Version counts changes of what Parse yields.
func (grokexport) Version() int { return 2 }

const roleConversations = "conversations"

// backendName is the name of the file, possibly with the number that a browser appends.
var backendName = lazyregexp.New(`^prod-grok-backend( ?\(\d+\))?\.json$`)

// InZip recognises the file by its name.
func (grokexport) InZip(name string) bool { return backendName.MatchString(name) }

// Detect recognises the file by its name, which no other program uses, or by its first conversation.
func (grokexport) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	switch {
	case !strings.EqualFold(path.Ext(name), ".json"):
	case backendName.MatchString(name):
		return format.Claim{Strength: format.Certain, Role: roleConversations}
	case format.HasKeys(h.Bytes, "conversations", "conversation", "create_time") && isExport(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleConversations}
	}
	return format.Claim{}
}

// isExport reports whether the first conversation in a file is one of Grok: an object beside a list of responses, each in an object. The
// conversation comes first and says who and when.
func isExport(head []byte) bool {
	v, alone := jsontext.FirstElement(head)
	for first := range v.Get("conversations").Items() {
		c, responses := first.Get("conversation"), first.Get("responses")
		return alone && c.Get("id").IsString() && c.Get("create_time").Exists() && c.Get("title").Exists() &&
			(responses.IsArray() || !responses.Exists() && c.Get("modify_time").Exists())
	}
	return false
}

// Parse yields the records of one file.
func (grokexport) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, called: map[string]string{}}
		p.document(in.Reader)
	}
}

// document reads the conversations of a file, one at a time.
func (p *parser) document(r io.Reader) {
	for m, err := range jsontext.Members(r, "conversations", func(problem *transcript.Problem) { p.Emit(problem) }) {
		switch {
		case err != nil:
			p.Fail(err)
		case !m.Item && m.Key == "conversations" && string(m.Bytes) != "null":
			p.Emit(&transcript.Problem{Kind: "not a conversation", Reason: "conversations that are no list", Origin: m.Origin})
		case !m.Item: // projects, tasks and the like
		default:
			if v, problem := m.Value(); problem != nil {
				p.Emit(problem)
			} else {
				p.conversation(v, m.Origin)
			}
		}
		if p.Done() {
			return
		}
	}
}

// Text returns the text of one part of an event.
func (grokexport) Text(_ string, raw []byte, _ int) (string, error) {
	return jsontext.Build(func(b []byte) []byte { return appendRaw(b, raw) }), nil
}

// parser parses one file.
type parser struct {
	format.Sink
	lend  format.Lender
	event transcript.Event // reused
	parts []transcript.Part

	// state of the current conversation
	at    transcript.Origin
	id    string
	tree  format.Tree
	nodes []node
	calls int // without an id

	// state of the current response
	node   *node
	parent string            // what it follows, until an event says so
	called map[string]string // names of tools, by the ids of their calls
	traces []trace           // its whole reasoning, from which no step needs to be read again
	effort int               // bytes of them that may still be searched in vain
}

// trace is the whole reasoning of an answer, or of one of its agents, and how much of it the steps have told again.
type trace struct {
	text jsontext.Value
	read int
}

// node is a response, with the index that it has in the tree.
type node struct {
	key    string
	v      jsontext.Value
	at     transcript.Time
	model  string // of an answer
	human  bool
	hidden bool // it does not lead to the response that was shown last
}
