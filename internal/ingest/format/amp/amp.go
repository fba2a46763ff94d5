// Package amp reads the threads of Amp (Sourcegraph): threads/T-<uuid>.json, one JSON document per thread, which Amp
// rewrites as a whole with every change; and what "amp -x --stream-json" has printed.
//
// Producer: threads as the npm package @sourcegraph/amp of January 2026 (with a usage ledger) and of March 2026 (without one) wrote them, checked
// on 2026-11-23: the producer does not document them. Since spring 2026 new threads are kept only on its server. What is printed is documented
// (ampcode.com/manual/appendix, read in November 2026). Layout and counting: docs/formats/amp.md.
//
// Identity: a thread is a run with one conversation, identified by its id. A message is identified by its thread and number, also
// where a fork has copied it. Usage of messages that an edit removed from a thread was paid for and stays.
//
// Where readers of these files disagree: with a ledger, one reader takes the cache tokens of a message for every entry that names it.
// Entries of tools name the message that called them, so these tokens would count twice: here only the entry of the answer has them. A
// thread continued after the ledger was dropped has entries for its first answers only; the other answers count by their own usage.
// For models that are not Anthropic's, Amp reports the whole uncached prompt as cache creation.
package amp

import (
	"bytes"
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return amp{} }

type amp struct{}

var (
	_ format.Placed        = amp{}
	_ format.UsageResolver = amp{}
)

// Name returns "amp".
func (amp) Name() string { return "amp" }

// Version counts changes of what Parse yields.
func (amp) Version() int { return 8 }

const (
	roleThread = "thread"
	roleStream = "stream" // saved output
)

// rankThread is the Run.Rank of a thread, which outranks saved output.
const rankThread = 1

// Amp's own ids are UUIDs after "T-".
var (
	threadID = lazyregexp.New(`^T-[0-9a-zA-Z][0-9a-zA-Z_-]*$`)
	ownID    = lazyregexp.New(`^T-[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// Detect claims threads, and saved output by its lines.
func (amp) Detect(h format.Head) format.Claim {
	claim := detectThread(h)
	if claim.Strength == format.None && isOutput(h.Bytes) {
		return format.Claim{Strength: format.Likely, Role: roleStream, Log: true}
	}
	return claim
}

// detectThread claims a thread by its name in the threads directory, which may be the source itself, and elsewhere by the id in it. The
// directory is no root: secrets.json lies beside it.
func detectThread(h format.Head) format.Claim {
	name, isJSON := strings.CutSuffix(path.Base(h.Path), ".json")
	if !isJSON {
		return format.Claim{}
	}
	named := ownID.MatchString(name)
	inThreads := strings.HasPrefix(path.Base(path.Dir(h.Path)), "threads")
	head := jsontext.TrimBOM(h.Bytes)
	certain := format.Claim{Strength: format.Certain, Role: roleThread}
	switch {
	case named && inThreads:
		return certain
	case len(head) > 0 && !jsontext.BeginsObject(head), !named && !bytes.Contains(head, []byte(`"T-`)):
		return format.Claim{}
	case named && path.Dir(h.Path) == h.Top():
		return certain
	}
	v := jsontext.ParseStart(head)
	id, messages := v.Get("id").Str(), v.Get("messages")
	if !ownID.MatchString(id) && !(inThreads && id == name && threadID.MatchString(id)) || v.Get("created").Type() != '0' || messages.Exists() && !messages.IsArray() {
		return format.Claim{}
	}
	return format.Claim{Strength: format.Likely, Role: roleThread}
}

// Places returns where Amp keeps threads: below the home directory on every system. AMP_DATA_DIR is the variable that other readers of
// these files use.
func (amp) Places() []format.Place {
	const deletes = "a thread that is deleted in it"
	all := []format.Place{
		{Name: "amp", Path: "~/.local/share/amp/threads", Deletes: deletes},
		{Name: "amp", Path: "$XDG_DATA_HOME/amp/threads", Deletes: deletes},
		{Name: "amp", Path: "$AMP_DATA_DIR/threads", List: true, Deletes: deletes},
	}
	for _, home := range format.ConfigHomes {
		for _, editor := range []string{"Code", "Code - Insiders", "Cursor", "Windsurf", "VSCodium"} {
			for _, dir := range []string{"threads3", "threads"} {
				all = append(all, format.Place{Name: "amp", Path: home + "/" + editor + "/User/globalStorage/sourcegraph.amp/" + dir, Deletes: deletes})
			}
		}
	}
	return all
}

// Parse yields the records of one file.
func (amp) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role == roleStream {
			p := &output{Sink: format.Sink{Yield: yield}, in: in, threads: map[string]*printed{}}
			p.read()
			return
		}
		p := &parser{Sink: format.Sink{Yield: yield}, in: in}
		if p.read() {
			p.thread()
		}
	}
}

// Text returns the text of one part of an event.
func (amp) Text(role string, raw []byte, _ int) (string, error) {
	if role == roleStream {
		return format.TextOf("saved output", raw, jsontext.Appended(appendPrinted))
	}
	return format.TextOf("a thread", raw, jsontext.Appended(appendText))
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	in    format.Input
	lend  format.Lender
	parts []transcript.Part

	start      int64 // of the document in the file
	doc        jsontext.Value
	id         string // of the thread
	created    transcript.Time
	isSubagent bool // the thread is a subagent's
	messages   []message
	calls      map[string]string // names of tool calls, by id
	ledger     ledger
}

func (p *parser) problem(kind, reason string, at transcript.Origin) {
	p.Emit(&transcript.Problem{Run: p.id, Kind: kind, Reason: reason, Origin: at})
}

func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return transcript.Origin{Offset: p.start + v.Offset(), Length: int64(v.Len())}
}

// read reads the file, and reports whether it is a thread.
func (p *parser) read() bool {
	if name := strings.TrimSuffix(path.Base(p.in.Path), ".json"); ownID.MatchString(name) {
		p.id = name
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
