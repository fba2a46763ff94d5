package flowstudio

import (
	"strconv"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// sdkLimit is the number of characters to which the SDK modes cut outputs and messages.
const sdkLimit = 500

// readCall reads a tool call from a line or a block.
func readCall(o jsontext.Value) *transcript.Call {
	input := o.First("input", "args", "tool_input", "arguments", "parameters")
	return &transcript.Call{
		ID:    o.First("id", "tool_use_id", "tool_call_id", "call_id", "tool_id").Text(),
		Name:  o.First("tool", "name", "tool_name").Text(),
		Input: int64(input.Len()),
		Paths: format.Paths(input, pathNames, pathLists),
	}
}

// The members of an input that name files.
var (
	pathNames = []string{"file_path", "absolute_path", "path", "dir_path", "notebook_path", "filename", "file"}
	pathLists = []string{"paths", "files", "file_paths"}
)

// readResult reads the result of a call from a line or a block.
func readResult(o jsontext.Value) *transcript.Result {
	output := o.First("output", "result", "tool_output", "content", "error")
	r := &transcript.Result{
		Call:     o.First("tool_use_id", "id", "tool_call_id", "call_id", "tool_id").Text(),
		Name:     o.First("tool", "name", "tool_name").Text(),
		Status:   o.Get("status").Str(),
		Duration: millis(o.Get("duration_ms")),
		Output:   int64(output.Len()),
	}
	success, isError := o.Get("success").Bool(), o.Get("is_error").Bool()
	switch {
	case success != transcript.Unstated:
		r.Failed = success.Not()
	case isError != transcript.Unstated:
		r.Failed = isError
	case o.Get("error").Str() != "" || r.Status == "error": // status is that of Gemini's stream
		r.Failed = transcript.Yes
	case r.Status == "success":
		r.Failed = transcript.No
	}
	// The SDK's single-call mode cuts outputs and gives no ids; its session mode omits outputs.
	switch {
	case isSession(o):
		r.Cut = !output.Exists() || isCut(output)
	case r.Call == "" && o.Get("type").Str() == "tool_result":
		r.Cut = isCut(o.Get("output"))
	}
	return r
}

// isSession reports whether the SDK engine's session mode wrote a line.
func isSession(o jsontext.Value) bool { return o.Get("phase").Str() != "" }

// isCut reports whether a string is as long as the SDK modes allow.
func isCut(v jsontext.Value) bool { return v.IsString() && utf8.RuneCountInString(v.Str()) == sdkLimit }

// pairing assigns an id to each call without one, and to each result without an id the call that it answers.
type pairing struct {
	numbered int
	open     []openCall // unanswered calls, oldest first
}

type openCall struct {
	id, name string
	blocked  bool // refused: no result is expected
}

// maxOpen bounds the number of unanswered calls.
const maxOpen = 1024

func (p *pairing) call(c *transcript.Call, blocked bool) {
	if c.ID == "" {
		p.numbered++
		c.ID = "#" + strconv.Itoa(p.numbered)
	}
	if len(p.open) == maxOpen {
		p.open = p.open[1:]
	}
	p.open = append(p.open, openCall{c.ID, c.Name, blocked})
}

func (p *pairing) result(r *transcript.Result) {
	i := p.find(r)
	if i < 0 {
		return
	}
	r.Call = p.open[i].id
	if r.Name == "" {
		r.Name = p.open[i].name
	}
	p.open = append(p.open[:i], p.open[i+1:]...)
}

// find returns the index of the open call that a result answers: the one with its id; without an id the oldest with its
// tool, else the oldest open call. Refused calls come last.
func (p *pairing) find(r *transcript.Result) int {
	if r.Call != "" {
		for i, c := range p.open {
			if c.id == r.Call {
				return i
			}
		}
		return -1
	}
	best, score := -1, -1
	for i, c := range p.open {
		s := 0
		if !c.blocked {
			s += 2
		}
		if r.Name != "" && c.name == r.Name {
			s++
		}
		if s > score {
			best, score = i, s
		}
	}
	return best
}
