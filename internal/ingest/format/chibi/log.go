package chibi

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// logParser reads one file of a context's log.
type logParser struct {
	in  format.Input
	out *emitter

	run          transcript.Run
	conversation transcript.Conversation
	emitted      bool            // the run was yielded as it is now
	anchored     bool            // an entry has stated the anchor
	knownNames   map[string]bool // names of the context in its entries, once the file has its first entry
	last         transcript.Time // latest time so far

	ids       identity
	calls     pairing
	copies    copies
	delivered prompts
}

func parseLog(in format.Input, out *emitter) {
	p := &logParser{in: in, out: out, ids: identity{}, copies: copies{first: map[[12]byte]string{}}, delivered: prompts{}}
	p.run = transcript.Run{Local: true, Rank: 1}
	if in.Role == roleWindow {
		p.run.Rank = 0
	}
	p.conversation = transcript.Conversation{
		Shared: true, Order: order(in),
		Attributes: transcript.Attributes{"role": in.Role},
	}
	p.name(out.run)
	for o := range out.Each(jsontext.Objects(in.Reader, "", out.problem)) {
		e := readEntry(o.Value)
		if out.run == "" {
			p.name(cmp.Or(e.context(), e.to, unnamedContext))
		}
		p.entry(&e, o)
	}
	if p.last.Valid && p.hasLatest() {
		p.run.Ended, p.conversation.Ended = p.last, p.last
		p.emitted = false
	}
	if out.run != "" {
		p.emitRun()
	}
}

// name sets the context, which for a stray log only an entry states.
func (p *logParser) name(context string) {
	p.out.run, p.run.ID, p.conversation.Run = context, context, context
	if context != "" {
		p.emitRun()
	}
}

// emitRun yields the run and the conversation as known so far, if anything is new.
func (p *logParser) emitRun() {
	if p.emitted {
		return
	}
	p.emitted = true
	run, conversation := p.run, p.conversation
	p.out.Emit(&run)
	p.out.Emit(&conversation)
}

// begin records what the first entry says about the context's creation. Not every file holds the beginning: a partition in
// the middle states an anchor that another file's outranks, but no start.
func (p *logParser) begin(e *entry, id string) {
	if p.anchored || !e.time.Valid {
		return
	}
	p.anchored, p.emitted = true, false
	if e.kind == "context_created" && p.in.Role != roleStray {
		p.knownNames = map[string]bool{p.run.ID: true}
	}
	p.run.Anchor, p.run.Anchored = anchor(e.time, id), true // a renamed context keeps its entries
	if p.in.Role != roleTranscript || e.kind == "context_created" {
		p.run.Started, p.conversation.Started = e.time, e.time
		p.run.Attributes = transcript.Attributes{"first_entry": id}
	}
	if p.out.run != "" {
		p.emitRun()
	}
}

// maxKnownNames bounds the number of names that a hostile log can state.
const maxKnownNames = 64

// noteFormerName records the name that the context had when an entry was written, since others may have links to it.
// Prompts that are saved again after a compaction, which have no role, do not have the context's name.
func (p *logParser) noteFormerName(e *entry) {
	if p.knownNames == nil || len(p.knownNames) > maxKnownNames || !e.isAnchor() && (e.kind != "message" || e.role != "user") {
		return
	}
	if name := e.context(); name != "" && !p.knownNames[name] {
		p.knownNames[name] = true
		p.out.Emit(&transcript.Run{ID: name, Local: true, Named: true, Anchor: p.run.Anchor, Anchored: true})
	}
}

// anchor is the identity of a context besides its name; the smallest is the oldest.
func anchor(t transcript.Time, id string) string {
	return fmt.Sprintf("%012d/%s", t.UnixMicro/1e6, id)
}

// hasLatest reports whether the file holds the latest entries.
func (p *logParser) hasLatest() bool {
	switch p.in.Role {
	case roleArchive:
		return false
	case roleTranscript:
		return path.Base(path.Dir(p.in.Path)) != "partitions"
	}
	return true
}

// order returns a sort key for the files of a context: the flat layout's first, then the partitions by time, then the
// active file.
func order(in format.Input) string {
	switch in.Role {
	case roleOldest, roleReadable:
		return "0"
	case roleArchive:
		return "1"
	case roleLog:
		return "2"
	case roleWindow:
		if path.Base(in.Path) == "context.jsonl" {
			return "3"
		}
		return "4" + partitionOrder(in.Path)
	}
	return partitionOrder(in.Path)
}

// partitionOrder sorts partitions by their seconds, and the active file after them.
func partitionOrder(file string) string {
	name := strings.TrimSuffix(path.Base(file), ".jsonl")
	if name == "active" {
		return "~"
	}
	first, last, ok := strings.Cut(name, "-")
	if ok && isDigits(first) && isDigits(last) {
		return fmt.Sprintf("5/%020s-%020s", first, last)
	}
	return "6/" + name
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// entry yields one line of the log and links for the messages of other contexts that it delivers.
func (p *logParser) entry(e *entry, o jsontext.Object) {
	id := p.ids.id(e)
	p.begin(e, id)
	p.noteFormerName(e)
	if e.time.UnixMicro > p.last.UnixMicro {
		p.last = e.time
	}
	part := transcript.Part{Text: e.text}
	a := transcript.Attributes{}
	switch e.kind {
	case "tool_call":
		part.Call = p.calls.call(e, id)
	case "tool_result":
		part.Result = p.calls.result(e)
		if address := cacheAddress(e.content.Str()); address != "" {
			part.Result.Cut = true
			a["cached"] = address
		}
	case "message":
		if e.speaker() == "user" {
			p.calls = pairing{}
		}
	}
	a.Set("from", e.from)
	a.Set("to", e.to)
	a.Set("anchor", e.anchor)
	a.Set("copy_of", p.copies.originalOf(e, id))
	if e.flow {
		a["flow_control"] = true
	}
	p.out.Emit(&transcript.Event{
		Run: p.out.run, ID: id, Kind: e.eventKind(), Role: e.speaker(), Type: e.kind, Time: e.time, Origin: o.Origin,
		Parts: []transcript.Part{part}, Attributes: a,
	})
	p.emitDelivered(e, id, o.Origin)
}

// emitDelivered yields a link for each inbox message that was inserted before a prompt.
func (p *logParser) emitDelivered(e *entry, id string, at transcript.Origin) {
	if e.kind != "message" || e.speaker() != "user" || p.out.run == "" {
		return
	}
	n, prompt := 0, ""
	for sender := range injected(e.content.Str()) {
		if n++; n == 1 {
			prompt = p.delivered.id(e.content.Str(), id)
		}
		p.out.Emit(&transcript.Link{
			Kind: "message",
			From: transcript.RunEnd(sender), To: transcript.RunEnd(p.out.run),
			ID: fmt.Sprintf("%s#%d", prompt, n), Time: e.time, Origin: at,
		})
	}
}
