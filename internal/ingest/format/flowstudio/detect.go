package flowstudio

import (
	"bytes"
	"cmp"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// maxProduct is the largest product, in bytes, whose text is searchable.
const maxProduct = 4 << 20

// Detect claims whole run directories by path, and elsewhere files whose place and content agree.
func (flowStudio) Detect(h format.Head) format.Claim {
	root, besideRuns, ok := locate(h.Path)
	switch {
	case !ok:
		return detectElsewhere(h)
	case besideRuns:
		return format.Claim{Strength: format.Certain, Role: format.Other, Root: root}
	}
	p := placeOf(h.Path, root)
	role := ""
	if !p.excluded && !isLeftover(p.name) {
		role = p.role()
	}
	if role != "" {
		return format.Claim{Strength: format.Certain, Role: role, Root: root, Log: role == roleTimeline}
	}
	claim := format.Claim{Strength: format.Weak, Role: productRole(h), Root: root}
	if p.flow == "" && isLeftover(p.name) {
		claim.Role = roleLeftover
	}
	if p.excluded {
		// Nothing in a quarantined or hidden directory counts, whatever wrote it. Elsewhere, another program's transcript
		// inside a run still belongs to that program, so the claim is weak.
		claim.Strength = format.Certain
	}
	return claim
}

// role returns the role of the program's own files by their place, "" for all others.
func (p place) role() string {
	switch {
	case p.flow == "" && p.dir == "":
		switch p.name {
		case "meta.json":
			return roleMeta
		case "run.json":
			return roleLegacy
		case "run_state.json":
			return roleState
		case "spec.json":
			return roleSpec
		case "events.jsonl":
			return roleTimeline
		}
	case p.dir == "llm" && strings.HasSuffix(p.name, ".jsonl"):
		return roleTranscript
	case p.dir == "receipts" && strings.HasSuffix(p.name, ".json"):
		if strings.HasPrefix(p.name, "prompt_receipt") {
			return rolePrompt
		}
		return roleReceipt
	}
	return ""
}

// isLeftover reports whether a file was left by an interrupted atomic write: <file>.<random>.tmp.
func isLeftover(name string) bool {
	return strings.HasSuffix(name, ".tmp") || strings.Contains(name, ".tmp.")
}

// productRole returns how to read a file that is not one of the program's own: as text, line by line, or not at all.
func productRole(h format.Head) string {
	switch {
	case h.Size == 0 || isLeftover(path.Base(h.Path)) || !isText(h.Bytes):
		return format.Other
	case strings.HasSuffix(h.Path, ".jsonl"):
		return roleLines
	case h.Size > maxProduct:
		return format.Other
	}
	return roleProduct
}

// isText reports whether the first bytes of a file are UTF-8 without NUL. The last character may be cut.
func isText(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for cut := 0; cut < utf8.UTFMax && cut <= len(head); cut++ {
		if utf8.Valid(head[:len(head)-cut]) {
			return true
		}
	}
	return false
}

// detectElsewhere claims files of runs that lie elsewhere (a source that begins at swarm/runs or at a run, a copy): both
// the place in the run and the content must fit.
func detectElsewhere(h format.Head) format.Claim {
	if ext := path.Ext(h.Path); ext != ".json" && ext != ".jsonl" && !strings.Contains(h.Path, "handoff/") {
		return format.Claim{} // no role has such a name
	}
	parts := strings.Split(h.Path, "/")
	for _, depth := range []int{1, 3} {
		if len(parts) < depth {
			continue
		}
		root := cmp.Or(strings.Join(parts[:len(parts)-depth], "/"), ".")
		p := placeOf(h.Path, root)
		if isLeftover(p.name) {
			continue
		}
		role, strength := p.role(), format.Likely
		switch {
		case role == "" && p.dir == "handoff" && format.HasKeys(h.Bytes, "step_id", "flow_key", "run_id"):
			role = roleProduct
		case role == "":
			continue
		case looksLike(role, h.Bytes):
		case role == roleTranscript && namesEngine(p.name) && hidesTime(h):
			strength = format.Weak
		default:
			continue
		}
		if p.excluded {
			role = productRole(h)
		}
		return format.Claim{Strength: strength, Role: role, Root: root, Log: role == roleTimeline}
	}
	return format.Claim{}
}

// looksLike reports whether the first bytes of a file look like its role. It searches for keys as text, so a torn first
// line or a document longer than the head does not matter.
func looksLike(role string, head []byte) bool {
	switch role {
	case roleTranscript:
		return format.HasKeys(head, "timestamp") && (format.HasKeys(head, "role") || format.HasKeys(head, "type"))
	case roleReceipt:
		whole := format.HasKeys(head, "tokens") // a torn receipt ends before its tokens
		return format.HasKeys(head, "step_id", "agent_key") && (whole || format.HasKeys(head, "engine", "flow_key", "run_id"))
	case rolePrompt:
		return format.HasKeys(head, "prompt_hash")
	case roleTimeline:
		return format.HasKeys(head, "run_id", "ts", "kind", "flow_key")
	case roleMeta:
		return format.HasKeys(head, "id", "status", "spec", "flow_keys")
	case roleState:
		return format.HasKeys(head, "run_id", "flow_key", "step_index")
	case roleSpec:
		return format.HasKeys(head, "flow_keys", "backend")
	case roleLegacy:
		return format.HasKeys(head, "run_id", "flow_keys") || format.HasKeys(head, "run_id", "flows")
	}
	return false
}

// hidesTime reports whether the first bytes of a transcript cannot show a timestamp: no line of them can be read, or they end
// within the first that can. In cli mode the timestamp is the last member of a line.
func hidesTime(h format.Head) bool {
	for line, whole := range format.ObjectLines(h.Bytes) {
		if !whole && h.Size > int64(len(h.Bytes)) {
			return format.HasKeys(line, "type")
		}
		if _, err := jsontext.Parse(line); err == nil {
			return false
		}
	}
	return true
}

// namesEngine reports whether a transcript's name ends in one of the program's engines.
func namesEngine(name string) bool {
	return strings.HasSuffix(name, "-claude.jsonl") || strings.HasSuffix(name, "-gemini.jsonl")
}
