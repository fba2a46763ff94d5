package warp

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Members beside the tool, of a call or a result, and beside the kind of a sub-agent.
var (
	besideTool = map[string]bool{"tool_call_id": true, "context": true, otherFields: true}
	besideKind = map[string]bool{"task_id": true, "payload": true}
)

// call yields a tool call. The tools of MCP servers are called by their own names.
func (m *entry) call(v jsontext.Value) {
	name, input := heldBy(v, besideTool)
	c := &transcript.Call{ID: v.Get("tool_call_id").Str(), Name: name, Paths: paths(name, input)}
	switch name {
	case "call_mcp_tool":
		c.Name = cmp.Or(input.Get("name").Str(), name)
		if args := input.Get("args"); args.Exists() {
			input = args
		}
	case "subagent":
		kind, _ := heldBy(input, besideKind)
		m.agents[input.Get("task_id").Str()] = agent{call: c.ID, kind: kind}
	}
	c.Input = int64(input.Len())
	m.tools[c.ID] = c.Name
	e := m.Event(transcript.KindToolCall, "assistant", name, v)
	e.Parts[0].Call = c
	m.emit(e, "")
}

// pathNames are the members of an input, or of what it lists, that name files.
var pathNames = []string{"file_path", "move_to", "path", "search_dir", "codebase_path", "repo_path", "skill_path"}

// lists are the members of an input that list objects which name files.
var lists = []string{"diffs", "new_files", "deleted_files", "v4a_updates", "comments"}

func paths(tool string, input jsontext.Value) []string {
	all := format.Paths(input, pathNames, nil)
	for _, list := range lists {
		for item := range input.Get(list).Items() {
			all = append(all, format.Paths(item, pathNames, nil)...)
			all = append(all, format.Paths(item.Get("location"), pathNames, nil)...)
		}
	}
	switch tool {
	case "read_files":
		for file := range input.Get("files").Items() {
			all = append(all, format.Paths(file, []string{"name"}, nil)...)
		}
	case "upload_file_artifact":
		all = append(all, format.Paths(input.Get("file"), pathNames, nil)...)
	}
	return all
}

// result yields the result of a tool call.
func (m *entry) result(v jsontext.Value) {
	name, output := heldBy(v, besideTool)
	call := v.Get("tool_call_id").Str()
	r := &transcript.Result{Call: call, Name: cmp.Or(m.tools[call], name), Output: int64(output.Len())}
	code := output.Get("exit_code") // of early versions
	if name == "cancel" {
		r.Name, r.Status = m.tools[call], name
	} else {
		r.Status, r.Failed = ended(output)
		if finished := output.Get("command_finished"); finished.Exists() {
			code = finished.Get("exit_code")
		}
	}
	n, ok := code.Int()
	if r.Status == "command_finished" || r.Status == "" && (code.Exists() || output.Get("output").Exists()) {
		r.Failed = transcript.True(code.Exists() && (!ok || n != 0)) // 0 is left out, and one below 0 is a large number
	}
	e := m.Event(transcript.KindToolResult, "tool", name, v)
	if ok {
		e.Attributes.Set("exit_code", n)
	}
	e.Parts[0].Result = r
	m.emit(e, "")
}

// ended returns the member of a result that says how the call ended, and what that means.
func ended(output jsontext.Value) (status string, failed transcript.Truth) {
	for key := range output.Fields() {
		switch key {
		case "success", "text_files_success", "any_files_success", "accepted", "approved", "user_edited_plan", "launched":
			return key, transcript.No
		case "error", "failure", "rejected", "denied", "permission_denied":
			return key, transcript.Yes
		case "command_finished", "long_running_command_snapshot":
			return key, transcript.Unstated
		}
	}
	return "", transcript.Unstated
}

// web yields a search in the web, or pages that were fetched, as a call with its result. The message is written anew when it ends.
func (m *entry) web(name string, content jsontext.Value) {
	state, v := heldBy(content.Get("status"), nil)
	asked, pages := v.First("query", "urls", "pages"), v.Get("pages")
	if !asked.Exists() {
		asked = content
	}
	if !pages.Exists() {
		pages = content
	}
	e := m.Event(transcript.KindToolCall, "assistant", name, asked)
	e.Parts[0].Call = &transcript.Call{ID: m.id, Name: name}
	m.emit(e, "")
	if state != "success" && state != "error" {
		return
	}
	e = m.Event(transcript.KindToolResult, "tool", name, pages)
	e.Parts[0].Result = &transcript.Result{Call: m.id, Name: name, Status: state, Failed: transcript.True(state == "error")}
	m.emit(e, "/result")
}
