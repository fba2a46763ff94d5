package droid

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

const settingsEnd = ".settings.json"

// sessionOf returns the session that a file's name states.
func sessionOf(file string) string {
	name := path.Base(file)
	if s, ok := strings.CutSuffix(name, settingsEnd); ok {
		return s
	}
	return strings.TrimSuffix(name, ".jsonl")
}

// store returns the directory above a file that has only sessions, "" if the path does not show it: configuration and keys lie beside it.
func store(file string) string {
	for dir := path.Dir(file); dir != path.Dir(dir); dir = path.Dir(dir) {
		if path.Base(dir) == "sessions" {
			switch path.Base(path.Dir(dir)) {
			case ".factory", ".factory-dev":
				return dir
			}
		}
	}
	return ""
}

// Detect claims sessions and their settings by content, and in the program's own directory by name, and saved output by its lines.
func (droid) Detect(h format.Head) format.Claim {
	claim := detectFile(h)
	if claim.Strength == format.None && isOutput(h.Bytes) {
		return format.Claim{Strength: format.Likely, Role: roleOutput, Log: true}
	}
	return claim
}

// detectFile claims what the program itself has written.
func detectFile(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Certain, Root: store(h.Path)}
	name, session := path.Base(h.Path), sessionOf(h.Path)
	own := claim.Root != "" && format.IsUUID(session)
	switch {
	case claim.Root != "" && strings.HasSuffix(name, settingsEnd+".bak"): // the state before the last
		claim.Skip = true
	case path.Ext(name) == ".jsonl":
		claim.Role, claim.Log = roleSession, true
		if known, foreign := inspect(h.Bytes); !known && (!own || foreign) {
			return format.Claim{}
		}
	case strings.HasSuffix(name, settingsEnd) && (own || format.IsUUID(session) && isSettings(h.Bytes)):
		claim.Role = roleSettings
	default:
		return format.Claim{}
	}
	return claim
}

// isSettings reports whether a document has members that only the settings of a session have.
func isSettings(head []byte) bool {
	return format.HasKeys(head, "assistantActiveTimeMs") || format.HasKeys(head, "tokenUsage", "inputTokens") || format.HasKeys(head, "providerLock")
}

// inspect reads the first object in the head, which is the header of a session in every whole file. foreign says that it is a line of
// something else.
func inspect(head []byte) (known, foreign bool) {
	for line := range format.ObjectLines(head) {
		v, err := jsontext.ParsePrefix(line)
		switch typ := v.Get("type").Str(); {
		case typ == "session_start":
			for _, key := range []string{"cwd", "owner", "title", "version", "hostId"} {
				if v.Get(key).Exists() {
					return v.Get("id").IsString(), false
				}
			}
			return false, false
		case kinds[typ] == "":
			return false, err == nil
		}
		return false, false
	}
	return false, false
}
