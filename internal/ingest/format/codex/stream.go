package codex

import (
	"bufio"
	"cmp"
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// A stream is what "codex exec --json" printed, in a file that somebody saved. Each process prints the thread and then its items, which it
// counts from item_0; one that resumes a thread prints only what is new. So all streams of a thread together are one conversation, beside
// that of the rollout, and an event in it is identified by all lines of its process up to the one that first states the item: those are the
// same in a copy, while the file grows, and in files that were joined.

// streamSuffix follows the thread in the id of the conversation of its streams.
const streamSuffix = "_exec"

// process is what a stream's parser knows of the process that printed the current line.
type process struct {
	sum   uint32 // checksum and length of its lines so far
	bytes int64
	items map[string]string // ids of events, by the ids of items
}

// streamed says what of a thread is known from its lines in a file so far.
type streamed struct{ title, order bool }

// threadStarted returns the thread in the first line of a process, "" for any other line. In September 2025 it was called a session.
func threadStarted(line jsontext.Value) string {
	var id string
	switch typ := line.Get("type"); {
	case typ.Is("thread.started"):
		id = line.Get("thread_id").Str()
	case typ.Is("session.created"):
		id = line.Get("session_id").Str()
	}
	if !format.IsUUID(id) {
		return ""
	}
	return id
}

// streamThread returns the first thread that a file's first bytes name, "" if they are not a stream's. A prompt, a banner or what the program
// wrote to standard error may precede it.
func streamThread(head []byte) string {
	if !format.HasKeys(head, "thread.started") && !format.HasKeys(head, "session.created") {
		return ""
	}
	for line := range format.ObjectLines(head) {
		if !format.HasKeys(line, "thread.started") && !(format.HasKeys(line, "session.created") && format.HasKeys(head, "item_type")) {
			continue
		}
		if id := threadStarted(jsontext.ParseStart(line)); id != "" {
			return id
		}
	}
	return ""
}

// stream yields the records of a saved stream.
func (p *parser) stream() {
	r := bufio.NewReaderSize(p.in.Reader, format.HeadSize)
	head, _ := r.Peek(format.HeadSize) // an error comes again
	id := streamThread(head)
	if id == "" {
		id = threadOf(p.in.Path)
	}
	p.streams = map[string]*streamed{}
	p.startProcess(id)
	for o := range p.Each(jsontext.Objects(r, "", p.problem)) {
		p.streamLine(o)
	}
}

func (p *parser) startProcess(thread string) {
	p.process = process{items: map[string]string{}}
	p.thread, p.conversation = thread, thread+streamSuffix
	if p.streams[thread] == nil {
		p.streams[thread] = &streamed{}
		p.describeStream("", unordered, math.MinInt32)
	}
}

// describeStream yields run and conversation. The streams of a thread are ordered by their first totals of tokens, one without a total
// comes last. Their title counts if nothing else gives the thread one, and that of the first stream before the others'.
func (p *parser) describeStream(title, order string, rank int) {
	began := format.TimeOfUUID(p.thread) // no line has a time
	p.Emit(&transcript.Run{ID: p.thread, Rank: rank, Title: title, Started: began})
	p.Emit(&transcript.Conversation{ID: p.conversation, Run: p.thread, Shared: true, Order: order, Title: title, Started: began})
}

const unordered = "~" // behind all digits

func (p *parser) streamLine(o jsontext.Object) {
	if thread := threadStarted(o.Value); thread != "" {
		p.startProcess(thread)
	}
	p.process.sum = crc32.Update(p.process.sum, castagnoli, o.Value.Raw())
	p.process.bytes += int64(o.Value.Len())
	p.lend.Reset()
	e := p.streamEvent(o.Origin, o.Value)
	e.Type = o.Value.Get("type").Word()
	switch e.Type {
	case "thread.started", "session.created", "turn.started":
		e.Kind = transcript.KindLifecycle
	case "turn.completed":
		e.Kind = transcript.KindLifecycle
		p.total(e, o.Value.Get("usage"))
	case "turn.failed", "error":
		e.Kind = transcript.KindError
	case "item.started", "item.updated", "item.completed":
		p.streamItem(e, o)
		return
	}
	p.Emit(e)
}

// streamEvent returns an uncounted event with the text of a line or an item.
func (p *parser) streamEvent(at transcript.Origin, v jsontext.Value) *transcript.Event {
	e := p.lend.Event(transcript.Event{Conversation: p.conversation, Verdict: transcript.Uncounted, Kind: transcript.KindUnknown, Origin: at})
	e.Parts[0].Text = p.lend.Text(func(dst []byte) []byte { return appendStream(dst, v) })
	return e
}

// streamItem yields the events of a line about an item. Of several lines about one the last counts; all that is known of a call is in each,
// and only the last one says what it returned.
func (p *parser) streamItem(e *transcript.Event, o jsontext.Object) {
	item := o.Value.Get("item")
	s := readStep(item)
	ended := e.Type == "item.completed"
	e.Type = cmp.Or(s.typ, e.Type)
	switch {
	case s.typ == "agent_message", s.typ == "assistant_message":
		e.Kind, e.Role = transcript.KindMessage, "assistant"
		p.streamTitle(e)
	case s.typ == "reasoning":
		e.Kind, e.Role = transcript.KindReasoning, "assistant"
	case isTool(s.typ):
		e.Kind, e.Role = transcript.KindToolCall, "assistant"
	case s.typ == "todo_list":
		e.Kind = transcript.KindLifecycle
	case s.typ == "error":
		e.Kind = transcript.KindError
	}
	if e.Role != "" {
		e.Verdict, e.ID = transcript.Counted, p.eventID(s.id)
	}
	if e.Kind != transcript.KindToolCall {
		p.Emit(e)
		return
	}
	call := s.call(e)
	e.Parts[0].Call = call
	p.Emit(e)
	if !ended || s.typ == "web_search" && !s.output.Exists() { // as in a rollout, a search has no result
		return
	}
	r := p.streamEvent(jsontext.OriginIn(o.Origin, o.Value, item), item)
	r.ID, r.Type, r.Verdict, r.Kind, r.Role = e.ID+"/result", s.typ, transcript.Counted, transcript.KindToolResult, "tool"
	r.Parts[0].Result = s.result(call)
	p.Emit(r)
	if s.tool == "spawn_agent" {
		for child := range s.threads.Items() {
			p.linkSpawned(e, child.Str(), false)
		}
	}
}

// streamTitle takes the first answer for a title, since no line has the prompt.
func (p *parser) streamTitle(answer *transcript.Event) {
	known := p.streams[p.thread]
	if known.title {
		return
	}
	if title := format.Title(strings.Clone(answer.Parts[0].Text)); title != "" {
		known.title = true
		p.describeStream(title, "", 0)
	}
}

// isTool reports whether items of a type are calls of a tool.
func isTool(typ string) bool {
	switch typ {
	case "command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call":
		return true
	}
	return false
}

// step holds the members of an item besides its text.
type step struct {
	id, typ, tool, server      string
	status, input, output      jsontext.Value
	exitCode, changes, threads jsontext.Value
}

func readStep(item jsontext.Value) (s step) {
	for key, m := range item.Fields() {
		switch key {
		case "id":
			if s.id == "" { // a web search has the provider's id, too
				s.id = m.Str()
			}
		case "type", "item_type":
			s.typ = m.Word()
		case "tool":
			s.tool = m.Word()
		case "server":
			s.server = m.Word()
		case "status":
			s.status = m
		case "exit_code":
			s.exitCode = m
		case "changes":
			s.changes, s.input = m, m
		case "command", "arguments", "query", "prompt":
			if !m.IsNull() {
				s.input = m
			}
		case "receiver_thread_ids":
			s.threads = m
		default:
			if isOutput(key) && !m.IsNull() {
				s.output = m
			}
		}
	}
	return s
}

// isOutput reports whether a member of an item is what a tool returned.
func isOutput(key string) bool {
	switch key {
	case "aggregated_output", "result", "results", "error", "agents_states":
		return true
	}
	return false
}

// eventID returns the id of the event that an item is.
func (p *parser) eventID(item string) string {
	id := p.process.items[item]
	if id == "" {
		id = fmt.Sprintf("%s#%08x.%d", item, p.process.sum, p.process.bytes)
	}
	if item != "" {
		p.process.items[item] = id
	}
	return id
}

// call returns the tool call of an item. Tools that have a name in the rollout have the same one.
func (s step) call(e *transcript.Event) *transcript.Call {
	c := &transcript.Call{ID: e.ID, Name: s.typ, Input: int64(s.input.Len())}
	switch {
	case s.tool == "":
	case s.typ == "mcp_tool_call":
		c.Name = "mcp__" + s.server + "__" + s.tool
	case s.typ == "collab_tool_call":
		c.Name = s.tool
	}
	c.Paths = pathsOf(s.input, e.Parts[0].Text)
	for change := range s.changes.Items() {
		c.Paths = append(c.Paths, pathsOf(change, "")...)
	}
	return c
}

func (s step) result(call *transcript.Call) *transcript.Result {
	r := &transcript.Result{Call: call.ID, Name: call.Name, Status: s.status.Str(), Output: int64(s.output.Len())}
	switch r.Status {
	case "completed":
		r.Failed = transcript.No
	case "failed", "declined":
		r.Failed = transcript.Yes
	}
	if code, ok := s.exitCode.Int(); ok {
		r.Failed = transcript.True(code != 0)
	}
	readOutcome(r, s.output)
	return r
}

// total yields the tokens that a process reports at the end of a turn. They are those of all turns of the thread so far, those of earlier
// processes included: of all totals of a thread the highest counts.
func (p *parser) total(e *transcript.Event, v jsontext.Value) {
	used, ok := readTokens(v)
	if !ok || used.counts() == [5]int64{} {
		return
	}
	u := p.usage(e, used)
	u.Key, u.Rank, u.Requests, u.Time = p.conversation, used.input+used.output, transcript.Count{}, format.TimeOfUUID(p.thread)
	p.Emit(u)
	if known := p.streams[p.thread]; !known.order {
		known.order = true
		first := max(u.Rank, 0)
		p.describeStream("", fmt.Sprintf("%020d", first), int(max(transcript.RankHistory-1-first, math.MinInt32+1)))
	}
}

// streamText returns the text of a line, or of an item: that is what the tool returned.
func streamText(v jsontext.Value) string { return string(appendStream(nil, v)) }

func appendStream(dst []byte, v jsontext.Value) []byte {
	if isTool(readStep(v).typ) {
		for key, m := range v.Fields() {
			if isOutput(key) {
				dst = appendMember(dst, key, m)
			}
		}
		return dst
	}
	for key, m := range v.Fields() {
		if key != "item" {
			dst = appendMember(dst, key, m)
			continue
		}
		tool := isTool(readStep(m).typ)
		for key, m := range m.Fields() {
			if !tool || !isOutput(key) {
				dst = appendMember(dst, key, m)
			}
		}
	}
	return dst
}

// appendMember appends the text of a member of a line or an item. Ids and words of the format are no text, nor are images; JSON in a string
// that a tool returned is decoded. Of what goes into a tool all is text.
func appendMember(dst []byte, key string, m jsontext.Value) []byte {
	appendText := jsontext.AppendText
	switch {
	case key == "arguments":
		return jsontext.AppendScalars(dst, m)
	case isOutput(key):
		appendText = jsontext.AppendTextAndNumbers
	}
	return appendText(dst, m, func(dst []byte, depth int, name string, v jsontext.Value) ([]byte, bool) {
		if depth == 0 {
			name = key
		}
		switch name {
		case "type", "item_type", "status", "kind", "id", "thread_id", "session_id", "sender_thread_id", "receiver_thread_ids", "mimeType":
			return dst, true
		case "query":
			if key == "action" { // the item has it, too
				return dst, true
			}
		}
		switch {
		case v.IsDataURL(), name == "data" && v.IsBase64():
			return dst, true
		case v.IsString() && isOutput(key):
			dst, _ = appendNested(dst, v)
			return dst, true
		}
		return dst, false
	})
}
