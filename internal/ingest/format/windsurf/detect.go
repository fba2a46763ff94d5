package windsurf

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// What the program writes.
const (
	transcriptsDir = ".windsurf/transcripts"
	transcriptExt  = ".jsonl"
)

// Detect claims transcripts by their place, and elsewhere by their steps. There they must still be called by a UUID: the trajectory is in no line, and
// under another name two of them would be taken for one.
func (windsurf) Detect(h format.Head) format.Claim {
	if path.Ext(h.Path) != transcriptExt {
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Certain, Role: roleTranscript, Log: true}
	dir := path.Dir(h.Path)
	switch {
	case strings.HasSuffix("/"+dir, "/"+transcriptsDir):
		claim.Root = dir
	case format.IsUUID(format.Stem(h.Path)) && hasStep(h.Bytes):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// hasStep reports whether one of the first objects in a file is a step: its type names the member that holds it.
func hasStep(head []byte) bool {
	for line, whole := range format.ObjectLines(head) {
		if !format.MayHave(line, `"status"`) {
			continue
		}
		v := format.LineStart(line, whole)
		if v.Get("status").IsString() && v.Get(v.Get("type").Word()).IsObject() {
			return true
		}
	}
	return false
}
