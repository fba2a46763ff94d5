package codex

import (
	"cmp"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// item holds the members of a model-visible item besides its text.
type item struct {
	typ, role                string
	name, callID, id, status jsontext.Value
	input, output, result    jsontext.Value
	outputJSON, inputJSON    jsontext.Value // JSON value in the output and in the input, if there is one
	content                  jsontext.Value
	kinds                    jsontext.Value // label of each content block of a message, from 2026-08 on
}

// item fills in the row of a model-visible item. The types named here count, unless they are marked Uncounted.
func (p *parser) item(e *transcript.Event, v jsontext.Value) {
	part := &e.Parts[0]
	text, it := p.itemText(v)
	part.Text = text
	if it.typ == "" && it.role != "" {
		it.typ = "message"
	}
	e.Type, e.Role = it.typ, it.role
	e.Verdict = transcript.Counted
	switch it.typ {
	case "message":
		p.message(e, it)
	case "reasoning":
		e.Kind, e.Role = transcript.KindReasoning, "assistant"
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call", "image_generation_call":
		e.Kind, e.Role = transcript.KindToolCall, "assistant"
		part.Call = p.call(e, it)
	case "function_call_output", "custom_tool_call_output", "tool_search_output", "local_shell_call_output":
		e.Kind, e.Role = transcript.KindToolResult, "tool"
		part.Result = p.result(e, it)
	case "ghost_snapshot", "additional_tools", "configuration_update":
		e.Kind, e.Verdict = transcript.KindLifecycle, transcript.Uncounted
	case "agent_message": // a message from another agent
		e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
	case "compaction", "compaction_summary", "context_compaction", "compaction_trigger":
		e.Kind, e.Verdict = transcript.KindCompaction, transcript.Uncounted
	default:
		e.Kind, e.Verdict = transcript.KindUnknown, transcript.Uncounted
	}
	p.answered = p.answered || e.Role == "assistant"
}

// itemText returns what appendItem appends as text that is valid until the next line.
func (p *parser) itemText(v jsontext.Value) (text string, it item) {
	text = p.lend.Text(func(dst []byte) []byte {
		dst, it = appendItem(dst, v)
		return dst
	})
	return text, it
}

// message distinguishes prompts from what the program writes in the user's name.
func (p *parser) message(e *transcript.Event, it item) {
	switch it.role {
	case "assistant":
		e.Kind = transcript.KindMessage
	case "user":
		first, typed := it.first()
		if !typed {
			e.Kind, e.Role = transcript.KindSystem, "system"
			return
		}
		e.Kind, e.Retold = transcript.KindMessage, first
		p.prompts[hash(e.Parts[0].Text)] = true
		p.prompts[hash(first)] = true
		if !p.inherits {
			p.title(first)
		}
	case "developer", "system":
		e.Kind = transcript.KindSystem
	default:
		e.Kind, e.Verdict = transcript.KindUnknown, transcript.Uncounted
	}
}

var seed = maphash.MakeSeed()

// hash values are only comparable within the process.
func hash(s string) uint64 { return maphash.String(seed, s) }

// injections are the prefixes of user messages that no user typed.
var injections = []string{
	"<environment_context", "<user_instructions", "# AGENTS.md instructions", "<permissions", "<turn_aborted",
	"<subagent_notification", "<user_shell_command", "<skill", "<INSTRUCTIONS", "<collaboration_mode", "<app-context",
	"<user_editor", "<recommended_plugins", "<codex_internal_context", "<hook_prompt",
}

func isInjected(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	for _, start := range injections {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// first returns the first text of a user's message, and whether a user typed it. The labels of the content blocks say so,
// or else the prefix does.
func (it item) first() (text string, typed bool) {
	n, labelled := 0, false
	for kind := range it.kinds.Items() {
		if strings.HasPrefix(kind.Str(), "user.") {
			return firstText(it.content, n), true
		}
		if labelled = kind.IsString(); !labelled {
			break
		}
		n++
	}
	text = firstText(it.content, 0)
	return text, !labelled && !isInjected(text)
}

// firstText returns the first text in a message's content, from the n-th block on. It skips images, and the tags that the
// program writes before and after one.
func firstText(content jsontext.Value, n int) string {
	if content.IsString() {
		return content.Str()
	}
	for block := range content.Items() {
		if n--; n >= 0 {
			continue
		}
		text := block.Str()
		if block.IsObject() {
			text = block.Get("text").Str()
		}
		if text != "" && !isImageTag(text) {
			return text
		}
	}
	return ""
}

func isImageTag(text string) bool {
	return text == "</image>" || strings.HasPrefix(text, "<image") && strings.HasSuffix(text, ">") && !strings.Contains(text, "\n")
}

// call returns a tool call. One without a name is named by its type.
func (p *parser) call(e *transcript.Event, it item) *transcript.Call {
	c := &transcript.Call{ID: it.callID.Str(), Name: it.name.Word(), Input: int64(it.input.Len())}
	if c.Name == "" {
		c.Name = strings.TrimSuffix(it.typ, "_call")
	}
	if c.ID == "" {
		c.ID = it.id.Str()
	}
	if c.ID == "" {
		c.ID = "#" + strconv.FormatInt(cmp.Or(int64(e.Origin.Line), e.Origin.Offset), 10)
	}
	p.calls[c.ID] = c.Name
	c.Paths = pathsOf(it.inputJSON, e.Parts[0].Text)
	return c
}

// pathNames are the arguments of tools that name a file.
var pathNames = []string{"path", "file_path", "filepath", "dir_path"}

// pathsOf returns the files that a call names: in a patch, or in arguments by the usual keys.
func pathsOf(arguments jsontext.Value, text string) []string {
	if paths, ok := format.PatchPaths(text); ok {
		return paths
	}
	return format.Paths(arguments, pathNames, nil)
}
