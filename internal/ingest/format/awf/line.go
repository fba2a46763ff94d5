package awf

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// line is one line of a transcript with its members already looked up.
type line struct {
	raw    jsontext.Value
	origin transcript.Origin
	now    transcript.Time

	seq, run, parent, child, name, path, iteration, at, payload jsontext.Value

	kind string // the event's type as written
	body payload
}

// payload is the payload of a line, if that is an object or the bare list of blocks.
type payload struct {
	role, blocks, name, kind, err, fidelity, callID, input, output, child jsontext.Value
}

func readLine(o jsontext.Object) *line {
	l := &line{raw: o.Value, origin: o.Origin}
	for key, value := range o.Value.Fields() {
		switch key {
		case "seq":
			l.seq = value
		case "run_id":
			l.run = value
		case "parent_run_id":
			l.parent = value
		case "child_run_id":
			l.child = value
		case "type":
			l.name = value
		case "path":
			l.path = value
		case "iteration":
			l.iteration = value
		case "timestamp":
			l.at = value
		case "payload":
			l.payload = value
		}
	}
	l.kind = l.name.Text()
	l.now = l.at.Time()
	l.body = readPayload(l.payload)
	if l.child.IsNull() {
		l.child = l.body.child
	}
	return l
}

func readPayload(v jsontext.Value) payload {
	var p payload
	if v.IsArray() {
		p.blocks = v
	}
	for key, value := range v.Fields() {
		switch key {
		case "role":
			p.role = value
		case "blocks":
			if p.blocks = value; !value.IsArray() {
				p.blocks = jsontext.Value{}
			}
		case "name":
			p.name = value
		case "kind":
			p.kind = value
		case "error":
			p.err = value
		case "fidelity":
			p.fidelity = value
		case "call_id":
			p.callID = value
		case "input":
			p.input = value
		case "output":
			p.output = value
		case "child_run_id":
			p.child = value
		}
	}
	return p
}

// isEvent returns isEvent(l.raw) without a second lookup.
func (l *line) isEvent() bool {
	return l.run.Exists() || l.seq.Exists() || l.at.Exists() || l.payload.Exists()
}

// blocks returns the blocks that become parts of the event; the router's calls and results are not split.
func (l *line) blocks() jsontext.Value {
	if isRouterEvent(l.name.Str()) {
		return jsontext.Value{}
	}
	return l.body.blocks
}

// class returns the first word of the type: message, tool, step, run.
func (l *line) class() string {
	class, _, _ := strings.Cut(l.kind, ".")
	return class
}

// stepName returns the step's own name. The path also contains the enclosing loops.
func (l *line) stepName() string {
	if name := l.body.name.Str(); name != "" {
		return name
	}
	p := l.path.Str()
	return p[strings.LastIndexByte(p, '/')+1:]
}
