package opencode

import (
	"bytes"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// pieceText returns the text of a record, or of a value in one, from its own bytes: of a call the tool, its title and its
// input, since the output has its own event; of a session its title and directory; of everything else all strings
// except ids, models and states; no images, and no file contents before and after a change.
func pieceText(v jsontext.Value) string {
	switch {
	case !v.IsObject():
		return stringsOf(v)
	case v.Get("type").Str() == "tool" && v.Get("state").Exists():
		return callText(v)
	case v.Get("table").Is(tableMessage) && v.Get("type").Is("assistant"):
		failed := stringsOf(v.Get("data", "error")) // the content has events of its own
		if retried := stringsOf(v.Get("data", "retry", "error")); retried != "" {
			return strings.TrimPrefix(failed+"\n"+retried, "\n")
		}
		return failed
	case v.Get("table").Is(tableMessage):
		return recordText(v.Get("data"), true)
	case v.Get("table").Exists() && v.Get("data").Exists():
		return stringsOf(v.Get("data"))
	}
	return stringsOf(v)
}

func callText(v jsontext.Value) string {
	state := v.Get("state")
	dst := jsontext.AppendStrings(jsontext.AppendStrings(nil, v.Get("tool")), v.Get("name"))
	dst = jsontext.AppendScalars(jsontext.AppendScalars(dst, state.Get("input")), state.Get("raw"))
	if title := state.Get("title"); !bytes.Contains(dst, []byte(title.Str())) {
		dst = jsontext.AppendStrings(dst, title)
	}
	return string(dst)
}

// maxTextDepth bounds how deep skippedKeys are looked at; below it every string counts as text.
const maxTextDepth = 32

// skippedKeys are members of records that hold no text to search.
var skippedKeys = map[string]bool{
	"id": true, "sessionID": true, "messageID": true, "parentID": true, "projectID": true, "type": true, "role": true, "modelID": true,
	"providerID": true, "callID": true, "hash": true, "snapshot": true, "mime": true, "tokens": true, "time": true, "cost": true,
	"table": true, "parent_id": true, "project_id": true, "workspace_id": true, "version": true, "slug": true, "path": true, "model": true,
	"mode": true, "agent": true, "finish": true, "reason": true, "parts": true, "share_url": true, "share": true, "permission": true,
	"sessionId": true, "status": true, "shellID": true, "native": true, "providerState": true, "providerContext": true,
}

// fileContents are members that hold whole files before and after a change, at any depth.
var fileContents = map[string]bool{"diffs": true, "before": true, "after": true, "summary_diffs": true, "filediff": true}

// isRecord tells records from values that tools write.
func isRecord(v jsontext.Value) bool {
	return v.Get("table").Exists() || v.Get("type").IsString() || v.Get("role").IsString() || v.Get("id").Exists() && v.Get("time").Exists()
}

func stringsOf(v jsontext.Value) string { return recordText(v, isRecord(v)) }

// recordText returns the strings of a value. Those of a record are without skippedKeys.
func recordText(v jsontext.Value, record bool) string {
	return string(jsontext.AppendText(nil, v, func(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
		switch {
		case depth > maxTextDepth:
			return jsontext.AppendStrings(dst, v), true
		case record && depth == 1 && skippedKeys[key], fileContents[key], key == "data" && v.IsBase64():
			return dst, true
		}
		return dst, v.IsDataURL()
	}))
}
