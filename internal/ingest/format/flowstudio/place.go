package flowstudio

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// runID matches ids that are unique by construction. Older runs and curated examples have arbitrary names.
var runID = lazyregexp.New(`^run-[0-9]{8}-[0-9]{6}-[a-z0-9]{6}$`)

// quarantine is where the program's garbage collector moves run directories that it cannot read.
const quarantine = "_corrupt"

// place says where in a run a file lies.
type place struct {
	run      string // native id: the directory's name
	local    bool   // the id is an arbitrary name
	excluded bool   // quarantined or hidden: kept and searchable, but not a run that counts
	flow     string // directory of the flow, "" at the top of the run
	dir      string // directory below the flow: llm, receipts, handoff, ...
	name     string // base name of the file
}

// placeOf returns the place of a file, given its path and the root of its claim, which is a run directory.
func placeOf(file, root string) place {
	p := place{run: path.Base(root), name: path.Base(file)}
	if path.Base(path.Dir(root)) == quarantine {
		p.run, p.excluded = quarantine+"/"+p.run, true
	}
	if root != "." && strings.HasPrefix(path.Base(root), ".") || strings.HasPrefix(p.run, "_") {
		p.excluded = true
	}
	p.local = !runID.MatchString(path.Base(root))
	rel := file
	if root != "." {
		rel = strings.TrimPrefix(file, root+"/")
	}
	if flow, rest, ok := strings.Cut(path.Dir(rel), "/"); flow != "." {
		p.flow = flow
		if ok {
			p.dir = rest
		}
	}
	return p
}

// conversation returns the native id of the transcript with the given base name in this file's flow.
func (p place) conversation(name string) string {
	return p.flow + "/" + strings.TrimSuffix(name, ".jsonl")
}

// locate finds the run directory in a path that only this program uses: below swarm/runs or swarm/examples, or below a
// directory named like a run. besideRuns means that the file lies next to the run directories.
func locate(file string) (root string, besideRuns, ok bool) {
	parts := strings.Split(file, "/")
	for i := 0; i+2 < len(parts); i++ {
		if parts[i] != "swarm" || parts[i+1] != "runs" && parts[i+1] != "examples" {
			continue
		}
		depth := 1
		if parts[i+2] == quarantine {
			depth = 2
		}
		if i+2+depth >= len(parts) {
			return strings.Join(parts[:i+2], "/"), true, true
		}
		return strings.Join(parts[:i+2+depth], "/"), false, true
	}
	for i := range parts[:len(parts)-1] {
		if runID.MatchString(parts[i]) {
			return strings.Join(parts[:i+1], "/"), false, true
		}
	}
	return "", false, false
}
