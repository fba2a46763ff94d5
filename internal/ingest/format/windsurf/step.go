package windsurf

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of one transcript.
type parser struct {
	format.Rows
	title, project string
	calls          int
}

// emitConversation yields what is known about the conversation so far, for its run, too.
func (p *parser) emitConversation() {
	p.Emit(&transcript.Run{ID: p.Session, Title: p.title, Project: p.project})
	p.Emit(&transcript.Conversation{ID: p.Session, Run: p.Session, Title: p.title, Project: p.project})
}

// tools are the types of steps that are known to be actions of the agent. Each holds the call and what came of it.
var tools = map[string]bool{
	"code_action": true, "view_file": true, "run_command": true, "find": true, "grep_search": true, "list_directory": true, "list_resources": true,
}

// step yields the events of a line. What a step holds is in a member that is called like its type.
func (p *parser) step(v jsontext.Value) {
	if !p.Begun {
		p.Begun = true
		p.emitConversation()
	}
	typ := v.Get("type").Word()
	held := v.Get(typ)
	switch {
	case !held.IsObject():
		p.uncounted(transcript.KindUnknown, typ)
	case typ == "user_input":
		p.prompt(held)
	case typ == "planner_response":
		p.message("assistant", typ, held, held.Get("response"))
	case tools[typ]:
		p.action(typ, held, v.Get("status"))
	default:
		p.uncounted(transcript.KindUnknown, typ)
	}
}

// emit yields an event of the conversation.
func (p *parser) emit(e *transcript.Event) {
	e.Conversation = p.Session
	p.Emit(e)
}

// uncounted yields a row that does not count for the line.
func (p *parser) uncounted(kind transcript.Kind, typ string) {
	e := p.Event(kind, "", typ, p.Row.Value)
	e.Verdict = transcript.Uncounted
	p.emit(e)
}

// prompt yields what the user said, and titles the conversation after the first prompt.
func (p *parser) prompt(held jsontext.Value) {
	text := held.Get("user_response")
	if p.title == "" {
		p.title = strings.Clone(format.Title(text.Str()))
	}
	p.message("user", "user_input", held, text)
}

// message yields what was said, if anything was. The rules that the program added to a prompt are an attribute.
func (p *parser) message(role, typ string, held, text jsontext.Value) {
	if text.IsBlank() {
		p.uncounted(transcript.KindNotice, typ)
		return
	}
	e := p.Event(transcript.KindMessage, role, typ, held)
	if rules := held.Get("rules_applied"); rules.Exists() {
		e.Attributes.Set("rules", strings.ReplaceAll(jsontext.AllStrings(rules), "\n", ", "))
	}
	p.emit(e)
}

// action yields a call and, if it has ended, its result. Calls have no ids.
func (p *parser) action(typ string, held, status jsontext.Value) {
	p.calls++
	id := "#" + strconv.Itoa(p.calls)
	output := held.First("output", "content")
	e := p.Event(transcript.KindToolCall, "assistant", typ, held)
	e.Parts[0].Call = &transcript.Call{ID: id, Name: typ, Input: int64(held.Len() - output.Len()), Paths: paths(held)}
	p.emit(e)
	if p.project == "" {
		p.project = strings.Clone(held.Get("cwd").Str())
	}
	p.result(id, typ, held, output, status)
}

// result yields what came of an action. One that prints nothing has ended if its status says so.
func (p *parser) result(id, typ string, held, output, status jsontext.Value) {
	failed := status.Is("error")
	ended := failed || status.Is("done")
	shown := output
	if ended {
		shown = cmp.Or(output, held.First("total_results", "exit_code"), status)
	}
	if !shown.Exists() {
		return
	}
	e := p.Event(transcript.KindToolResult, "tool", typ, shown)
	res := &transcript.Result{Call: id, Name: typ, Status: status.Word(), Output: int64(output.Len())}
	if code, ok := held.Get("exit_code").Int(); ok && ended {
		res.Failed = transcript.True(code != 0)
		e.Attributes.Set("exit_code", code)
	}
	rejected := held.Get("user_rejected").Bool() == transcript.Yes
	if rejected {
		e.Attributes.Set("user_rejected", true)
	}
	if failed || rejected {
		res.Failed = transcript.Yes
	}
	e.Attributes.Set("acknowledgement_type", held.Get("acknowledgement_type").Str())
	e.Parts[0].Result = res
	p.emit(e)
}

// pathNames are the members of an action that name files and directories.
var pathNames = []string{"path", "search_path", "search_directory"}

// paths returns the files that an action names, most of them as a URI.
func paths(held jsontext.Value) []string {
	all := format.Paths(held, pathNames, nil)
	for i, file := range all {
		all[i] = cmp.Or(format.FileURI(file), file)
	}
	return all
}
