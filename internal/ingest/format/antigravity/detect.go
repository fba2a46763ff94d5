package antigravity

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

const (
	brainDir = "brain"
	logsDir  = "/.system_generated/logs"
)

// roles are the names of the files that are read.
var roles = map[string]string{"transcript_full.jsonl": roleFull, "transcript.jsonl": roleShort, "overview.txt": roleOverview}

// location is what a file's path states.
type location struct {
	conversation string
	root         string // the directory of all conversations, "" if the path does not show it
}

// locate reads brain/<conversation>/.system_generated/logs/<file>. A conversation's directory may have been copied elsewhere.
func locate(file string) (l location) {
	dir, ok := strings.CutSuffix(path.Dir(file), logsDir)
	if !ok || path.Base(dir) == "." || path.Base(dir) == "/" {
		return l
	}
	l.conversation = path.Base(dir)
	if brain := path.Dir(dir); path.Base(brain) == brainDir && strings.HasPrefix(path.Base(path.Dir(brain)), "antigravity") {
		l.root = brain
	}
	return l
}

// Detect claims transcripts by their place and their lines. Nothing else is called like that.
func (antigravity) Detect(h format.Head) format.Claim {
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
