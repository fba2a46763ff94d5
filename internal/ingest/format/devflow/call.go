package devflow

import (
	"bytes"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// appendCall appends the part of a call and, if it has output or an error, the part of its result. The bytes of the call's
// part are its object. Those of the result's are the members "output" and "error" in it, from the first one's key to the
// last one's value, so that Text can distinguish the two by their first byte.
func (t *turnReader) appendCall(parts []transcript.Part, turn, call jsontext.Value) []transcript.Part {
	t.calls++
	id := t.callID(call.Get("id").Str())
	input := call.Get("input")
	at := jsontext.OffsetIn(turn, call)
	parts = append(parts, transcript.Part{
		Kind: transcript.KindToolCall, Role: "assistant", Text: partText(call.Raw(), len(parts)), Offset: at, Length: int64(call.Len()),
		Call: &transcript.Call{ID: id, Name: call.Get("name").Str(), Input: int64(input.Len()), Paths: paths(input)},
	})
	raw, offset := resultBytes(call)
	if raw == nil {
		return parts
	}
	failed := isPresent(call.Get("error"))
	return append(parts, transcript.Part{
		Kind: transcript.KindToolResult, Role: "tool", Text: partText(raw, len(parts)),
		Offset: at + offset, Length: int64(len(raw)),
		Result: &transcript.Result{
			Call: id, Name: call.Get("name").Str(), Failed: transcript.True(failed),
			Output: int64(call.Get("output").Len() + call.Get("error").Len()),
		},
	})
}

// callID returns a call's id if it is unique in the transcript, else a generated one.
func (t *turnReader) callID(native string) string {
	id := native
	for n := t.calls; id == "" || t.ids[id]; n++ {
		id = fmt.Sprintf("#%d", n)
	}
	t.ids[id] = true
	return id
}

// isPresent reports whether output or error of a call says anything: the writer omits empty ones.
func isPresent(v jsontext.Value) bool { return !v.IsNull() && !v.Is("") }

// resultBytes returns the bytes of a call that hold its result, and their offset in it; nil if there is no result.
func resultBytes(call jsontext.Value) (raw []byte, at int64) {
	first, last := int64(-1), int64(-1)
	for _, key := range []string{"output", "error"} {
		v := call.Get(key)
		if !isPresent(v) {
			continue
		}
		at := jsontext.OffsetIn(call, v)
		if start := keyStart(call.Raw()[:at]); first < 0 || start < first {
			first = start
		}
		last = max(last, at+int64(v.Len()))
	}
	if first < 0 {
		return nil, 0
	}
	return call.Raw()[first:last], first
}

// keyStart returns the offset of the opening quote of the key that b ends with, colon included.
func keyStart(b []byte) int64 {
	end := bytes.LastIndexByte(b, '"')
	for start := end - 1; start >= 0; start-- {
		if b[start] != '"' {
			continue
		}
		slashes := 0
		for i := start - 1; i >= 0 && b[i] == '\\'; i-- {
			slashes++
		}
		if slashes%2 == 0 {
			return int64(start)
		}
	}
	return int64(max(end, 0))
}

// paths returns the files that an input names.
func paths(input jsontext.Value) []string {
	var found []string
	add := func(v jsontext.Value) {
		if s := v.Str(); s != "" {
			found = append(found, s)
		}
	}
	for key, v := range input.Fields() {
		switch key {
		case "path", "file_path", "filePath", "filename", "file", "notebook_path", "old_path", "new_path":
			add(v)
		case "paths", "files", "file_paths":
			for item := range v.Items() {
				add(item)
			}
		}
	}
	return found
}
