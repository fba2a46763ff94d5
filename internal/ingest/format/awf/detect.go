package awf

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Detect recognises AWF's files by content wherever they lie (mirrors of transcripts may be anywhere), and by path where
// the content is empty or broken.
func (awf) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	switch ext := path.Ext(name); {
	case ext == ".tmp": // left by an interrupted atomic replace: kept below the root, not parsed
		return format.Claim{}
	case format.IsSQLite(h.Bytes):
		return detectHistory(h)
	case ext == ".json":
		return detectState(h)
	}
	return detectLines(h)
}

// storageRoot returns the root that a file implies: the parent of its directory, if that directory has the given name.
func storageRoot(file, dir string) (root string, ok bool) {
	parent := path.Dir(file)
	return path.Dir(parent), path.Base(parent) == dir
}

// detectHistory looks for the table execution_records in the first page of the database, which holds the schema.
func detectHistory(h format.Head) format.Claim {
	dir, name := path.Split(h.Path)
	if !bytes.Contains(h.Bytes, []byte("execution_records")) {
		// The schema may still be in the write-ahead log only.
		if name != "history.db" || path.Base(path.Clean(dir)) != "awf" {
			return format.Claim{}
		}
	}
	claim := format.Claim{Strength: format.Likely, Role: roleHistory, Database: true}
	if name == "history.db" {
		claim.Strength, claim.Root = format.Certain, path.Dir(h.Path)
	}
	return claim
}

func detectState(h format.Head) format.Claim {
	root, inStates := storageRoot(h.Path, "states")
	head := jsontext.TrimBOM(h.Bytes)
	v := jsontext.ParseStart(head)
	if v.IsObject() {
		// The head may end in the middle of the object; the members before the cut are still found.
		hasFields := v.Get("WorkflowID").Exists() && (v.Get("States").Exists() || v.Get("WorkflowName").Exists() && v.Get("Status").Exists())
		switch {
		case hasFields && inStates:
			return format.Claim{Strength: format.Certain, Role: roleState, Root: root}
		case hasFields:
			return format.Claim{Strength: format.Likely, Role: roleState}
		}
	}
	// A torn state is recognised by its name, or by the key that the program writes first.
	hasName := format.IsUUID(strings.TrimSuffix(path.Base(h.Path), ".json")) || bytes.Contains(h.Bytes, []byte(`"WorkflowID"`))
	if inStates && hasName && !headParses(h, head) {
		return format.Claim{Strength: format.Likely, Role: roleState}
	}
	return format.Claim{}
}

// headParses reports whether a head is valid JSON as far as it goes.
func headParses(h format.Head, b []byte) bool {
	if int64(len(h.Bytes)) == h.Size {
		_, err := jsontext.Parse(b)
		return err == nil
	}
	for range jsontext.ParseStart(b).Fields() {
		return true
	}
	return false
}

// detectLines looks for the first line in the head that identifies the file. Broken lines are no evidence.
func detectLines(h format.Head) format.Claim {
	root, inTranscripts := storageRoot(h.Path, "transcripts")
	likelyName := inTranscripts && path.Ext(h.Path) == ".jsonl" // then JSON objects that are not AWF's rule the file out
	objects := false
	for line, whole := range format.ObjectLines(h.Bytes) {
		if !likelyName && !format.MayHave(line, "run_id", "execution_id") {
			continue
		}
		v := format.LineStart(line, whole || int64(len(h.Bytes)) == h.Size)
		if !v.Exists() {
			continue
		}
		objects = true
		switch {
		case inTranscripts && isTranscript(v, 4): // one of the five may be missing in a later version
			return format.Claim{Strength: format.Certain, Role: roleTranscript, Root: root, Log: true}
		case isTranscript(v, 5):
			return format.Claim{Strength: format.Likely, Role: roleTranscript, Log: true}
		case isAudit(v):
			return claimAudit(h.Path)
		}
	}
	name := strings.TrimSuffix(path.Base(h.Path), ".jsonl")
	switch {
	case name == "audit" && !objects && bytes.HasPrefix(jsontext.TrimBOM(h.Bytes), []byte(`{"event":"workflow.`)): // its first line is torn
		return claimAudit(h.Path)
	case objects || !likelyName:
		return format.Claim{}
	case format.IsUUID(name):
		return format.Claim{Strength: format.Likely, Role: roleTranscript, Log: true}
	}
	return format.Claim{Strength: format.Weak, Role: roleTranscript, Log: true}
}

// isTranscript reports whether a line has at least that many of the five members that AWF gives every event.
func isTranscript(v jsontext.Value, least int) bool {
	for _, key := range [...]string{"seq", "run_id", "type", "path", "iteration"} {
		if v.Get(key).Exists() {
			least--
		}
	}
	return least <= 0
}

func isAudit(v jsontext.Value) bool {
	return v.Get("execution_id").Exists() && v.Get("schema_version").Exists() && v.Get("event").Exists()
}

// claimAudit claims the directory as a root only if it is AWF's own: $AWF_AUDIT_LOG may name a file among foreign ones.
func claimAudit(file string) format.Claim {
	claim := format.Claim{Strength: format.Likely, Role: roleAudit, Log: true}
	if path.Base(file) == "audit.jsonl" {
		claim.Strength = format.Certain
		if dir := path.Dir(file); path.Base(dir) == "awf" {
			claim.Root = dir
		}
	}
	return claim
}
