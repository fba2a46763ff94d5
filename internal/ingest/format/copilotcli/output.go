package copilotcli

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// isOutput reports whether a file has what "copilot -p --output-format json" printed: lines of a session without the session.start that
// begins its transcript. certainly says that some are never in a transcript that lacks its start.
func isOutput(head []byte) (output, certainly bool) {
	if !format.HasKeys(head, "type") {
		return false, false
	}
	for line, whole := range format.ObjectLines(head) {
		if !format.MayHave(line, `"data"`, `"exitCode"`) {
			continue
		}
		v := format.LineStart(line, whole) // prompts and lists of tools may be long
		switch typ := v.Get("type").Str(); {
		case typ == "session.start", typ == "session.resume":
			return false, false
		case isResult(v):
			return true, true
		case !v.Get("data").IsObject():
		case printedOnly[typ]:
			return true, true
		case slices.Contains(sessionTypes, typ):
			output = true
		}
	}
	return output, false
}

// printedOnly are types of lines at the start of an output that a transcript never has.
var printedOnly = map[string]bool{
	"session.mcp_server_status_changed": true, "session.mcp_servers_loaded": true, "session.skills_loaded": true,
	"session.tools_updated": true, "assistant.message_start": true, "assistant.message_delta": true,
}

// isResult reports whether a line is the last of an output, the only one that names the session.
func isResult(v jsontext.Value) bool {
	return v.Get("type").Is("result") && v.Get("sessionId").Str() != "" && v.Get("exitCode").Exists()
}

// result is the place of a result, and the session that it names.
type result struct {
	at      int64
	session string
}

func resultsIn(content []byte) (results []result) {
	at := int64(0)
	for line := range bytes.Lines(content) {
		if format.HasKeys(line, "result", "sessionId", "exitCode") {
			if v, err := jsontext.Parse(bytes.TrimSpace(line)); err == nil && isResult(v) {
				results = append(results, result{at, v.Get("sessionId").Str()})
			}
		}
		at += int64(len(line))
	}
	return results
}

// output yields the records of saved output. A file may have several, each of which ends with a result. The content is read first,
// since the result names the session of all lines before it.
func (p *parser) output() {
	content, err := io.ReadAll(io.LimitReader(p.in.Reader, format.DocumentLimit))
	if err != nil {
		p.Fail(err)
		return
	}
	results, orders, open := resultsIn(content), map[string]string{}, false
	for o := range p.Each(jsontext.Objects(io.MultiReader(bytes.NewReader(content), p.in.Reader), "", p.problem)) {
		l := readLine(o)
		if p.session == "" || !open && l.id != "" && l.data.IsObject() {
			for len(results) > 0 && results[0].at < o.Origin.Offset {
				results = results[1:]
			}
			p.beginOutput(l, results, orders)
			open = true
		}
		switch {
		case isResult(l.value):
			p.parts = 0
			p.ended(l)
			open = false
			continue
		case l.typ == "session.tools_updated" && p.model == "":
			p.setModel(l.data.Get("model").Str())
		case l.typ == "session.auto_mode_resolved":
			p.setModel(l.data.Get("chosenModel").Str())
		}
		p.line(l)
	}
	p.Settle(p.session)
}

// beginOutput begins the lines of one output. Without its result, the first line identifies the run.
func (p *parser) beginOutput(first line, results []result, orders map[string]string) {
	p.reset()
	p.model = ""
	if p.unnamed = len(results) == 0; !p.unnamed {
		p.session = results[0].session
	} else {
		if p.session = first.id; p.session == "" {
			p.session = sessionOf(p.in.Path)
		}
		p.Emit(&transcript.Run{ID: p.session, Guess: true})
	}
	if p.order, p.hasTitle = orders[p.session]; !p.hasTitle {
		p.order = fmt.Sprintf("%016d", first.at.UnixMicro)
		orders[p.session] = p.order
	}
	p.emitSession(transcript.Conversation{}, nil)
	p.Settle(p.session)
}

// ended yields the result of an output.
func (p *parser) ended(l line) {
	e := p.event(l, transcript.KindLifecycle, "")
	if n, ok := l.value.Get("exitCode").Int(); ok && n != 0 {
		e.Kind = transcript.KindError
	}
	if n, ok := l.value.Get("usage", "premiumRequests").Float(); ok {
		e.Attributes = transcript.Attributes{"premium_requests": n}
	}
	e.Parts = []transcript.Part{{Text: pieceText(l.value)}}
	p.Emit(e)
}

// eventID identifies an event of this line. An assistant.message has several.
func (p *parser) eventID(l line) string {
	id := l.id
	if id == "" && l.at.Valid {
		id = fmt.Sprintf("%s %d", l.typ, l.at.UnixMicro)
	}
	if p.parts++; p.parts > 1 && id != "" {
		id = fmt.Sprintf("%s#%d", id, p.parts)
	}
	return id
}

// emitStates yields the totals of a session so far, of which the highest counts: each output of the session has a later one. Those of an
// unknown session do not count, since another file may have them.
func (p *parser) emitStates(l line, models []string, now map[string]modelTotals) {
	for _, model := range models {
		s := now[model]
		u := p.total(l, p.session+stateMark+model, model, s.input+s.output, s)
		if p.unnamed {
			u.Key, u.Verdict = "", transcript.DerivedTotal
		}
		p.Emit(u)
	}
}
