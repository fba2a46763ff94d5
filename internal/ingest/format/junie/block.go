package junie

import (
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// toolBlock is the block that may go with another one of the same step, and then only repeats in words what that does.
const toolBlock = "Tool"

// inputs are the members of a block that state what the tool is to do. Other blocks have an input.
var inputs = map[string]string{
	"Terminal": "command", "ViewFiles": "files", "FileChanges": "changes", "TestRun": "name", "CustomAgent": "name", toolBlock: "text",
}

// outputs are the members that state what came of it.
var outputs = []string{"output", "presentableOutput", "result", "resultEx", "details"}

// block yields the call of a tool from the first line of its step, and the result from the line with which it ends. A line that changes them yields
// them again.
func (p *parser) block(v jsontext.Value, id, block string) {
	isNew := p.isNew(id+"/outputs/"+block, append(fields(v, outputs), v.Get("text"))...)
	of := p.blocks[id]
	if id == "" || of != "" && of != block && block == toolBlock {
		p.progress(v, isNew)
		return
	}
	p.blocks[id] = block
	if block == "CustomAgent" {
		p.agent = "" // it is the one that is called
	}
	name, input, status := nameOf(v, block), inputOf(v, block), v.Get("status").Word()
	isCall := p.isNew(id+"/call/"+block, input)
	if isCall {
		p.call(v, id, name, input)
	}
	failed, ends := endings[status]
	switch {
	case ends && (p.isNew(id+"/status/"+block, v.Get("status")) || isNew):
		p.result(v, id, name, status, failed)
	case !isCall:
		p.progress(v, isNew)
	}
}

// progress yields a row for a line that is neither a call nor a result, with the output so far: if the session ends here, there is no other.
func (p *parser) progress(v jsontext.Value, isNew bool) {
	said := v.First("output", "presentableOutput", "details", "text")
	if !isNew || said.IsNull() {
		said = v.Get("kind")
	}
	p.uncounted(v, said)
}

// endings are the statuses with which a step ends, and whether it failed.
var endings = map[string]bool{"COMPLETED": false, "FINISHED": false, "FAILED": true, "CANCELED": true, "CANCELLED": true, "REJECTED": true}

func inputOf(v jsontext.Value, block string) jsontext.Value {
	if key, ok := inputs[block]; ok {
		return v.Get(key)
	}
	return v.Get("input")
}

// nameOf returns what a tool is called, or the block that stands for it.
func nameOf(v jsontext.Value, block string) string {
	if name := v.First("toolName", "toolType").Word(); name != "" {
		return name
	}
	return block
}

func fields(v jsontext.Value, keys []string) (all []jsontext.Value) {
	for _, key := range keys {
		all = append(all, v.Get(key))
	}
	return all
}

func (p *parser) call(v jsontext.Value, id, name string, input jsontext.Value) {
	at := input
	if !input.Exists() {
		at = v.Get("kind")
	}
	e := p.Event(transcript.KindToolCall, "assistant", v.Get("kind").Word(), at)
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: pathsIn(input)}
	p.emit(e, id)
}

// pathsIn returns the files that a call names.
func pathsIn(input jsontext.Value) (paths []string) {
	for item := range input.Items() {
		paths = append(paths, format.Paths(item, pathNames, nil)...)
	}
	return slices.Compact(append(paths, format.Paths(input.Inside(), pathNames, nil)...))
}

var pathNames = []string{"relativePath", "path", "filePath", "file_path", "directoryPath", "beforeRelativePath", "afterRelativePath", "pathInProject"}

// result yields what came of a call, with a part for each text that states it.
func (p *parser) result(v jsontext.Value, id, name, status string, failed bool) {
	res := &transcript.Result{Call: id, Name: name, Status: status, Failed: transcript.True(failed)}
	var parts []transcript.Part
	for n, said := range fields(v, outputs) {
		switch isText := said.IsString(); {
		case said.IsNull(), isText && said.IsBlank():
		case outputs[n] == "presentableOutput" && len(parts) > 0: // the output again
		default:
			parts = append(parts, p.Part(said))
			res.Output += int64(said.Len())
		}
	}
	e := p.Event(transcript.KindToolResult, "tool", v.Get("kind").Word(), v.Get("status"))
	if len(parts) > 0 {
		e.Parts = parts
	}
	e.Parts[0].Result = res
	p.emit(e, id+"/result")
}
