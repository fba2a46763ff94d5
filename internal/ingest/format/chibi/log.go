package chibi

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// logParser reads one file of a context's log.
type logParser struct {
	in  format.Input
	out *emitter

	run          transcript.Run
	conversation transcript.Conversation
	told         bool            // the run was yielded
	begun        bool            // an entry stated the anchor
	former       map[string]bool // names under which entries know the context, from its first on
	last         transcript.Time // the latest time so far

	ids    identity
	calls  pairing
	copies copies
}

func parseLog(in format.Input, out *emitter) {
	p := &logParser{in: in, out: out, ids: identity{}, copies: copies{first: map[[12]byte]string{}}}
	p.run = transcript.Run{Local: true, Rank: 1}
	if in.Role == roleWindow {
		p.run.Rank = 0
	}
	p.conversation = transcript.Conversation{
		Shared: true, Order: order(in),
		Attributes: transcript.Attributes{"role": in.Role},
	}
	p.name(out.run)
	for o := range out.Each(format.Objects(in.Reader, "", out.problem)) {
		e := readEntry(o.Value)
		if out.run == "" {
			p.name(cmp.Or(e.context(), e.to, nameless))
		}
		p.entry(&e, o)
	}
	if p.last.Valid && p.endsRun() {
		p.run.Ended, p.conversation.Ended = p.last, p.last
		p.told = false
	}
	if out.run != "" {
		p.tell()
	}
}

// name sets the context, which for a stray log only an entry can tell.
func (p *logParser) name(context string) {
	p.out.run, p.run.ID, p.conversation.Run = context, context, context
	if context != "" {
		p.tell()
	}
}

// tell yields the run and the conversation as known so far, if anything is new.
func (p *logParser) tell() {
	if p.told {
		return
	}
	p.told = true
	run, conversation := p.run, p.conversation
	p.out.Emit(&run)
	p.out.Emit(&conversation)
}

// begin takes from the first entry what it says of the context's creation. Not every file holds the
// beginning: a partition in the middle states an anchor that another file's outranks, but no start.
func (p *logParser) begin(e *entry, id string) {
	if p.begun || !e.time.Valid {
		return
	}
	p.begun, p.told = true, false
	if e.kind == "context_created" && p.in.Role != roleStray {
		p.former = map[string]bool{p.run.ID: true}
	}
	p.run.Anchor, p.run.Anchored = anchor(e.time, id), true // a rename keeps the entries
	if p.in.Role != roleTranscript || e.kind == "context_created" {
		p.run.Started, p.conversation.Started = e.time, e.time
		p.run.Attributes = transcript.Attributes{"first_entry": id}
	}
	if p.out.run != "" {
		p.tell()
	}
}

// maxFormer bounds what a hostile log may say.
const maxFormer = 64

// known takes from an entry what the context was called when it was written: others may have links to that name. In the prompts that are
// saved again after a compaction, which have no role, it is not the context's.
func (p *logParser) known(e *entry) {
	if p.former == nil || len(p.former) > maxFormer || !e.isAnchor() && (e.kind != "message" || e.role != "user") {
		return
	}
	if name := e.context(); name != "" && !p.former[name] {
		p.former[name] = true
		p.out.Emit(&transcript.Run{ID: name, Local: true, Named: true, Anchor: p.run.Anchor, Anchored: true})
	}
}

// anchor is what a context is known by beside its name; smallest is oldest.
func anchor(t transcript.Time, id string) string {
	return fmt.Sprintf("%012d/%s", t.UnixMicro/1e6, id)
}

// endsRun says whether the file holds the latest entries.
func (p *logParser) endsRun() bool {
	switch p.in.Role {
	case roleArchive:
		return false
	case roleTranscript:
		return path.Base(path.Dir(p.in.Path)) != "partitions"
	}
	return true
}

// order sorts the files of a context: the flat layout's before the partitions by time before the active file.
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
		return "4" + inTime(in.Path)
	}
	return inTime(in.Path)
}

// inTime sorts partitions by their seconds, and the active file behind them.
func inTime(file string) string {
	name := strings.TrimSuffix(path.Base(file), ".jsonl")
	if name == "active" {
		return "~"
	}
	first, last, ok := strings.Cut(name, "-")
	if ok && digits(first) && digits(last) {
		return fmt.Sprintf("5/%020s-%020s", first, last)
	}
	return "6/" + name
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// entry yields one line of the log and the messages of other contexts that it delivers.
func (p *logParser) entry(e *entry, o format.Object) {
	id := p.ids.of(e)
	p.begin(e, id)
	p.known(e)
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
		if address := cached(e.content.Str()); address != "" {
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
	a.Set("copy_of", p.copies.of(e, id))
	if e.flow {
		a["flow_control"] = true
	}
	p.out.Emit(&transcript.Event{
		Run: p.out.run, ID: id, Kind: e.eventKind(), Role: e.speaker(), Type: e.kind, Time: e.time, Origin: o.Origin,
		Parts: []transcript.Part{part}, Attributes: a,
	})
	p.delivered(e, id, o.Origin)
}

// delivered yields a link for each inbox message that was put before a prompt.
func (p *logParser) delivered(e *entry, id string, at transcript.Origin) {
	if e.kind != "message" || e.speaker() != "user" || p.out.run == "" {
		return
	}
	n := 0
	for sender := range injected(e.content.Str()) {
		n++
		p.out.Emit(&transcript.Link{
			Kind: "message",
			From: transcript.RunEnd(sender), To: transcript.RunEnd(p.out.run),
			ID: fmt.Sprintf("%s#%d", id, n), Time: e.time, Origin: at,
		})
	}
}
