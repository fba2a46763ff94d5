package antigravity

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

const (
	brainDir         = "brain"
	logsDir          = "/.system_generated/logs"
	conversationsDir = "conversations"
	databaseExt      = ".db"
	metaExt          = ".meta"
)

// roles are the names of the files that are read.
var roles = map[string]string{"transcript_full.jsonl": roleFull, "transcript.jsonl": roleShort, "overview.txt": roleOverview}

// location is what a file's path states.
type location struct {
	conversation string
	root         string // the directory of all conversations, "" if the path does not show it
}

// locate reads brain/<conversation>/.system_generated/logs/<file>, conversations/<conversation>.db/<rows>.ndjson and
// conversations/<conversation>.meta. A conversation's directory may have been copied elsewhere.
func locate(file string) (l location) {
	dir, logs := strings.CutSuffix(path.Dir(file), logsDir)
	switch ext := path.Ext(file); {
	case logs && path.Base(dir) != "." && path.Base(dir) != "/":
		l.conversation = path.Base(dir)
		if brain := path.Dir(dir); path.Base(brain) == brainDir && isProgram(path.Dir(brain)) {
			l.root = brain
		}
	case logs:
	case ext == metaExt:
		l.conversation = format.Stem(file)
	case ext == ".ndjson":
		l.conversation = strings.TrimSuffix(path.Base(dir), databaseExt)
	}
	return l
}

// isProgram reports whether a directory is called like one of the programs.
func isProgram(dir string) bool { return strings.HasPrefix(path.Base(dir), "antigravity") }

// Detect claims transcripts by their place and their lines, since nothing else is called like that; databases by their place or their tables;
// and originals taken out of one.
func (antigravity) Detect(h format.Head) format.Claim {
	switch ext := path.Ext(h.Path); {
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h)
	case ext == ".ndjson" && format.FirstTable(h.Bytes) == tableStep:
		return format.Claim{Strength: format.Certain, Role: roleSteps, Log: true}
	case ext == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRequests}
	case ext == metaExt:
		return detectMeta(h)
	}
	role, l := roles[path.Base(h.Path)], locate(h.Path)
	if role == "" || l.conversation == "" {
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Certain, Role: role, Root: l.root, Log: true}
	if known, foreign := inspect(h.Bytes); !known && (foreign || l.root == "" || role == roleOverview) {
		return format.Claim{}
	}
	return claim
}

// isPlaced reports whether a file is in a directory of conversations and called like one.
func isPlaced(file string) bool {
	dir := path.Dir(file)
	return path.Base(dir) == conversationsDir && isProgram(path.Dir(dir)) && format.IsUUID(format.Stem(file))
}

func detectDatabase(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	switch {
	case path.Ext(h.Path) == databaseExt && isPlaced(h.Path):
	case format.ContainsAll(h.Bytes, "CREATE TABLE", "gen_metadata", "trajectory_metadata_blob", "step_payload"):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// detectMeta claims what the server for other editors states of a conversation beside its database.
func detectMeta(h format.Head) format.Claim {
	if !isPlaced(h.Path) {
		return format.Claim{}
	}
	if v, _ := jsontext.ParsePrefix(h.Bytes); !v.Get("cwd").IsString() {
		return format.Claim{}
	}
	return format.Claim{Strength: format.Certain, Role: roleMeta}
}

// inspect reads the objects in the head until one is a step. foreign says that there are whole objects, and none is.
func inspect(head []byte) (known, foreign bool) {
	for line := range format.ObjectLines(head) {
		v, err := jsontext.ParsePrefix(line)
		if v.Get("type").IsString() && (v.Get("step_index").Count().Known || v.Get("source").IsString()) {
			return true, false
		}
		foreign = foreign || err == nil
	}
	return false, foreign
}
