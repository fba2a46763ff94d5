package devflow

import (
	"bytes"
	"cmp"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// Detect knows devflow's files by their place below .devflow, and below any other base by place and content.
func (Format) Detect(h format.Head) format.Claim {
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
		found && tornOff(role, h) && workflowID.MatchString(at.dir):
		return format.Claim{Strength: format.Weak, Role: role, Root: at.root}
	case at.sure:
		return format.Claim{Strength: format.Weak, Role: format.Other, Root: at.root}
	}
	return format.Claim{}
}

// workflowID is what devflow's workflows call a run. Callers of its store may choose any other name.
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

// place is where a file lies: <base>/runs/<dir>/<file>, <base>/runs/<dir>/artifacts/<below>, or, with neither,
// <base>/archive/*/*.tar.gz.
type place struct {
	// root is the base where that is a .devflow. Any other directory may be a whole project that happens to have
	// runs in it: then only <base>/runs or <base>/archive is devflow's.
	root  string
	sure  bool // the path has a .devflow
	dir   string
	file  string
	below []string
	alone string // the run of an archive of which no directory above tells
}

// month is what devflow calls the directories in archive/.
var month = lazyregexp.New(`^\d{4}-\d\d$`)

// locate finds a file's place. root and sure are set where the path has a .devflow, even if the rest says nothing. below is the path in a
// source.
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
	return within(strings.Split(below, "/"))
}

// within finds the place of a file where the source is runs/, archive/ or a month in it.
func within(names []string) (at place, found bool) {
	last := len(names) - 1
	run, packed := strings.CutSuffix(names[last], ".tar.gz")
	switch {
	case last > 1 && names[1] == "artifacts" && workflowID.MatchString(names[0]):
		return place{dir: names[0], file: names[1], below: names[2:]}, true
	case packed && workflowID.MatchString(run) && (last == 0 || last == 1 && month.MatchString(names[0])):
		return place{alone: run}, true
	}
	return place{}, false
}

// hasKeys reports whether the first bytes hold the keys of a role. What a run was given comes before most of
// them and may be long, so the ones after it are asked for only where they must be in sight.
func hasKeys(role string, h format.Head) bool {
	b, whole := h.Bytes, int64(len(h.Bytes)) == h.Size && !tornOff(role, h)
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

// tornOff reports whether all of a document is in sight and none it is: what the program writes last is missing.
func tornOff(role string, h format.Head) bool {
	if int64(len(h.Bytes)) < h.Size || role == roleTranscriptGz {
		return false
	}
	_, err := format.ParseJSON(format.TrimBOM(h.Bytes))
	return err != nil
}

// isTorn reports whether a document shows nothing of another program: it is empty, or no JSON or gzip from its
// first byte on.
func isTorn(role string, h format.Head) bool {
	b := bytes.TrimSpace(h.Bytes)
	if role == roleTranscriptGz {
		return len(inflate(b)) == 0
	}
	return len(b) == 0 || b[0] != '{' && b[0] != '['
}

// inflate gives what the first bytes of a .gz hold.
func inflate(b []byte) []byte {
	out, _ := io.ReadAll(io.LimitReader(format.Gunzip(bytes.NewReader(b)), format.HeadSize))
	return out
}

// claimArtifact claims text as artifact and keeps the rest. Below a base of any name the run's must be one that
// only a workflow gives.
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

// claimArchive claims an archive by its place, or by a run among the members in sight: a transcript alone is one where the
// archive is named as the run.
func (p place) claimArchive(h format.Head) format.Claim {
	c := format.Claim{Strength: format.Certain, Role: roleArchive, Root: p.root}
	if p.sure {
		return c
	}
	for file, err := range format.TarFiles(format.Gunzip(bytes.NewReader(h.Bytes))) {
		if err != nil {
			break
		}
		m := memberOf(file.Name)
		own := m.dir+".tar.gz" == path.Base(h.Path) && (m.role == roleTranscript || m.role == roleTranscriptGz)
		if m.dir != "" && (m.role == roleMetadata || own) && (p.alone == "" || p.alone == m.dir) {
			c.Strength = format.Likely
			return c
		}
	}
	return format.Claim{}
}
