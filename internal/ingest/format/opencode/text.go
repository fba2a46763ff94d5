package opencode

import (
	"bytes"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// pieceText gives the text of a record, or of a piece of one, from its own bytes: of a call the tool, its title and its
// input, since what it gave is a piece of its own; of a session its title and place; of everything else every string
// but ids, models and states; no images, and no contents of files before and after a change.
func pieceText(v format.Value) string {
	switch {
	case !v.IsObject():
		return stringsOf(v)
	case v.Get("type").Str() == "tool" && v.Get("state").Exists():
		return callText(v)
	case v.Get("table").Is(tableMessage) && v.Get("type").Is("assistant"):
		return stringsOf(v.Get("data", "error")) // the rest are pieces of their own
	case v.Get("table").Exists() && v.Get("data").Exists():
		return stringsOf(v.Get("data"))
	}
	return stringsOf(v)
}

func callText(v format.Value) string {
	state := v.Get("state")
	dst := format.AppendStrings(format.AppendStrings(nil, v.Get("tool")), v.Get("name"))
	for _, m := range []format.Value{state.Get("input"), state.Get("raw")} {
		dst = format.AppendStrings(dst, m)
	}
	if title := state.Get("title"); !bytes.Contains(dst, []byte(title.Str())) {
		dst = format.AppendStrings(dst, title)
	}
	return string(dst)
}

// deepest is how far the pieces of a record are told apart; below it every string counts.
const deepest = 32

// silent are the members of records that are no words.
var silent = map[string]bool{
	"id": true, "sessionID": true, "messageID": true, "parentID": true, "projectID": true, "type": true, "role": true, "modelID": true,
	"providerID": true, "callID": true, "hash": true, "snapshot": true, "mime": true, "tokens": true, "time": true, "cost": true,
	"table": true, "parent_id": true, "project_id": true, "workspace_id": true, "version": true, "slug": true, "path": true, "model": true,
	"mode": true, "agent": true, "finish": true, "reason": true, "parts": true, "share_url": true, "share": true, "permission": true,
	"sessionId": true,
}

// copies are the members that hold whole files, as they were before and after a change, at any depth.
var copies = map[string]bool{"diffs": true, "before": true, "after": true, "summary_diffs": true, "filediff": true}

// isRecord tells records from what tools write.
func isRecord(v format.Value) bool {
	return v.Get("table").Exists() || v.Get("type").IsString() || v.Get("role").IsString() || v.Get("id").Exists() && v.Get("time").Exists()
}

func stringsOf(v format.Value) string {
	record := isRecord(v)
	return string(format.AppendText(nil, v, func(dst []byte, depth int, key string, v format.Value) ([]byte, bool) {
		switch {
		case depth > deepest:
			return format.AppendStrings(dst, v), true
		case record && depth == 1 && silent[key], copies[key]:
			return dst, true
		}
		return dst, v.IsDataURL()
	}))
}
