package devflow

import (
	"bytes"
	"cmp"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// Detect recognises devflow's files by their place below .devflow, and below any other base by place and content.
func (devflow) Detect(h format.Head) format.Claim {
	at, found := locate(h.Path, h.Below())
	switch {
	case found && len(at.below) > 0:
		return at.claimArtifact(h)
	case found && at.file == "":
		return at.claimArchive(h)
	}
	name := path.Base(h.Path)
	role := roleOf(name)
	switch {
	case role == "" && at.sure:
		return format.Claim{Strength: format.Weak, Role: format.Other, Root: at.root}
	case role == "":
		return format.Claim{}
	case found && at.sure, found && hasKeys(role, h):
		return format.Claim{Strength: format.Certain, Role: role, Root: at.root}
	case hasKeys(role, h):
		return format.Claim{Strength: format.Likely, Role: role, Root: cmp.Or(at.root, path.Dir(h.Path))}
	case found && isTorn(role, h) && (role != roleMetadata || workflowID.MatchString(at.dir)),
		found && isTruncated(role, h) && workflowID.MatchString(at.dir):
		return format.Claim{Strength: format.Weak, Role: role, Root: at.root}
	case at.sure:
		return format.Claim{Strength: format.Weak, Role: format.Other, Root: at.root}
	}
	return format.Claim{}
}

// workflowID matches the names that devflow's workflows give to runs. Callers of its store may choose any other name.
var workflowID = lazyregexp.New(`^\d{4}-\d\d-\d\d-.`)

func roleOf(name string) string {
	switch name {
	case "transcript.json":
		return roleTranscript
	case "transcript.json.gz":
		return roleTranscriptGz
	case "metadata.json":
		return roleMetadata
	}
	return ""
}

// place is the location of a file: <base>/runs/<dir>/<file>, <base>/runs/<dir>/artifacts/<below>, or, with neither dir nor
// file, <base>/archive/*/*.tar.gz.
type place struct {
	// root is the base if that is a .devflow. Any other directory may be a whole project that happens to contain runs: then
	// only <base>/runs or <base>/archive is devflow's.
	root         string
	sure         bool // the path contains .devflow
	dir          string
	file         string
	below        []string
	runOfArchive string // the run of an archive in a source that is archive/ or a month in it
}

// month matches the directories in archive/.
var month = lazyregexp.New(`^\d{4}-\d\d$`)

// locate finds a file's place. root and sure are set if the path contains .devflow, even if the rest does not match. below
// is the path in a source.
func locate(p, below string) (at place, found bool) {
	names := strings.Split(p, "/")
	start := 0
	if i := slices.Index(names, ".devflow"); i >= 0 && i < len(names)-1 {
		start = i + 1
		at.root, at.sure = strings.Join(names[:start], "/"), true
	}
	for i := start; i+2 < len(names); i++ {
		rest := names[i+2:]
		switch {
		case names[i] == "runs" && len(rest) == 1 && roleOf(rest[0]) != "":
			at.dir, at.file = names[i+1], rest[0]
		case names[i] == "runs" && len(rest) > 1 && rest[0] == "artifacts":
			at.dir, at.file, at.below = names[i+1], rest[0], rest[1:]
		case names[i] == "archive" && len(rest) == 1 && strings.HasSuffix(rest[0], ".tar.gz"):
		default:
			continue
		}
		if !at.sure {
			at.root = strings.Join(names[:i+1], "/")
		}
		return at, true
	}
	if at.sure {
		return at, false
	}
	return locateInSource(strings.Split(below, "/"))
}

// locateInSource finds the place of a file if the source is runs/, archive/ or a month in it.
func locateInSource(names []string) (at place, found bool) {
	last := len(names) - 1
	run, packed := strings.CutSuffix(names[last], ".tar.gz")
	switch {
	case last > 1 && names[1] == "artifacts" && workflowID.MatchString(names[0]):
		return place{dir: names[0], file: names[1], below: names[2:]}, true
	case packed && workflowID.MatchString(run) && (last == 0 || last == 1 && month.MatchString(names[0])):
		return place{runOfArchive: run}, true
	}
	return place{}, false
}

// hasKeys reports whether the first bytes contain the keys of a role. A run's input precedes most keys and may be long, so
// the keys after it are required only if the whole document is in the head.
func hasKeys(role string, h format.Head) bool {
	b, whole := h.Bytes, int64(len(h.Bytes)) == h.Size && !isTruncated(role, h)
	if role == roleTranscriptGz {
		b, whole = inflate(b), false
	}
	has := func(key string) bool { return format.HasKeys(b, key) }
	if !has("runId") && role != roleMetadata {
		return false
	}
	if role == roleMetadata {
		return has("flowId") && (has("startedAt") && has("totalTokensIn") || !whole && has("runId"))
	}
	return has("metadata") && (has("turns") || !whole && has("flowId"))
}

// isTruncated reports whether the head holds the whole file and it is not valid JSON: the end, which the program writes
// last, is missing.
func isTruncated(role string, h format.Head) bool {
	if int64(len(h.Bytes)) < h.Size || role == roleTranscriptGz {
		return false
	}
	_, err := jsontext.Parse(jsontext.TrimBOM(h.Bytes))
	return err != nil
}

// isTorn reports whether nothing in a document points to another program: it is empty, or not JSON or gzip from its first
// byte.
func isTorn(role string, h format.Head) bool {
	b := bytes.TrimSpace(h.Bytes)
	if role == roleTranscriptGz {
		return len(inflate(b)) == 0
	}
	return len(b) == 0 || b[0] != '{' && b[0] != '['
}

// inflate returns the content of the first bytes of a .gz.
func inflate(b []byte) []byte {
	out, _ := io.ReadAll(io.LimitReader(layer.Gunzip(bytes.NewReader(b)), format.HeadSize))
	return out
}

// claimArtifact claims text as an artifact, and other content as Other. Below a base of any name, the run's name must be
// one that only a workflow gives.
func (p place) claimArtifact(h format.Head) format.Claim {
	if !p.sure && !workflowID.MatchString(p.dir) {
		return format.Claim{}
	}
	c := format.Claim{Strength: format.Weak, Role: roleArtifact}
	if p.sure {
		c.Root = p.root
	}
	b := h.Bytes
	if strings.HasSuffix(h.Path, ".gz") && p.below[0] != "files" {
		c.Role, b = roleArtifactGz, inflate(b)
	}
	if !format.IsText(b) {
		c.Role = format.Other
	}
	return c
}

// claimArchive claims an archive by its place, or by a run among the members in the head. A transcript alone is sufficient
// if the archive is named after the run.
func (p place) claimArchive(h format.Head) format.Claim {
	c := format.Claim{Strength: format.Certain, Role: roleArchive, Root: p.root}
	if p.sure {
		return c
	}
	for file, err := range layer.TarFiles(layer.Gunzip(bytes.NewReader(h.Bytes))) {
		if err != nil {
			break
		}
		m := memberOf(file.Name)
		own := m.dir+".tar.gz" == path.Base(h.Path) && (m.role == roleTranscript || m.role == roleTranscriptGz)
		if m.dir != "" && (m.role == roleMetadata || own) && (p.runOfArchive == "" || p.runOfArchive == m.dir) {
			c.Strength = format.Likely
			return c
		}
	}
	return format.Claim{}
}
