package leslie

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Detect recognises Leslie's files by their place below .leslie, or below a directory with the same layout, and a
// transcript anywhere by its first lines.
func (leslie) Detect(h format.Head) format.Claim {
	at, found := locate(h.Path, h.Below())
	switch {
	case found && at.isTranscript():
		return format.Claim{Strength: format.Certain, Role: roleTranscript, Root: at.root}
	case hasHeader(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleTranscript, Root: at.root}
	case found:
		role, strength := at.role(h)
		return format.Claim{Strength: strength, Role: role, Root: at.root, Log: isAppendOnly(role)}
	}
	return detectStray(h)
}

// place is where a file lies in a .leslie directory: its root, and the names below it.
type place struct {
	root string
	rel  []string
}

// locate finds the root of a path: the last .leslie, else the directory above threads/thread-<8 hex> or above logs of known
// names. below is the path in a source, which may itself be a threads or logs directory of another name.
func locate(p, below string) (place, bool) {
	names := strings.Split(p, "/")
	for i := len(names) - 2; i >= 0; i-- {
		if names[i] == ".leslie" {
			return place{strings.Join(names[:i+1], "/"), names[i+1:]}, true
		}
	}
	for i := 0; i+2 < len(names); i++ {
		known := names[i] == "threads" && isID("thread-", names[i+1]) ||
			names[i] == "logs" && (isID("obj-", names[i+1]) || names[i+1] == "workers" && isID("thread-", stem(names[i+2])))
		if known {
			return place{cmp.Or(strings.Join(names[:i], "/"), "."), names[i:]}, true
		}
	}
	top := cmp.Or(strings.TrimSuffix(strings.TrimSuffix(p, below), "/"), ".")
	names = strings.Split(below, "/")
	if len(names) > 1 && isID("thread-", names[0]) {
		return place{top, append([]string{"threads"}, names...)}, true
	}
	if len(names) == 2 && names[0] == "workers" && isID("thread-", stem(names[1])) {
		return place{top, append([]string{"logs"}, names...)}, true
	}
	return place{}, false
}

// isID reports whether name is an id: a prefix and eight hex digits.
func isID(prefix, name string) bool {
	digits, ok := strings.CutPrefix(name, prefix)
	return ok && len(digits) == 8 && strings.Trim(digits, "0123456789abcdef") == ""
}

func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// isTranscript reports whether the place is a .txt in some .meta/transcripts, that of a copied thread included.
func (p place) isTranscript() bool {
	n := len(p.rel)
	return n >= 3 && p.rel[n-3] == ".meta" && p.rel[n-2] == "transcripts" && strings.HasSuffix(p.rel[n-1], ".txt")
}

// isHome reports whether the place is where the transcripts of a thread are written, not where they are copied to.
func (p place) isHome(thread string) bool {
	return p.isTranscript() && len(p.rel) == 5 && p.rel[0] == "threads" && p.rel[1] == thread
}

// role returns the role of a file by its place. Mere text is a weak claim: it may be another format's file.
func (p place) role(h format.Head) (string, format.Strength) {
	name := p.rel[len(p.rel)-1]
	if role := listRole(name); role != "" && len(p.rel) == 1 {
		return role, format.Certain
	}
	switch {
	case slices.Contains(p.rel, ".lock") || strings.Contains(name, ".tmp-") || len(p.rel) < 3:
		return format.Other, format.Weak
	case p.rel[0] == "logs" && p.rel[1] == "workers" && strings.HasSuffix(name, ".ndjson"):
		return roleWorker, format.Certain
	case p.rel[0] == "logs" && p.rel[1] == "sdk" && strings.HasSuffix(name, ".ndjson"):
		return roleSDK, format.Certain
	case p.rel[0] == "logs" && strings.HasSuffix(name, ".log"),
		p.rel[0] == "threads" && name == "injections.log" && p.rel[len(p.rel)-2] == ".meta":
		return roleLog, format.Certain
	case p.rel[0] == "runtime" && len(p.rel) == 3 && name == "events.ndjson":
		return roleRuntime, format.Certain
	case (p.rel[0] == "threads" || p.rel[0] == "runtime") && format.IsText(h.Bytes):
		return roleDocument, format.Weak
	}
	return format.Other, format.Weak
}

func listRole(name string) string {
	switch name {
	case "thread_relations.json":
		return roleRelations
	case "thread_relations.json.bak":
		return roleRelationsBak
	case "objectives.json":
		return roleObjectives
	case "objectives.json.bak":
		return roleObjectivesBak
	}
	return ""
}

// detectStray claims the two lists by name and keys where the path is no evidence.
func detectStray(h format.Head) format.Claim {
	role, key := listRole(path.Base(h.Path)), `"threads"`
	if strings.HasPrefix(role, roleObjectives) {
		key = `"thread_ids"`
	}
	if role == "" || !bytes.Contains(h.Bytes, []byte(key)) {
		return format.Claim{}
	}
	return format.Claim{Strength: format.Likely, Role: role, Root: path.Dir(h.Path), Log: isAppendOnly(role)}
}

// hasHeader reports whether text starts like a transcript: with the thread, and "---" within the first KiB.
func hasHeader(b []byte) bool {
	b = jsontext.TrimBOM(b)
	if !bytes.HasPrefix(b, []byte("Thread ID: ")) {
		return false
	}
	b = b[:min(len(b), 1<<10)]
	return bytes.Contains(b, []byte("\n---\n")) || bytes.Contains(b, []byte("\n---\r\n"))
}

// isAppendOnly reports whether Leslie only appends to the files of a role.
func isAppendOnly(role string) bool {
	return role == roleWorker || role == roleSDK || role == roleLog || role == roleRuntime
}
