// Package amp reads the threads of Amp (Sourcegraph): threads/T-<uuid>.json, one JSON document for each thread, which the
// program replaces as a whole whenever something is said. Programs of January 2026 (with a ledger) and of March 2026 (without
// one) were looked at on 2026-11-23, as published on npm (@sourcegraph/amp); the producer documents nothing. Since spring 2026
// new threads are kept on its server alone. Layout and counting: docs/formats/amp.md.
//
// What it promises: a run and a conversation are a thread, known by its id; a message is known by its thread and number, also
// where a fork has copied it. What an edit took out of a thread was paid and stays.
//
// Where readers of these files disagree: with a ledger, one takes cache tokens from a message for every entry that names it.
// Entries of tools name the message that called them, so they would count twice: the entry of the answer alone has them here. A
// thread that went on after the ledger was given up has entries for its first answers only; the others count by what they say.
// Models that are not Anthropic's have their whole uncached prompt under the name of cache creation.
package amp

import (
	"bytes"
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return amp{} }

type amp struct{}

var _ format.Placed = amp{}

// Name returns "amp".
func (amp) Name() string { return "amp" }

// Version counts changes of what Parse yields.
func (amp) Version() int { return 4 }

const roleThread = "thread"

var (
	threadID = lazyregexp.New(`^T-[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	fileName = lazyregexp.New(`^T-[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\.json$`)
)

// Detect knows a thread by its name in its place, which may be the source itself, and one that lies elsewhere by its id. Its
// directory is no root: secrets.json lies beside it.
func (amp) Detect(h format.Head) format.Claim {
	if path.Ext(h.Path) != ".json" {
		return format.Claim{}
	}
	named := fileName.MatchString(path.Base(h.Path))
	head := format.TrimBOM(h.Bytes)
	switch {
	case len(head) > 0 && !format.BeginsObject(head), !named && !bytes.Contains(head, []byte(`"T-`)):
		return format.Claim{}
	case named && (path.Dir(h.Path) == h.Top() || strings.HasPrefix(path.Base(path.Dir(h.Path)), "threads")):
		return format.Claim{Strength: format.Certain, Role: roleThread}
	}
	v := format.ParseStart(head)
	messages := v.Get("messages")
	if !threadID.MatchString(v.Get("id").Str()) || v.Get("created").Type() != '0' || messages.Exists() && !messages.IsArray() {
		return format.Claim{}
	}
	return format.Claim{Strength: format.Likely, Role: roleThread}
}

// Places says where the program keeps threads: on every system below the home directory. AMP_DATA_DIR is what readers of
// these files have for it.
func (amp) Places() []format.Place {
	const deletes = "a thread that is deleted in it"
	return []format.Place{
		{Name: "amp", Path: "~/.local/share/amp/threads", Deletes: deletes},
		{Name: "amp", Path: "$XDG_DATA_HOME/amp/threads", Deletes: deletes},
		{Name: "amp", Path: "$AMP_DATA_DIR/threads", List: true, Deletes: deletes},
	}
}

// Parse yields the records of one file.
func (amp) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in}
		if p.read() {
			p.thread()
		}
	}
}

// Text gives the text of one part of an event.
func (amp) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a thread", raw, func(v format.Value) string { return string(appendPiece(nil, v)) })
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	in    format.Input
	lend  format.Lender
	parts []transcript.Part

	start    int64 // of the document in the file
	doc      format.Value
	id       string // of the thread
	sub      bool   // a subagent's
	messages []message
	calls    map[string]string // names of calls, by id
	ledger   ledger
}

func (p *parser) problem(kind, reason string, at transcript.Origin) {
	p.Emit(&transcript.Problem{Run: p.id, Kind: kind, Reason: reason, Origin: at})
}

func (p *parser) origin(v format.Value) transcript.Origin {
	return transcript.Origin{Offset: p.start + v.Offset(), Length: int64(v.Len())}
}

// read reads the file, and reports whether it is a thread.
func (p *parser) read() bool {
	if name := path.Base(p.in.Path); fileName.MatchString(name) {
		p.id = name[:len(name)-len(".json")]
	}
	doc, at := p.Document(p.in.Reader, func(pr *transcript.Problem) { p.problem(pr.Kind, pr.Reason, pr.Origin) })
	if !doc.Exists() {
		return false
	}
	p.doc, p.start = doc, at.Offset-doc.Offset()
	if id := p.doc.Get("id").Str(); threadID.MatchString(id) {
		p.id = id
	}
	if messages := p.doc.Get("messages"); p.id == "" || !p.doc.IsObject() || !messages.IsArray() && !messages.IsNull() {
		p.problem("not a thread", "no id, or messages that are no list", transcript.Origin{Length: p.in.Size})
		return false
	}
	return true
}
